"""Positions: the theorem against every minor of the encodings, and what repeats need."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from flint import arb, ctx, fmpq

from attncert.constructions.errors import InputError
from attncert.verify.assume.positions import sinusoidal, sinusoidal_independence
from attncert.verify.rank.decide import decide
from attncert.verify.rank.modular import modular_rank

BASES = [10_000.0, 2.0, 1 + 2.0**-52, 1.0, 1 - 2.0**-53, 0.5, 1 / 9, 2.0**-40]


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
            claim = sinusoidal_independence(n, width, base=base)
            assert claim.level.holds is independent(rows[:n])
            assert claim.level.value in ("argued", "refuted")
            assert (claim.witness is None) is claim.level.holds


def test_floats_are_the_encodings() -> None:
    """In float64; where the theorem sees equal frequencies, the exact decision on floats agrees."""
    for width in (4, 5):
        exact = np.array([[float(x) for x in row] for row in encodings(6, width, 10_000.0)])
        np.testing.assert_allclose(sinusoidal(6, width), exact, atol=1e-14)
    assert not decide(sinusoidal(4, 4, base=1.0)).independent


def test_positions_make_repeated_tokens_independent() -> None:
    """A context of one token again and again has rank 1; with positions, rank n."""
    token = np.random.default_rng(0).standard_normal(32)
    repeated = np.tile(token, (20, 1))
    assert modular_rank(repeated).rank == 1 and not decide(repeated).independent
    assert modular_rank(repeated + sinusoidal(20, 32)).rank == 20


@pytest.mark.parametrize(
    ("positions", "width", "base", "argument"),
    [(0, 4, 2.0, "positions"), (1, 0, 2.0, "width"), (1, 2, 0.0, "base"),
     (1, 2, float("inf"), "base"), (1, 2, float("nan"), "base")],
)  # fmt: skip
def test_what_is_no_encoding(positions: int, width: int, base: float, argument: str) -> None:
    with pytest.raises(InputError, match=f"^{argument}: must be"):
        sinusoidal_independence(positions, width, base=base)
