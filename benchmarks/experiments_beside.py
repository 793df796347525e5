"""Adds to the paper's experiments a comparison of how strongly heads saturate at equal T.

The layers of the proofs serve every labelling of the promised number of examples, with softmax in
base 2; Levenberg-Marquardt fits the labels of the same examples, from small random weights.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from experiments_points import Point, data_of
from heads import SATURATED, heads

from attncert.constructions import paper, width_one
from attncert.constructions.construction import BuiltLayer
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.exact.modular import softmax_float
from attncert.constructions.given.attention import Shape
from attncert.constructions.given.least_squares import descend
from attncert.verify.features import features

SIZES = ((4, 8, 4), (8, 16, 4))  # n, d, H
STARTS = 10  # starts of Levenberg-Marquardt on the examples of the proofs


def equal_examples() -> Iterator[dict[str, Any]]:
    """The share of examples on which each head is saturated, for the two constructions and for the
    fits that reach the labels (each a list over the heads)."""
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
