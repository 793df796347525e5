"""Subsets and prefixes modulo primes, and the bound that makes floating point exact."""

from __future__ import annotations

import math
from fractions import Fraction

import array_api_strict
import numpy as np
import pytest
from flint import fmpq_mat, fmpz_mat
from hypothesis import example, given
from hypothesis import strategies as st

from attncert.constructions.data.exact_array import ExactArray
from attncert.constructions.errors import InputError
from attncert.constructions.exact.primes import PRIME_FLOAT32, PRIMES_FLOAT64
from attncert.verify.rank.engines import arithmetic
from attncert.verify.rank.residues import as_table, residues

PRIMES = [11, 13, 1019, 11863067, 67108837]


def expected(x: float, p: int) -> int:
    q = Fraction(x)
    return q.numerator * pow(q.denominator, -1, p) % p


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(PRIMES))
@example(5e-324, 11)
@example(1.7976931348623157e308, 67108837)
@example(-0.0, 11)
@example(float(2**53 + 2), 13)
def test_float64_residues_are_exact(x: float, p: int) -> None:
    (r,) = residues(np.array([[x]]), p).ravel().tolist()
    assert r == int(r) and abs(r) <= p / 2 + 4
    assert int(r) % p == expected(x, p)


@given(st.floats(allow_nan=False, allow_infinity=False, width=32), st.sampled_from(PRIMES))
def test_float32_and_float16_residues_are_exact(x: float, p: int) -> None:
    assert int(residues(np.array([[x]], np.float32), p)[0, 0]) % p == expected(x, p)
    if abs(x) < 60000:
        half = np.array([[x]], np.float16)
        assert int(residues(half, p)[0, 0]) % p == expected(float(half[0, 0]), p)


@given(st.integers(-(2**200), 2**200), st.sampled_from(PRIMES))
@example(-(2**63), 11)
@example(2**63, 13)
@example(2**64 - 1, 1019)
def test_integer_residues_are_exact(x: int, p: int) -> None:
    assert int(residues(as_table([[x]]), p)[0, 0]) % p == x % p
    if 0 <= x < 2**64:
        assert int(residues(np.array([[x]], np.uint64), p)[0, 0]) % p == x % p


def test_every_kind_of_table_means_the_same_numbers() -> None:
    numbers = [[Fraction(1, 2), Fraction(3)], [Fraction(-2), Fraction(1, 4)]]
    for table in (
        numbers,
        ExactArray.of(numbers),
        fmpq_mat(2, 2, [2, 12, -8, 1]),
        fmpz_mat(2, 2, [2, 12, -8, 1]),
        array_api_strict.asarray([[0.5, 3.0], [-2.0, 0.25]]),
        np.array([[0.5, 3.0], [-2.0, 0.25]], np.float16),
    ):
        a, b, c, d = residues(as_table(table), 1019).ravel().astype(int).tolist()
        assert (a * d - b * c) % 1019 != 0
        assert (b - 6 * a) % 1019 == (c + 8 * d) % 1019 == (a + b + c - 2 * d - 4 * d) % 1019 == 0


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([[1.0, math.nan]], r"table\[0\]\[1\]: must be .* a finite float .* not nan"),
        (np.array([[1.0], [np.inf]]), "finite numbers, not inf at row 1, column 0"),
        ([[1, math.inf]], "a finite float .* not inf"),
        ([1.0, 2.0], "a matrix .* not of shape"),
        ([[1.0], [2.0, 3.0]], r"table\[1\]: must be "),
        (np.zeros((2, 2, 2)), "a matrix .* not of shape"),
        (np.array([[1j]]), "real numbers, not of type complex128"),
        (np.array([["a"]]), "real numbers, not of type"),
        ([["half"]], "an integer, .* not 'half'"),
        ([[None]], "an integer, .* not null"),
        (7, "a matrix .* not of shape"),
    ],
)
def test_unusable_tables_are_refused_in_one_line(table: object, message: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        as_table(table)
    assert "\n" not in str(raised.value)


DTYPES = [("float32", PRIME_FLOAT32), ("float64", PRIMES_FLOAT64[0]), ("float64", 67108837)]


@pytest.mark.parametrize(("dtype", "p"), DTYPES)
def test_the_admitted_number_of_terms_satisfies_the_lemma_and_one_more_does_not(
    dtype: str, p: int
) -> None:
    terms, twice = arithmetic.lazy_terms(p, dtype), p + 8  # twice = 2B
    limit = 4 * 2 ** arithmetic.MANTISSA[dtype]
    assert 4 * twice + terms * twice**2 <= limit < 4 * twice + (terms + 1) * twice**2


@pytest.mark.parametrize(("dtype", "p"), DTYPES)
def test_the_largest_admitted_sum_is_exact(dtype: str, p: int) -> None:
    """Terms of the largest size, all of one sign, give the largest sum that the lemma allows."""
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


@pytest.mark.parametrize("p", [11, 1019, 11863067, 67108837])
@pytest.mark.parametrize("xp", [np, array_api_strict], ids=lambda xp: xp.__name__)
def test_matmul_and_inverse_against_python_integers(p: int, xp: object) -> None:
    rng = np.random.default_rng(p)
    inner = 3 * min(arithmetic.lazy_terms(p, "float64"), 100) + 1  # several slabs, one smaller
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
