"""The theorem on positions of docs/models-and-layers.md, compared with every minor."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pytest
from flint import arb, ctx, fmpq

BASES = [10_000.0, 2.0, 1 + 2.0**-52, 1.0, 1 - 2.0**-53, 0.5, 1 / 9, 2.0**-40]


def rank(width: int, base: float) -> int:
    """How many of the positions 0, 1, 2, ... are independent (docs/models-and-layers.md)."""
    return 0 if width == 1 else min(width, 2) if base == 1 else width


def encodings(positions: int, width: int, base: float) -> list[list[arb]]:
    """The encodings computed from their definition, as balls."""
    b, rows = fmpq(*Fraction(base).as_integer_ratio()), []
    for p in range(positions):
        angles = [p * arb(b) ** (arb(-2 * (j // 2)) / width) for j in range(width)]
        rows.append([a.cos() if j % 2 else a.sin() for j, a in enumerate(angles)])
    return rows


def independent(rows: list[list[arb]]) -> bool:
    """Whether some minor is not 0, by Laplace expansion along the rows. If no minor is shown to
    differ from 0, all minors are below 2^-1000."""
    minors = {(): arb(1)}
    for k, row in enumerate(rows, start=1):
        minors = {
            columns: sum(
                ((-1) ** i * row[j] * minors[columns[:i] + columns[i + 1 :]]
                 for i, j in enumerate(columns)), arb(0),
            )
            for columns in combinations(range(len(row)), k)
        }  # fmt: skip
    assert all(abs(x) > 0 or abs(x) < arb(2) ** -1000 for x in minors.values())
    return any(abs(x) > 0 for x in minors.values())


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("width", range(1, 8))
def test_the_theorem_and_every_minor_agree(width: int, base: float) -> None:
    with ctx.workprec(3000):
        rows = encodings(width + 1, width, base)
        for n in range(1, width + 2):
            assert independent(rows[:n]) is (n <= rank(width, base))
