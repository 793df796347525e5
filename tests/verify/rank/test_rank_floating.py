"""Numerical rank with its tolerance, and the verdict about the rounding of the data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attncert.constructions.errors import InputError
from attncert.verify.rank.floating import RoundingVerdict, numerical_rank, robustness


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 12), st.integers(0, 2**32))
def test_default_tolerance_is_the_usual_one(m: int, n: int, rank: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.standard_normal((m, rank)) @ rng.standard_normal((rank, n))
    assert numerical_rank(table).rank == np.linalg.matrix_rank(table)
    single = table.astype(np.float32)
    assert numerical_rank(single, dtype="float32").rank == np.linalg.matrix_rank(single)


def with_sigma_min(value: float, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    u = np.linalg.qr(rng.standard_normal((6, 6)))[0]
    v = np.linalg.qr(rng.standard_normal((9, 6)))[0]
    return (u * np.array([1.0, 1.0, 1.0, 1.0, 1.0, value])) @ v.T


@pytest.mark.parametrize(
    ("sigma", "stored", "verdict"),
    [
        (1e-2, np.float16, RoundingVerdict.ROBUST),
        (1e-4, np.float16, RoundingVerdict.WITHIN_ROUNDING),
        (1e-5, np.float32, RoundingVerdict.ROBUST),
        (1e-8, np.float32, RoundingVerdict.WITHIN_ROUNDING),
        (1e-8, np.float64, RoundingVerdict.ROBUST),
        (1e-17, np.float64, RoundingVerdict.WITHIN_ROUNDING),
    ],
)
def test_the_verdict_depends_on_the_format_of_the_data(
    sigma: float, stored: type, verdict: RoundingVerdict
) -> None:
    found = robustness(with_sigma_min(sigma).astype(stored))
    assert found.relation is None
    assert found.verdict is verdict
    assert (found.spectrum[-1] > 1.01 * found.rounding) == (verdict is RoundingVerdict.ROBUST)


def test_dependence_is_exact_and_witnessed() -> None:
    table = np.array([[1.5, 0.25, 1.0], [3.0, 0.5, 2.0]])
    found = robustness(table)
    assert found.verdict is RoundingVerdict.DEPENDENT
    assert found.relation is not None and found.relation.holds(table)
    tall = robustness([[1.0], [1.0]])
    assert tall.verdict is RoundingVerdict.DEPENDENT


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.integers(-300, 300))
def test_rounding_is_an_upper_bound_of_what_rounding_does(seed: int, exponent: int) -> None:
    rng = np.random.default_rng(seed)
    exact = rng.standard_normal((4, 5)) * 10.0 ** (exponent if abs(exponent) < 30 else 0)
    stored = exact.astype(np.float32)
    moved = float(np.linalg.norm(stored.astype(np.float64) - exact, 2))
    assert moved <= robustness(stored).rounding
    tiny = (exact / np.abs(exact).max() * 1e-44).astype(np.float32)  # subnormal in float32
    moved = float(np.linalg.norm(tiny.astype(np.float64) - exact / np.abs(exact).max() * 1e-44))
    assert moved <= robustness(tiny).rounding


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: numerical_rank([[1e300]], dtype="float32"), "range of float32"),
        (lambda: numerical_rank([[10**400]], dtype="float32"), "range of float64"),
        (lambda: robustness([[10**400]]), "range of float64"),
    ],
)
def test_refusals(call: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()
