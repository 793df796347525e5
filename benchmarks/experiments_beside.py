"""Beside the paper's experiments: what Adam reaches, and how far heads saturate at equal T.

Adam trains as `attncert fit --optimizer adam` does, on the same data; then Levenberg-Marquardt goes
on from there, and what it finds is certified. The proofs' layers memorize universally, on as many
examples as they promise, with softmax in base 2; Levenberg-Marquardt fits the labels of the same
examples, from small random weights.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from experiments_points import Point, data_of

from attncert.constructions import paper, width_one
from attncert.constructions.construction import BuiltLayer
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.exact.modular import softmax_float
from attncert.constructions.given.adam import train
from attncert.constructions.given.attention import Shape
from attncert.constructions.given.least_squares import descend
from attncert.verify import features
from attncert.verify.near.certify import certify
from attncert.verify.near.heads import SATURATED, heads

SIZES = ((4, 8, 4), (8, 16, 4))  # n, d, H
SHARES = (25, 50, 75, 95)  # of N, in percent
STARTS = 10  # of Levenberg-Marquardt on the examples of the proofs


def trained(steps: int, done: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Rows that are not yet there: for every T the largest error of Adam, and what follows."""
    known = {(row["contexts"], row["n"], row["d"], row["heads"], row["share"]) for row in done}
    for n, d, H in SIZES[:1]:
        for contexts in ("random", "fixed"):
            point = Point("Adam", contexts, "real", n, d, H)
            for share in SHARES:
                if (contexts, n, d, H, share) not in known:
                    yield {"share": share, **_trained(point, point.law * share // 100, steps)}


def _trained(point: Point, T: int, steps: int) -> dict[str, Any]:
    data, shape = data_of(point, T), point.shape()
    arrays = data.contexts.floats(), data.queries.floats(), data.labels.floats()
    start = time.process_time()
    found = train(*arrays, shape, 0, steps=steps)
    taken, start = time.process_time() - start, time.process_time()
    further = descend(*arrays, shape, found.weights)
    near = certify(data, np.asarray(further.weights), shape) if further.converged else None
    return {
        "contexts": point.contexts,
        "n": point.n,
        "d": point.d,
        "heads": point.heads,
        "T": T,
        "N": point.law,
        "steps": found.steps,
        "processor_seconds": round(taken, 2),
        "error": float(f"{found.error:.2g}"),
        "errors": [[step, float(f"{error:.2g}")] for step, error in found.errors[::10]],
        "saturated": [round(x, 4) for x in heads(*arrays[:2], found.weights, shape).saturated],
        "lm_steps": len(further.steps) - 1,
        "lm_found": further.converged,
        "lm_processor_seconds": round(time.process_time() - start, 2),
        "lm_moved": float(f"{np.abs(further.weights - found.weights).max():.2g}"),
        "certified": near is not None and near.holds,
        "radius": float(near.radius) if near is not None and near.holds else None,
    }


def equal_examples() -> Iterator[dict[str, Any]]:
    """For each head the share of examples on which it is saturated: of the two constructions, and
    of the fits that reach the labels (a list of heads for each)."""
    for n, d, H in SIZES:
        for contexts in ("random", "fixed"):
            point = Point("proof", contexts, "real", n, d, H)
            data = data_of(point, H * (n - 1) + 1)
            names = "contexts", "n", "d", "heads"
            row = {name: getattr(point, name) for name in names} | {"T": data.T}
            yield row | {"weights": "paper", "saturated": [_saturated(
                data, paper.build(data, heads=H, head_width=n))]}  # fmt: skip
            yield row | {"weights": "width one", "saturated": [_saturated(
                data, width_one.build(data, heads=H, short_heads=False))]}  # fmt: skip
            yield row | {"weights": "fitted", "saturated": list(_fitted(data, point.shape()))}


def _saturated(data: Dataset, built: BuiltLayer) -> list[float]:
    tables = [features.logits(head, data) for head in built.layer.heads]
    largest = [softmax_float(table).max(axis=1) for table in tables]
    return [round(float((x > SATURATED).mean()), 4) for x in largest]


def _fitted(data: Dataset, shape: Shape) -> Iterator[list[float]]:
    arrays = data.contexts.floats(), data.queries.floats(), data.labels.floats()
    for seed in range(STARTS):
        found = descend(*arrays, shape, seed)
        if found.converged:
            seen = heads(*arrays[:2], np.asarray(found.weights), shape)
            yield [round(x, 4) for x in seen.saturated]
