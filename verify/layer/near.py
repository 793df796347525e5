"""Third-party weights: how near to them are real weights that output the labels exactly?

Gauss-Newton steps of least norm lead from the given weights to ones that fit in float64; these are
certified as in `verify/near/certify.py`. The distance claimed is that of the steps, exactly, plus
the certified radius. Where the steps do not converge nothing is claimed.

That is for plain layers: base e, no scale. With logits f · E K Qᵀe (f = unit · scale), (K, Q) with
the factor is (K, fQ) without. For s near f, exact plain weights within r of (K, sQ, V, O) have a
query Q* with |Q*/f - Q| ≤ r/f + |s/f - 1|·|Q|, entry by entry: exact weights of the given form are
within the larger of r and that (ours).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from flint import arb, ctx, fmpq

from attncert.constructions.arrays import FloatArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.given.attention import Shape, jacobian
from attncert.constructions.layer import Layer, to_float
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.layer.attention import Attention
from attncert.verify.near.certify import Near, brief, certify, claim, rounded_up

MOST_UNKNOWNS = 600  # labels in all, above which an audit does not ask
_STEPS = 20
_BITS = 128


@dataclass(frozen=True)
class Nearby:
    """near: what was shown of the weights that the steps led to. distance: from the given weights
    to any that output the labels exactly, at most; None where nothing was shown."""

    near: Near
    distance: float | None

    @property
    def claim(self) -> Claim:
        """About the given weights: enclosed, or undecided."""
        plain = claim(self.near)
        if self.distance is None:
            statement = "Weights that output the labels exactly exist near these."
            return replace(plain, id=ids.LAYER_NEAR, statement=statement)
        distance = brief(rounded_up(self.distance))
        statement = f"Weights that output the labels exactly exist within {distance} of these."
        numbers = {**plain.numbers, "distance": distance}
        return replace(
            plain, id=ids.LAYER_NEAR, statement=statement, level=Level.ENCLOSED, numbers=numbers
        )


def exact_near(attention: Attention) -> Nearby | None:
    """None where it was not tried: more than MOST_UNKNOWNS labels, weights beyond float64."""
    data, layer = attention.data, attention.layer
    if data.T * data.m > MOST_UNKNOWNS:
        return None
    with ctx.workprec(_BITS):
        factor = attention.factor
        s = fmpq(*float(factor.mid()).as_integer_ratio())
        heads = tuple(replace(head, query=head.query * s) for head in layer.heads)
        plain = Layer(heads, layer.output)
        weights = np.concatenate([to_float(matrix).ravel() for matrix in plain.matrices])
        if not np.isfinite(weights).all():
            return None
        shape = Shape(data.d, data.m, len(heads), layer.head_width, layer.value_width or 0)
        near = certify(data, _stepped(data, weights, shape), shape)
        if not near.holds:
            return Nearby(near, None)
        pairs = zip(plain.matrices, near.layer.matrices, strict=True)
        moved = max(abs(x) for before, after in pairs for x in (after - before).entries())
        r = arb(moved + fmpq(near.radius.numerator, near.radius.denominator))
        largest = max(abs(x) for head in layer.heads for x in head.query.entries())
        back = r / factor + abs(s / factor - 1) * largest
        return Nearby(near, float(r.max(back).upper()) * (1 + 1e-12))


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
