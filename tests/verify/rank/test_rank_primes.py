"""Primes: the constants are what they claim to be, and the trap is refused."""

from __future__ import annotations

import pytest
import sympy

from attncert.constructions.errors import InputError
from attncert.verify.rank import primes
from attncert.verify.rank.engines.arithmetic import lazy_terms

ALL = (
    primes.PRIME_FLOAT32,
    *primes.PRIMES_FLOAT64,
    *primes.PRIMES_31,
    primes.PRIME_62,
)


@pytest.mark.parametrize("p", ALL)
def test_constants_are_safe_primes_with_two_primitive(p: int) -> None:
    assert sympy.isprime(p)
    assert sympy.isprime((p - 1) // 2)
    assert sympy.n_order(2, p) == p - 1 == primes.order_of_two(p)


def test_constants_are_the_largest_of_their_kind() -> None:
    assert tuple(primes.safe_primes_below(2**31, 3)) == primes.PRIMES_31
    assert primes.safe_primes_below(2**62, 1) == [primes.PRIME_62]
    largest = next(p for p in range(12_000_000, 2, -1) if lazy_terms(p, "float64") >= 256)
    assert tuple(primes.safe_primes_below(largest + 1, 3)) == primes.PRIMES_FLOAT64
    largest = next(p for p in range(2**12, 2, -1) if lazy_terms(p, "float32") >= 56)
    assert primes.safe_primes_below(largest + 1, 1) == [primes.PRIME_FLOAT32]


@pytest.mark.parametrize("p", [3, 5, 7, 11, 13, 31, 127, 8191, 10007, 2**31 - 1, 2**61 - 1])
def test_order_of_two_against_sympy(p: int) -> None:
    assert primes.order_of_two(p) == sympy.n_order(2, p)


def test_the_mersenne_trap_is_refused() -> None:
    trap = 2**61 - 1
    with pytest.raises(InputError, match="order 61"):
        primes.require_order_of_two(trap, 10**6)
    assert primes.require_order_of_two(trap, 61) == 61
    assert primes.require_order_of_two(primes.PRIME_62, 2**61) == primes.PRIME_62 - 1


@pytest.mark.parametrize("p", [-7, 0, 1, 2, 9, 15, 2**61])
def test_what_is_not_an_odd_prime_is_refused(p: int) -> None:
    with pytest.raises(InputError, match="odd prime"):
        primes.order_of_two(p)
