"""Primes: the constants are what they claim to be."""

from __future__ import annotations

import pytest
import sympy

from attncert.constructions.exact import primes
from attncert.verify.rank.engines.arithmetic import lazy_terms

ALL = (
    *primes.PRIMES_21,
    primes.PRIME_FLOAT32,
    *primes.PRIMES_FLOAT64,
    *primes.PRIMES_31,
    primes.PRIME_62,
)


@pytest.mark.parametrize("p", ALL)
def test_constants_are_safe_primes_with_two_primitive(p: int) -> None:
    assert sympy.isprime(p)
    assert sympy.isprime((p - 1) // 2)
    assert sympy.n_order(2, p) == p - 1


def test_constants_are_the_largest_of_their_kind() -> None:
    assert tuple(primes.safe_primes_below(2**31, 3)) == primes.PRIMES_31
    assert primes.safe_primes_below(2**62, 1) == [primes.PRIME_62]
    largest = next(p for p in range(12_000_000, 2, -1) if lazy_terms(p, "float64") >= 256)
    assert tuple(primes.safe_primes_below(largest + 1, 3)) == primes.PRIMES_FLOAT64
    largest = next(p for p in range(2**12, 2, -1) if lazy_terms(p, "float32") >= 56)
    assert primes.safe_primes_below(largest + 1, 1) == [primes.PRIME_FLOAT32]
