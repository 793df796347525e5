"""Rounding: against Python's own rounding of fractions; the claim that it was done as said."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from attncert import Dataset
from attncert.verify.claims.evidence import Level
from attncert.verify.origins.rounded import Rounded, on_grid

DRAW = np.random.default_rng(3)
FLOATS = Dataset.of(
    DRAW.standard_normal((4, 2, 3)), DRAW.standard_normal((4, 3)), DRAW.standard_normal(4)
)
FRACTIONS = st.tuples(st.integers(-300, 300), st.integers(1, 64)).map(lambda x: Fraction(*x))


def flat(nested: Any) -> list[Fraction]:
    return [x for y in nested for x in flat(y)] if isinstance(nested, list) else [nested]


@given(st.lists(FRACTIONS, min_size=4, max_size=4), FRACTIONS.filter(lambda x: x > 0))
@settings(max_examples=40, deadline=None)
def test_rounding_is_pythons(numbers: list[Any], grid: Fraction) -> None:
    data = Dataset.of([numbers[:2]], [numbers[2:]], [1])
    short, origin = on_grid(data, grid)
    for name in ("contexts", "queries"):
        before = flat(getattr(data, name).fractions())
        assert flat(getattr(short, name).fractions()) == [round(x / grid) * grid for x in before]
    changes = [
        abs(x - y)
        for name in ("contexts", "queries")
        for x, y in zip(
            flat(getattr(data, name).fractions()),
            flat(getattr(short, name).fractions()),
            strict=True,
        )
    ]
    assert origin.largest_change == max(changes)
    (claim,) = origin.claims(short)
    assert claim.level is Level.PROVED and claim.numbers["numbers"] == 4


def test_other_data_are_refuted() -> None:
    short, origin = on_grid(FLOATS, Fraction(1, 4))
    coarse, _ = on_grid(FLOATS, Fraction(1, 2))
    odd = Dataset.of([[1, 0]], [[1, 1]], [1])
    tie = Rounded(Fraction(1), Dataset.of([["1/2", 0]], [[1, 1]], [1]), Fraction(1, 2))
    for data, claimed in (
        (coarse, origin),
        (FLOATS, origin),
        (short, replace(origin, largest_change=origin.largest_change * 2)),
        (odd, tie),
        (Dataset(short.contexts, short.queries, coarse.queries), origin),
        (Dataset(short.contexts, short.queries), origin),
        (FLOATS.take(2), origin),
    ):
        (claim,) = claimed.claims(data)
        assert claim.level is Level.REFUTED and claim.witness and claim.witness["reason"]
