"""Weights with all outputs 0 and a Jacobian that is onto, found in float64 and proved with balls.

By Theorem 12 of docs/given-labels.md, such weights prove that these heads memorize every labelling
of the data. Labels are scalars, and heads have width one.

    python benchmarks/zeros.py digits --examples 220 --layers 2 --heads 3
    python benchmarks/zeros.py 3x4 --examples 21 --heads 2    random contexts of 3 tokens, d = 4

Levenberg-Marquardt solves f = 0 and |v|² = 1 for the values v of the last layer, whose output
weights stay 1. Many of the zeros found are degenerate: a head is constant, or heads cancel in
pairs. At the other zeros, Newton's map contracts (`verify/newton/contraction.py`), so the Jacobian
is onto at an exact zero. The certificate claims that real weights nearby output 0 on every example;
any checker can verify it.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np

from attncert import Dataset, load
from attncert.constructions.arrays import FloatArray
from attncert.constructions.given.least_squares import minimise, unit
from attncert.verify.certificates.certificate import produced_by
from attncert.verify.depth.law import Architecture, DeepSpans
from attncert.verify.newton.certify import Near, certify, near_certificate
from attncert.verify.newton.descent import random_weights, unscaling
from attncert.verify.newton.models import Model, floats_of

STEPS, WIDER = 400, 2.0  # scales the start: small starts end at degenerate zeros more often
TOLERANCE = 1e-10


def data_of(name: str, T: int, seed: int) -> Dataset:
    """The data with every label 0. Random integers are from -9 to 9."""
    zeros = [0] * T
    if name == "digits":
        some = load(name).take(T)
        return Dataset(some.contexts, some.queries, Dataset.of([[0]], [[0]] * T, zeros).labels)
    n, d = map(int, name.split("x"))
    rng = np.random.default_rng(seed)
    contexts, queries = (rng.integers(-9, 10, shape) for shape in ((T, n, d), (T, d)))
    return Dataset.of(contexts.tolist(), queries.tolist(), zeros)


def search(data: Dataset, shape: Architecture, seed: int) -> FloatArray | None:
    """Weights whose outputs are 0 up to rounding, or None."""
    model = Model(data, shape)
    tokens, queries, times = floats_of(data)
    E = unit(np, np.concatenate([tokens.reshape(-1, data.d), queries]))
    arrays = tokens / E, queries / E, times
    values, outputs = np.zeros(model.parameters), np.zeros(model.parameters)
    model.arrays(values)[-1].value[:] = 1
    model.arrays(outputs)[-1].output[:] = 1
    start = WIDER * random_weights(model, seed)
    start[values == 1] /= np.linalg.norm(start[values == 1])
    start[outputs == 1] = 1

    def errors(x: FloatArray) -> FloatArray:
        found = model.run(x, *arrays).outputs.ravel()
        return np.append(found, x @ (values * x) - 1)

    def slopes(x: FloatArray) -> FloatArray:
        J = model.rows(model.run(x, *arrays)) * (1 - outputs)
        return np.vstack([J, 2 * values * x])

    with np.errstate(all="ignore"):  # numbers beyond float64 end the search
        found = minimise(errors, slopes, start, max_steps=STEPS, patience=STEPS)
    return found.weights * unscaling(model, E, 1) if found.error <= TOLERANCE else None


def proved(name: str, T: int, shape: Architecture, seeds: int) -> tuple[int, Near] | None:
    """The first seed whose data and search give a proved zero, and the proof."""
    for seed in range(seeds):
        data = data_of(name, T, seed)
        weights = search(data, shape, seed)
        near = None if weights is None else certify(data, weights, shape)
        if near is not None and near.holds:
            return seed, near
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", help="digits, or NxD for random contexts of N tokens of width D")
    parser.add_argument("--examples", type=int, required=True)
    parser.add_argument("--layers", type=int, default=1)
    parser.add_argument("--heads", type=int, required=True, help="heads in each layer")
    parser.add_argument("--seeds", type=int, default=20, help="number of starts")
    parser.add_argument("--out", help="file for the certificate")
    asked = parser.parse_args()
    shape = Architecture(asked.layers, asked.heads, 1, 1)
    found = proved(asked.data, asked.examples, shape, asked.seeds)
    if found is None:
        print(f"no zero with a Jacobian that is onto was proved in {asked.seeds} starts")
        return 3
    seed, near = found
    most = DeepSpans.of(near.data).bound(shape)
    print(f"every labelling of {asked.examples} examples: start {seed + 1}, N = {most}")
    if asked.out:
        provenance = produced_by("python benchmarks/zeros.py", seed)
        body = near_certificate(near, construction="zeros", produced_by=provenance)
        Path(asked.out).write_text(json.dumps(body) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
