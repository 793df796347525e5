"""The changes that rounding can have made to a set of vectors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.rank_cases import holds

from attncert.constructions.errors import InputError
from attncert.verify.rank.residues import as_table
from attncert.verify.third_party.assume.spectra import AgainstRounding, Spectrum


def with_sigma_min(value: float, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    u = np.linalg.qr(rng.standard_normal((6, 6)))[0]
    v = np.linalg.qr(rng.standard_normal((9, 6)))[0]
    return (u * np.array([1.0, 1.0, 1.0, 1.0, 1.0, value])) @ v.T


@pytest.mark.parametrize(
    ("sigma", "stored", "robust"),
    [
        (1e-2, np.float16, True),
        (1e-4, np.float16, False),
        (1e-5, np.float32, True),
        (1e-8, np.float32, False),
        (1e-8, np.float64, True),
        (1e-17, np.float64, False),
    ],
)
def test_robustness_depends_on_the_format_of_the_data(
    sigma: float, stored: type, robust: bool
) -> None:
    found = Spectrum.of(0, with_sigma_min(sigma).astype(stored))
    assert found.relation is None and found.robust is robust
    assert (found.least > 1.01 * found.rounding) == robust


def test_dependence_is_exact_and_witnessed() -> None:
    table = np.array([[1.5, 0.25, 1.0], [3.0, 0.5, 2.0]])
    found = Spectrum.of(0, table)
    assert found.standing is AgainstRounding.DEPENDENT
    assert found.relation is not None and holds(found.relation, table)
    tall = Spectrum.of(0, np.array([[1.0], [1.0]]))
    assert tall.standing is AgainstRounding.DEPENDENT


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.integers(-300, 300))
def test_rounding_is_an_upper_bound_of_what_rounding_does(seed: int, exponent: int) -> None:
    rng = np.random.default_rng(seed)
    exact = rng.standard_normal((4, 5)) * 10.0 ** (exponent if abs(exponent) < 30 else 0)
    stored = exact.astype(np.float32)
    moved = float(np.linalg.norm(stored.astype(np.float64) - exact, 2))
    assert moved <= Spectrum.of(0, stored).rounding
    tiny = (exact / np.abs(exact).max() * 1e-44).astype(np.float32)  # subnormal in float32
    moved = float(np.linalg.norm(tiny.astype(np.float64) - exact / np.abs(exact).max() * 1e-44))
    assert moved <= Spectrum.of(0, tiny).rounding


def test_numbers_beyond_floats() -> None:
    with pytest.raises(InputError, match="range of float64"):
        Spectrum.of(0, as_table([[10**400]]))
