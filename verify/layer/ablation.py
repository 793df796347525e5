"""What each head is worth: the error of the layer without it, and the examples it gives most to.

A head is taken out by leaving out what it adds to the outputs, Z_h V_h O_h, with its value bias
where there is one; nothing else changes. The error without it is enclosed. It gives most to an
example, as in the report of a fit (`verify/near/heads.py`, float64), where its part of the output,
less the average of that part over all examples, is larger than any other head's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import arb_mat

from attncert.constructions.arrays import FloatArray, IntArray
from attncert.verify.interpolation.enclosure import decimal, row_bounds
from attncert.verify.layer.attention import Attention
from attncert.verify.near.heads import carried


@dataclass(frozen=True)
class Ablation:
    """without: for each head, the largest error of the layer without it, as two decimals that
    enclose it. carrier, share: (T,), the head that gives most to each example, and how much; -1 and
    0 where a number is beyond float64."""

    without: tuple[tuple[str, str], ...]
    carrier: IntArray
    share: FloatArray

    def most_for(self, h: int) -> tuple[int, ...]:
        """The examples that head h gives most to."""
        return tuple(np.flatnonzero(self.carrier == h).tolist())


def ablation(attention: Attention, features: Sequence[arb_mat]) -> Ablation:
    """features: of each head, at the working precision."""
    parts = attention.block.contributions(features, attention.states)
    first, *others = parts
    gaps = sum(others, first) - arb_mat(attention.data.label_matrix)
    without = []
    for part in parts:
        bounds = row_bounds(gaps - part)
        low, high = max(low for low, _ in bounds), max(high for _, high in bounds)
        without.append((decimal(low, up=False), decimal(high, up=True)))
    floats = np.array([[[float(x.mid()) for x in row] for row in part.tolist()] for part in parts])
    additions = floats.transpose(1, 0, 2)  # (T, H, m)
    if not np.isfinite(additions).all():
        T = len(additions)
        return Ablation(tuple(without), np.full(T, -1), np.zeros(T))
    return Ablation(tuple(without), *carried(additions))
