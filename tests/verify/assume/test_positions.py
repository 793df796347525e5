"""Positions: the theorem against every minor of the encodings, and what repeats need."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from flint import arb, ctx, fmpq

from attncert.verify.rank.modular import modular_rank
from attncert.verify.rank.rational import find_relation

BASES = [10_000.0, 2.0, 1 + 2.0**-52, 1.0, 1 - 2.0**-53, 0.5, 1 / 9, 2.0**-40]


def rank(width: int, base: float) -> int:
    """docs/models-and-layers.md: of so many positions, the first are independent."""
    return 0 if width == 1 else min(width, 2) if base == 1 else width


def sinusoidal(positions: int, width: int, base: float = 10_000.0) -> np.ndarray:
    """The encodings in float64, sines in even columns."""
    angles = np.arange(positions)[:, None] * base ** (-2 * np.arange((width + 1) // 2) / width)
    out = np.empty((positions, width))
    out[:, 0::2], out[:, 1::2] = np.sin(angles), np.cos(angles[:, : width // 2])
    return out


def encodings(positions: int, width: int, base: float) -> list[list[arb]]:
    """From the definition, in balls."""
    b, rows = fmpq(*Fraction(base).as_integer_ratio()), []
    for p in range(positions):
        angles = [p * arb(b) ** (arb(-2 * (j // 2)) / width) for j in range(width)]
        rows.append([a.cos() if j % 2 else a.sin() for j, a in enumerate(angles)])
    return rows


def independent(rows: list[list[arb]]) -> bool:
    """Some minor is not 0, by Laplace along the rows. None told from 0: all are below 2^-1000."""
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


def test_floats_are_the_encodings() -> None:
    """In float64; where the theorem sees equal frequencies, the exact decision on floats agrees."""
    for width in (4, 5):
        exact = np.array([[float(x) for x in row] for row in encodings(6, width, 10_000.0)])
        np.testing.assert_allclose(sinusoidal(6, width), exact, atol=1e-14)
    assert find_relation(sinusoidal(4, 4, base=1.0))


def test_positions_make_repeated_tokens_independent() -> None:
    """A context of one token again and again has rank 1; with positions, rank n."""
    token = np.random.default_rng(0).standard_normal(32)
    repeated = np.tile(token, (20, 1))
    assert modular_rank(repeated).rank == 1 and find_relation(repeated)
    assert modular_rank(repeated + sinusoidal(20, 32)).rank == 20
