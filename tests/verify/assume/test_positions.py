"""Positions: the product of the nodes' differences against determinants, and what repeats need."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from attncert.constructions.errors import InputError
from attncert.verify.assume.positions import sinusoidal, sinusoidal_independence
from attncert.verify.rank.decide import decide
from attncert.verify.rank.modular import rank_mod


@pytest.mark.parametrize("width", [2, 4, 6, 10, 16])
def test_the_product_is_the_determinant(width: int) -> None:
    """Against a determinant of the encodings themselves, by elimination with many digits."""
    with mpmath.workdps(80):
        omega = [mpmath.mpf(10_000) ** (-mpmath.mpf(2 * j) / width) for j in range(width // 2)]
        rows = [[f(p * w) for w in omega for f in (mpmath.sin, mpmath.cos)] for p in range(width)]
        expected = float(mpmath.log(abs(mpmath.det(mpmath.matrix(rows))), 2))
    claim = sinusoidal_independence(width, width)
    assert claim.level.value == "enclosed"
    assert math.isclose(claim.numbers["log2 of the determinant"], expected, rel_tol=1e-9)


def test_equal_frequencies_are_no_proof() -> None:
    claim = sinusoidal_independence(4, 4, base=1.0)
    assert claim.level.value == "refuted" and claim.witness is not None
    assert not decide(sinusoidal(4, 4, base=1.0)).independent
    close = sinusoidal_independence(8, 8, base=1 + 2.0**-52, precision=24)
    assert close.level.value == "undecided"
    assert sinusoidal_independence(8, 8, base=1 + 2.0**-52, precision=200).level.holds


def test_positions_make_repeated_tokens_independent() -> None:
    """A context of one token again and again has rank 1; with positions, rank n."""
    token = np.random.default_rng(0).standard_normal(32)
    repeated = np.tile(token, (20, 1))
    assert rank_mod(repeated).rank == 1 and not decide(repeated).independent
    assert rank_mod(repeated + sinusoidal(20, 32)).rank == 20


@pytest.mark.parametrize(("positions", "width"), [(0, 4), (5, 4), (2, 3), (1, 0)])
def test_nothing_is_claimed_beyond_the_width(positions: int, width: int) -> None:
    with pytest.raises(InputError):
        sinusoidal_independence(positions, width)


@pytest.mark.slow
def test_a_thousand_positions() -> None:
    claim = sinusoidal_independence(1024, 1024)
    assert claim.level.value == "enclosed" and claim.numbers["factors"] == 1024 * 1023 // 2
