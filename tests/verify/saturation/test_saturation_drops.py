"""Least c and worst example among few examples: against all examples, in plain fractions."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from attncert.constructions.data import generators
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Head, Layer, integer_logits, logit_ranges
from attncert.constructions.width_one import build
from attncert.verify.saturation.least import Drops, least_c


def drawn(bits: int, seed: int) -> Drops:
    """Rows that lead at a c of about 5, most of them by little; numbers of up to `bits` bits."""
    draw = random.Random(seed)
    gaps, rests = (np.empty((6, 4), dtype=object) for _ in range(2))
    for at in np.ndindex(gaps.shape):
        gaps[at] = draw.randint(1, 2 ** draw.randint(1, bits))
        rests[at] = draw.randint(-3, 3) - draw.randint(0, 5) * gaps[at]
    return Drops(gaps, rests)


def off_peak(drops: Drops, c: int) -> Fraction:
    """The worst 1 - p at c; drops above 400 bits change nothing that is looked at here."""
    rows = (c * drops.gaps + drops.rests).tolist()
    sums = [sum(Fraction(1, 2) ** min(400, max(-400, drop)) for drop in row) for row in rows]
    return max(total / (1 + total) for total in sums)


@pytest.mark.parametrize("bits", [2, 6, 60, 880, 1500])
def test_few_examples_decide(bits: int) -> None:
    for seed in range(12):
        drops = drawn(bits, seed)
        for wanted in (1, 5, 40):
            c = least_c(drops, wanted)
            assert c is not None and off_peak(drops, c) < Fraction(1, 2**wanted)
            assert c == 1 or off_peak(drops, c - 1) >= Fraction(1, 2**wanted)
        for c in (1, 2, 5, 9, 2**40, 2**120):
            near = drops.near(c)
            assert near.at(c).min() == drops.at(c).min()
            if (drops.at(c) > -400).all():
                assert off_peak(near, c) == off_peak(drops, c)


def test_a_row_that_never_leads() -> None:
    drops = drawn(6, 0)
    drops.gaps[2, 1] = 0
    assert least_c(drops, 1) is None


@pytest.mark.parametrize("shared", [True, False])
def test_ranges_of_logits(shared: bool) -> None:
    data = generators.family(7, 3, 4, queries="moment-curve", shared=shared, seed=1)
    for head in build(data, short_heads=False).layer.heads:
        ranges = [max(row) - min(row) for row in integer_logits(head, data)]
        assert logit_ranges(head, data) == ranges
    with pytest.raises(ValueError, match="not an integer"):
        logit_ranges(Head(head.key / 977, head.query), data)


def test_ranges_of_logits_at_the_limit_of_a_word() -> None:
    head = Layer.of_weights([([[1]], [[1]])]).heads[0]
    for largest in (2**62 - 1, 2**62, 2**63 - 1):
        for tokens in ([[largest], [-largest]], np.array([[largest], [-largest]])):
            data = Dataset.of(tokens, [[1]], [1])
            assert logit_ranges(head, data) == [2 * largest]
