"""The least c at which every earlier example attends to its row with 1 - p < 2^-B.

A head gives an earlier example s the logits c·a_i + β_i, and a is largest only at the row L_s. With
δ_i(c) = c·(a_L - a_i) + β_L - β_i, i ≠ L, and S = Σ 2^-δ_i, that row has p = 1/(1 + S), so that

    1 - p < 2^-B   ⟺   S·(2^B - 1) < 1.

S falls as c grows, since every a_L - a_i > 0: once c has this property, so has every larger c.
The least c lies between two bounds. If some δ_i ≤ B - 1, then S·(2^B - 1) ≥ 2 - 2^(1-B) ≥ 1; if all
δ_i ≥ B + log2(n - 1), then S ≤ 2^-B. Between them, bisection finds it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

import numpy as np

from attncert.constructions.arrays import IntArray, IntegerArray
from attncert.constructions.exact import integers

_LINEAR = 4096  # values of c tried one by one before they are doubled


def candidates_for_c(least: int) -> Iterator[int]:
    """Values of c to try, from `least` upwards: first one by one, then by doubling."""
    yield from range(least, least + _LINEAR)
    for doubling in range(64):
        yield (least + _LINEAR) << doubling


def saturated(drops: Sequence[int], bits: int) -> bool:
    """Whether 1 - p < 2^-bits for a row whose logit exceeds the others by these amounts. Exact.

    >>> saturated([5], 5), saturated([5, 9], 5), saturated([4, 90], 5), saturated([], 5)
    (True, False, False, True)
    """
    if not drops:
        return True
    if min(drops) < bits:
        return False
    if min(drops) >= bits + (len(drops) - 1).bit_length():
        return True
    last = max(drops)
    total = sum(1 << (last - drop) for drop in drops)  # S·2^last
    return (total << bits) - total < 1 << last


def least_lead(lead: IntegerArray, finite: IntegerArray, targets: IntArray) -> int:
    """The least c ≥ 1 at which c·lead + finite, (N, n), is largest at each target, by 1 or more."""
    rows = np.arange(len(targets))
    gap = integers.subtract(lead[rows, targets][:, None], lead)
    need = integers.add(integers.subtract(finite, finite[rows, targets][:, None]), np.array([1]))
    others = np.arange(lead.shape[1])[None, :] != targets[:, None]
    return max([1, *(-(-need[others] // gap[others])).tolist()])


def least_multiplier(lead: IntegerArray, finite: IntegerArray, targets: IntArray, bits: int) -> int:
    """The least c ≥ 1 at which the logits c·lead + finite, (N, n), saturate at all N targets."""
    least = 1
    for a, b, target in zip(lead.tolist(), finite.tolist(), targets.tolist(), strict=True):
        gaps = [(a[target] - x, b[target] - y) for i, (x, y) in enumerate(zip(a, b, strict=True))
                if i != target]  # fmt: skip
        if not gaps:
            continue
        low, high = (
            max(-((rest - drop) // gap) for gap, rest in gaps)
            for drop in (bits, bits + (len(gaps) - 1).bit_length())
        )
        if high <= least:
            continue
        start = max(least, low)

        def holds(c: int, gaps: list[tuple[int, int]] = gaps) -> bool:
            return saturated([c * gap + rest for gap, rest in gaps], bits)

        least = start + bisect_left(range(start, high), True, key=holds)
    return least
