"""Random small data sets: does any certificate claim what Newton's method in mpmath refutes?

Data sets are plain, badly scaled, nearly contradictory, or degenerate. What is certified are the
weights that a fit found, or the same with noise: then the radius is large.
"""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.given.attention import Shape
from attncert.constructions.given.least_squares import fit
from attncert.verify.audit.attack.given.newton import DIGITS, data_set, distance, number
from attncert.verify.near.certificate import Near, certify, near_certificate

KINDS = ("plain", "scaled", "contradictory", "degenerate")


def drawn(kind: str, draw: random.Random) -> Dataset:
    """Up to four examples of three tokens of width three."""
    sizes = [draw.randint(1, 4), draw.randint(1, 3), draw.randint(1, 3), draw.choice((1, 1, 2))]
    data = data_set(*sizes, shared=draw.random() < 0.3, seed=draw.getrandbits(60))
    contexts, queries, labels = (
        np.array(x.fractions(), dtype=object) for x in (data.contexts, data.queries, data.labels)
    )
    if kind == "scaled":
        contexts = contexts * Fraction(10) ** draw.randint(-3, 3)
        queries = queries * Fraction(10) ** draw.randint(-3, 3)
        labels = labels * Fraction(10) ** draw.randint(-6, 6)
    if kind == "contradictory":  # the last example is nearly the first one, but for its label
        queries[-1] = queries[0] * (1 + Fraction(1, 10 ** draw.randint(1, 6)))
        contexts[-1] = contexts[0]
    if kind == "degenerate":
        contexts[draw.randrange(len(contexts)), -1] = contexts[0, 0]
        queries[draw.randrange(len(queries))] = draw.choice((0, 1))
        labels[draw.randrange(len(labels))] = 0
    return Dataset.of(contexts.tolist(), queries.tolist(), labels.tolist())


def claimed(seed: int) -> tuple[str, Near | None]:
    """What the case is, and what was tried to certify; None where no fit was found."""
    draw = random.Random(seed)
    kind = KINDS[seed % len(KINDS)]
    data, noise = drawn(kind, draw), draw.choice((None, None, 1, 2, 3, 5, 8))
    head_width, value_width = draw.randint(1, 2), draw.randint(1, data.m)
    heads = draw.randint(1, 3)
    shape = Shape(data.d, data.m, heads, head_width, value_width)
    arrays = data.contexts.floats(), data.queries.floats(), data.labels.floats()
    with np.errstate(all="ignore"):
        found = fit(*arrays, shape, seed, max_steps=60)
    name = kind if noise is None else f"{kind}, noise"
    if not found.found:
        return name, None
    weights = np.asarray(found.weights)
    if noise is not None:
        normal = np.random.default_rng(seed).standard_normal(len(weights))
        weights = weights * (1 + 10.0**-noise * normal)
    return name, certify(data, weights, shape)


def refuted(near: Near) -> str:
    """Why the claim is false, by Newton's method to 200 digits; '' where it is confirmed."""
    file: dict[str, Any] = near_certificate(near, construction="fit", produced_by={})
    moved, error = distance(file)
    if not error < number("1/" + "1" + "0" * DIGITS):
        return f"Newton's method ends with an error of {float(error):.1e}"
    if not moved <= number(file["near"]["radius"]):
        return f"weights are {float(moved):.3e} away, not {file['near']['radius']}"
    return ""


def near_case(rng: random.Random) -> dict[str, bool]:
    """One case: whether it was claimed, and what was claimed holds."""
    name, near = claimed(rng.getrandbits(60))
    if near is None or not near.holds:
        return {f"{name}: {'no fit' if near is None else 'no claim'}": True}
    return {f"{name}: claimed": not refuted(near)}
