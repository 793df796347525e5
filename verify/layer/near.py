"""Weights that output the labels exactly, near a layer with a scale or a unit.

`nearby` knows plain layers: base e, no scale. Others are brought to that form. With logits
f · E K Qᵀe (f = unit · scale), (K, Q) with the factor is (K, fQ) without. For s near f, exact plain
weights within r of (K, sQ, V, O) have a query Q* with |Q*/f - Q| ≤ r/f + |s/f - 1|·|Q|, entry by
entry: exact weights of the given form are within the larger of r and that (ours).
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from flint import arb, ctx, fmpq

from attncert.constructions.layer import Layer
from attncert.verify.layer.attention import Attention
from attncert.verify.near.nearby import MOST_UNKNOWNS, Nearby, nearby

_BITS = 128


def exact_near(attention: Attention) -> Nearby | None:
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
        near = nearby(data, Layer(heads, attention.layer.output))
        if near is None or near.distance is None or plain:
            return near
        r = fmpq(near.distance.numerator, near.distance.denominator)
        largest = max(abs(x) for head in attention.layer.heads for x in head.query.entries())
        back = r / factor + abs(near_factor / factor - 1) * largest
        distance = max(arb(r), back.upper()).upper() * (1 + arb(2) ** -60)
        return Nearby(near.near, _fraction(distance.upper()))


def _fraction(point: arb) -> Fraction:
    mantissa, exponent = (int(x) for x in point.man_exp())
    return Fraction(mantissa) * Fraction(2) ** exponent
