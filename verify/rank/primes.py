"""Primes for rank certificates, and a proof that 2 has large order modulo them.

Any prime that divides no denominator gives a sound certificate: rank k modulo p implies rank at
least k over Q. What a careless prime costs is *completeness*. The features of a layer are
quotients of powers of two, so modulo p they take at most ord_p(2) different values per power;
where that order is small, ranks come out too low. The Mersenne prime 2^61 - 1 is the trap: 2 has
order 61 there.

For a *safe* prime p = 2q + 1 (q an odd prime) the order of 2 divides 2q and is neither 1 nor 2
(p > 3), so it is q or 2q; by the second supplement to quadratic reciprocity it is 2q, that is, 2
is a primitive root, exactly when p = 3 mod 8 (p = 5 mod 8 would make q even). All constants below
are of this kind, hence the *proved* lower bound p - 1 on the order, and the tests recompute it by
factoring p - 1.
"""

from __future__ import annotations

from flint import fmpz

from attncert.constructions.errors import InputError

PRIME_FLOAT32 = 1019
"""For elimination in float32: a sum of 56 products of residues stays below 2^24."""

PRIMES_FLOAT64 = (11863067, 11861363, 11859923)
"""For elimination in float64: a sum of 256 products of residues stays below 2^53."""

PRIMES_31 = (2147483579, 2147483123, 2147482763)
"""The three largest safe primes below 2^31 with 2 primitive: products fit 64-bit integers."""

PRIME_62 = 4611686018427377339
"""The largest safe prime below 2^62 with 2 primitive: for FLINT's one-word arithmetic."""


def order_of_two(p: int) -> int:
    """Multiplicative order of 2 modulo the odd prime p, by factoring p - 1 (FLINT, proved).

    >>> order_of_two(7), order_of_two(11), order_of_two(2**61 - 1)
    (3, 10, 61)
    >>> order_of_two(PRIME_62) == PRIME_62 - 1
    True
    >>> order_of_two(15)
    Traceback (most recent call last):
    attncert.InputError: prime: must be an odd prime, not 15
    """
    if p < 3 or not fmpz(p).is_prime():
        raise InputError("prime", "an odd prime", p)
    order = p - 1
    for factor, _ in fmpz(p - 1).factor():
        q = int(factor)
        while order % q == 0 and pow(2, order // q, p) == 1:
            order //= q
    return order


def require_order_of_two(p: int, at_least: int) -> int:
    """Refuse a prime modulo which 2 has too small an order; return that order otherwise.

    >>> require_order_of_two(2**61 - 1, 10**6)
    Traceback (most recent call last):
    attncert.InputError: prime: must be a prime modulo which 2 has order at least \
1000000, not 2305843009213693951, where it has order 61
    """
    order = order_of_two(p)
    if order < at_least:
        must = f"a prime modulo which 2 has order at least {at_least}"
        raise InputError("prime", must, f"{p}, where it has order {order}")
    return order


def is_safe_with_primitive_two(p: int) -> bool:
    """Whether p and (p - 1)/2 are odd primes and 2 is a primitive root modulo p.

    >>> [p for p in range(200) if is_safe_with_primitive_two(p)]
    [11, 59, 83, 107, 179]
    """
    return p > 7 and p % 8 == 3 and fmpz(p).is_prime() and fmpz(p // 2).is_prime()


def safe_primes_below(bound: int, count: int) -> list[int]:
    """The `count` largest safe primes below `bound` with 2 primitive, largest first.

    >>> safe_primes_below(2**31, 3) == list(PRIMES_31)
    True
    """
    found: list[int] = []
    for p in range(bound - 1, 10, -1):
        if len(found) == count:
            break
        if is_safe_with_primitive_two(p):
            found.append(p)
    return found
