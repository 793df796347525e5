"""The bound that makes floating point exact: sharp enough to matter, and enforced."""

from __future__ import annotations

import array_api_strict
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncert.constructions.errors import InputError
from attncert.constructions.exact.primes import PRIME_FLOAT32, PRIMES_FLOAT64
from attncert.verify.rank.engines import arithmetic

DTYPES = [("float32", PRIME_FLOAT32), ("float64", PRIMES_FLOAT64[0]), ("float64", 47453111)]


@pytest.mark.parametrize(("dtype", "p"), DTYPES)
def test_the_admitted_number_of_terms_satisfies_the_lemma_and_one_more_does_not(
    dtype: str, p: int
) -> None:
    terms, twice = arithmetic.lazy_terms(p, dtype), p + 8  # twice = 2B
    limit = 4 * 2 ** arithmetic.MANTISSA[dtype]
    assert 4 * twice + terms * twice**2 <= limit < 4 * twice + (terms + 1) * twice**2


@pytest.mark.parametrize(("dtype", "p"), DTYPES)
def test_the_largest_admitted_sum_is_exact(dtype: str, p: int) -> None:
    """All terms of the largest size and one sign: the sum the lemma allows, and its reduction."""
    terms, top = arithmetic.lazy_terms(p, dtype), p // 2 + 4
    total = np.full((), top, dtype)
    for _ in range(terms):
        total = (total + np.asarray(top, dtype) * np.asarray(top, dtype)).astype(dtype)
    assert int(total) == top + terms * top**2
    r = arithmetic.reduce(np.array([total, -total]), p)
    assert [int(x) % p for x in r] == [int(total) % p, -int(total) % p]
    assert max(abs(float(x)) for x in r) <= p / 2 + 4


@given(st.integers(-(2**52), 2**52), st.sampled_from([11, 13, 1019, 11863067]))
def test_reduction_is_congruent_and_balanced(x: int, p: int) -> None:
    r = float(arithmetic.reduce(np.array([float(x)]), p)[0])
    assert (int(r) - x) % p == 0
    assert abs(r) <= p / 2 + 4 < p + 1
    assert (r == 0) == (x % p == 0)


@pytest.mark.parametrize("p", [11, 1019, 11863067, 47453111])
@pytest.mark.parametrize("xp", [np, array_api_strict], ids=lambda xp: xp.__name__)
def test_matmul_and_inverse_against_python_integers(p: int, xp: object) -> None:
    rng = np.random.default_rng(p)
    inner = 3 * min(arithmetic.lazy_terms(p, "float64"), 100) + 1  # several slabs, a ragged last
    a, b = rng.integers(0, p, (3, inner)) - p // 2, rng.integers(0, p, (inner, 4)) - p // 2
    got = arithmetic.matmul(xp.asarray(a.astype(float)), xp.asarray(b.astype(float)), p)
    want = (a.astype(object) @ b.astype(object)) % p
    assert (np.asarray(got).astype(int) % p == want.astype(int)).all()
    x = xp.asarray(np.array([0.0, 1.0, -1.0, 2.0, float(p // 2)]))
    inverse = np.asarray(arithmetic.inverse(x, p)).astype(int)
    assert inverse[0] == 0
    assert [int(i * int(v)) % p for i, v in zip(inverse, np.asarray(x), strict=True)][1:] == [1] * 4


@pytest.mark.parametrize(
    ("p", "message"),
    [
        (7, "a prime of at least 11"),
        (1018, "a prime of at least 11"),
        (True, "a prime of at least 11"),
        (11.0, "a prime of at least 11"),
        (2**61 - 1, "at most about"),
    ],
)
def test_moduli_outside_the_bound_are_refused(p: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        arithmetic.modulus(p, "float64", terms=16)
