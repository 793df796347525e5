"""Weights that output the labels exactly, near a layer with a scale or a unit.

`nearby` knows plain layers: base e, no scale. Others are brought to that form. With logits
f · E K Qᵀe (f = unit · scale), (K, Q) with the factor is (K, fQ) without. For s near f, exact plain
weights within r of (K, sQ, V, O) have a query Q* with |Q*/f - Q| ≤ r/f + |s/f - 1|·|Q|, entry by
entry: exact weights of the given form are within the larger of r and that (ours).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from flint import arb, ctx, fmpq

from attncert.constructions.layer import Layer
from attncert.verify.audit.layer.attention import Attention
from attncert.verify.claims.evidence import Claim
from attncert.verify.near.nearby import MOST_UNKNOWNS, Nearby, nearby, nearby_claim

_BITS = 128


@dataclass(frozen=True)
class Exact:
    """What was found of exact weights near a layer: a claim, and the distance where one holds."""

    claim: Claim
    distance: Fraction | None


def exact_near(attention: Attention) -> Exact | None:
    """None where it was not tried: more than MOST_UNKNOWNS labels, weights beyond float64."""
    data = attention.data
    if data.T * data.m > MOST_UNKNOWNS:
        return None
    with ctx.workprec(_BITS):
        factor = attention.factor
        plain = (attention.unit, attention.scale) == ("e", "none")
        near_factor = 1 if plain else fmpq(*float(factor.mid()).as_integer_ratio())
        heads = tuple(
            replace(head, query=head.query * near_factor) for head in attention.layer.heads
        )
        found = nearby(data, Layer(heads, attention.layer.output))
        if found is None:
            return None
        if found.distance is not None and not plain:
            r = fmpq(found.distance.numerator, found.distance.denominator)
            largest = max(abs(x) for head in attention.layer.heads for x in head.query.entries())
            back = r / factor + abs(near_factor / factor - 1) * largest
            top = max(arb(r), back.upper()).upper() * (1 + arb(2) ** -60)
            found = Nearby(found.near, _fraction(top.upper()))
    return Exact(nearby_claim(found), found.distance)


def _fraction(point: arb) -> Fraction:
    mantissa, exponent = (int(x) for x in point.man_exp())
    return Fraction(mantissa) * Fraction(2) ** exponent
