"""Tests ball arithmetic, and a contract that all arithmetics obey."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from flint import arb, arb_mat
from hypothesis import given, settings
from hypothesis import strategies as st
from support.rank_cases import CASES, Case, balls

from attncert.constructions.exact.primes import PRIMES_FLOAT64
from attncert.verify.rank.ball import smallest_singular_value
from attncert.verify.rank.modular import modular_rank


def spectrum_matrix(values: list[float], width: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    u = np.linalg.qr(rng.standard_normal((len(values), len(values))))[0]
    v = np.linalg.qr(rng.standard_normal((width, len(values))))[0]
    return (u * np.array(values)) @ v.T


def true_sigma_min(matrix: np.ndarray) -> mpmath.mpf:
    """The smallest singular value of the stored floats, to 120 digits, from another library."""
    with mpmath.workdps(120):
        rows = mpmath.matrix(matrix.tolist())
        values = mpmath.eigsy(rows * rows.T, eigvals_only=True)
        return mpmath.sqrt(min(values))


@pytest.mark.parametrize("condition", [1.0, 1e4, 1e10, 1e15, 1e20])
def test_singular_value_bounds_enclose_the_truth(condition: float) -> None:
    matrix = spectrum_matrix(np.logspace(0, -math.log10(condition), 8).tolist(), 12, seed=1)
    found = smallest_singular_value(balls(matrix), 256)
    truth = true_sigma_min(matrix)
    assert found.lower <= truth <= found.upper
    assert found.lower > 0
    assert found.upper <= 3 * found.lower
    assert condition > 1e15 or found.upper <= (1 + 1e-9) * truth


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 6), st.integers(0, 4), st.integers(0, 2**32), st.integers(-300, 250))
def test_bounds_hold_for_random_matrices_of_any_scale(
    rows: int, extra: int, seed: int, exponent: int
) -> None:
    rng = np.random.default_rng(seed)
    matrix = rng.standard_normal((rows, rows + extra)) * 10.0**exponent
    found = smallest_singular_value(balls(matrix))
    assert found.lower <= true_sigma_min(matrix) <= found.upper


def test_a_singular_matrix_gets_zero_below_and_the_truth_above() -> None:
    found = smallest_singular_value(balls([[1.0, 2.0], [2.0, 4.0]]), 256)
    assert found.lower == 0.0 <= found.upper
    tall = smallest_singular_value(balls([[1.0], [1.0]]))
    assert (tall.lower, tall.upper) == (0.0, math.nextafter(0.0, 1.0))


def test_an_enclosure_that_contains_a_singular_matrix_is_not_certified() -> None:
    wide = arb_mat([[arb(1, 0.01), arb(1)], [arb(1), arb(1.0)]])
    assert smallest_singular_value(wide, 256).lower == 0
    narrow = arb_mat([[arb(1.5, 0.01), arb(1)], [arb(1), arb(1.0)]])
    found = smallest_singular_value(narrow)
    assert found.lower > 0
    for x in (1.49, 1.5, 1.51):
        truth = true_sigma_min(np.array([[x, 1.0], [1.0, 1.0]]))
        assert found.lower <= truth <= found.upper


def test_ill_conditioned_beyond_floats_needs_precision_and_gets_it() -> None:
    tiny = 2.0**-40
    matrix = [[1.0, 1.0, 1.0], [1.0, 1.0 + tiny, 1.0], [1.0, 1.0, 1.0 + tiny * 2**-12]]
    assert smallest_singular_value(balls(matrix), 32).lower == 0
    assert smallest_singular_value(balls(matrix), 512).lower > 0


each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


@each_case
def test_modular_rank_is_a_lower_bound_and_reached(case: Case) -> None:
    found = [modular_rank(case.matrix, p) for p in PRIMES_FLOAT64]
    assert all(r.rank <= case.rank for r in found)
    assert max(r.rank for r in found) == case.rank
    for r in found:
        assert len(r.rows) == len(set(r.rows)) == len(r.columns) == len(set(r.columns)) == r.rank


@each_case
def test_ball_arithmetic_certifies_full_row_rank_exactly_when_it_holds(case: Case) -> None:
    if case.rank:
        sigma = smallest_singular_value(balls(case.matrix), 8192)
        below_floats = case.name in ("1x1 tiny float", "huge, off by one")
        assert (sigma.lower > 0) == (case.rank == case.shape[0] and not below_floats)
