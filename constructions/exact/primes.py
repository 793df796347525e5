"""Primes for rank certificates, and a proof that 2 has large order modulo them.

Any prime that divides no denominator gives a sound certificate: rank k modulo p implies rank at
least k over Q. But a careless choice of prime loses *completeness*. The features of a layer are
quotients of powers of two, and powers of two take at most ord_p(2) different values modulo p; if
that order is small, ranks are too low. The Mersenne prime 2^61 - 1 is such a choice: 2 has order 61
there.

For a *safe* prime p = 2q + 1 (q an odd prime), the order of 2 divides 2q and is neither 1 nor 2
(p > 3), so it is q or 2q; by the second supplement to quadratic reciprocity it is 2q, that is, 2
is a primitive root, exactly when p = 3 mod 8 (p = 5 mod 8 would make q even). All constants below
are of this kind, so that the order is *proved* to be p - 1; the tests recompute it with SymPy by
factoring p - 1.
"""

from __future__ import annotations

from flint import fmpz

PRIME_FLOAT32 = 1019
"""The prime for elimination in float32: a sum of 56 products of residues stays below 2^24."""

PRIMES_21 = (2096867, 2095547, 2094683)
"""The primes for builders in float64: a sum of 2048 products of residues stays below 2^53."""

PRIMES_FLOAT64 = (11863067, 11861363, 11859923)
"""The primes for elimination in float64: a sum of 256 products of residues stays below 2^53."""

PRIMES_31 = (2147483579, 2147483123, 2147482763)
"""The three largest safe primes below 2^31 with 2 as a primitive root: products fit in 64-bit
integers."""

PRIME_62 = 4611686018427377339
"""The largest safe prime below 2^62 with 2 as a primitive root, for FLINT's one-word arithmetic."""


def is_safe_with_primitive_two(p: int) -> bool:
    """Whether p and (p - 1)/2 are odd primes, with 2 a primitive root modulo p.

    >>> [p for p in range(200) if is_safe_with_primitive_two(p)]
    [11, 59, 83, 107, 179]
    """
    return p > 7 and p % 8 == 3 and fmpz(p).is_prime() and fmpz(p // 2).is_prime()


def safe_primes_below(bound: int, count: int) -> list[int]:
    """The `count` largest safe primes below `bound` with primitive root 2, largest first.

    >>> safe_primes_below(2**31, 3) == list(PRIMES_31)
    True
    """
    primes: list[int] = []
    for p in range(bound - 1, 10, -1):
        if len(primes) == count:
            break
        if is_safe_with_primitive_two(p):
            primes.append(p)
    return primes
