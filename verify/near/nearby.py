"""Third-party float weights: how near to them are real weights that output the labels exactly?

Gauss-Newton steps of least norm lead from the given weights to ones that fit in float64; these are
certified as in `certify.py`. The distance claimed is that of the steps, exactly, plus the
certified radius. Where the steps do not converge nothing is claimed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from attncert.constructions.arrays import FloatArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.given.attention import Shape, jacobian
from attncert.constructions.layer import Layer, to_float
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.near.certify import Near, brief, certify, claim, rounded_up

MOST_UNKNOWNS = 600  # labels in all, above which an audit does not ask
_STEPS = 20


@dataclass(frozen=True)
class Nearby:
    """near: what was shown of the weights that the steps led to. distance: from the given weights
    to any that output the labels exactly, at most; None where nothing was shown."""

    near: Near
    distance: Fraction | None


def nearby(data: Dataset, layer: Layer) -> Nearby | None:
    """layer: any rational weights, base e, no scale, with a readout. Arithmetic: as `certify`.

    None where a weight is beyond the range of float64.
    """
    weights = np.concatenate([to_float(matrix).ravel() for matrix in layer.matrices])
    if not np.isfinite(weights).all():
        return None
    shape = Shape(data.d, data.m, len(layer.heads), layer.head_width, layer.value_width or 0)
    near = certify(data, _stepped(data, weights, shape), shape)
    if not near.holds:
        return Nearby(near, None)
    distance = Fraction(0)
    for before, after in zip(layer.matrices, near.layer.matrices, strict=True):
        for x in (after - before).entries():
            distance = max(distance, abs(Fraction(int(x.p), int(x.q))))
    return Nearby(near, distance + near.radius)


def nearby_claim(nearby: Nearby) -> Claim:
    """The claim about the given weights: enclosed, or undecided."""
    plain = claim(nearby.near)
    if nearby.distance is None:
        statement = "Weights that output the labels exactly exist near these."
        return replace(plain, id=ids.LAYER_NEAR, statement=statement)
    distance = brief(rounded_up(float(nearby.distance) * (1 + 1e-12)))
    statement = f"Weights that output the labels exactly exist within {distance} of these."
    numbers = {**plain.numbers, "distance": distance}
    return replace(
        plain, id=ids.LAYER_NEAR, statement=statement, level=Level.ENCLOSED, numbers=numbers
    )


def _stepped(data: Dataset, weights: FloatArray, shape: Shape) -> FloatArray:
    """Weights after Newton's steps, as long as these make the error smaller."""
    arrays, labels = (data.contexts.floats(), data.queries.floats()), data.labels.floats()
    best, least = weights, np.inf
    with np.errstate(all="ignore"):
        for _ in range(_STEPS):
            outputs, J = jacobian(*arrays, weights, shape, times=data.times)
            f = (outputs - labels).ravel()
            if not np.isfinite(J).all() or not np.abs(f).max() < least:
                break
            best, least = weights, float(np.abs(f).max())
            change = np.linalg.lstsq(J.reshape(len(f), -1), -f, rcond=None)[0]
            weights = weights + change
    return best
