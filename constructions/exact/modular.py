"""Features modulo a prime: 2^k mod p needs no long numbers, whatever the size of k.

The builders use one small prime to decide, while they build, whether rows are independent. A rank
mod p never exceeds the rank over Q, so "independent mod p" is exact; "dependent mod p" may be bad
luck (about 1 in p). A better candidate is then missed, but no answer is wrong: verify/ proves the
result again, from the data and the weights alone.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from flint import nmod_mat

from attncert.constructions.arrays import FloatArray, IntArray, IntegerArray
from attncert.constructions.exact.primes import PRIMES_21

_TERMS = 2**53 // (2**21 * 2**21)
DROP = 1100  # a float weight is 0 if its logit is this many bits below the largest


class UnluckyPrime(ArithmeticError):
    """No row is independent mod p, but some row is over Q. Another prime is needed."""


class SumVanishes(UnluckyPrime):
    """A softmax denominator is 0 mod p: features are undefined there. Another prime is needed."""


def matmul_mod(a: FloatArray, b: FloatArray, p: int) -> FloatArray:
    """a·b mod p for float64 arrays of residues in [0, p); exact.

    Each partial sum has at most 2^11 terms below 2^42: it stays below 2^53 and is exact.
    """
    if a.shape[1] <= _TERMS:
        return reduced(a @ b, p)
    total = np.zeros((a.shape[0], b.shape[1]))
    for start in range(0, a.shape[1], _TERMS):
        total += reduced(a[:, start : start + _TERMS] @ b[start : start + _TERMS], p)
    return reduced(total, p)


def reduced(integral: FloatArray, p: int) -> FloatArray:
    """Integers held in float64, below 2^53 - 2p in absolute value, reduced mod p >= 3; exact.

    x/p is rounded by less than 1/2, so its floor q is off by at most 1; q·p and x - q·p are
    integers below 2^53, hence exact, and adding or subtracting p corrects for q. (A remainder in
    int64 takes twice as long, and one in float64 twenty times as long.)
    """
    rest = np.floor(integral * (1 / p))
    rest *= -p
    rest += integral
    np.add(rest, p, out=rest, where=rest < 0)
    np.subtract(rest, p, out=rest, where=rest >= p)
    return rest


def residues(integers: IntegerArray, p: int) -> FloatArray:
    """Integers (int64 or object) as float64 residues in [0, p)."""
    return np.mod(integers, p).astype(np.float64)


def row_reduced(table: FloatArray, p: int) -> tuple[nmod_mat, list[int]]:
    """The reduced row echelon form of residues (float64) modulo p, and its pivot columns.

    >>> row_reduced(np.array([[2.0, 4.0, 1.0], [1.0, 2.0, 3.0], [3.0, 6.0, 4.0]]), 7)
    ([1, 2, 0]
    [0, 0, 1]
    [0, 0, 0], [0, 2])
    """
    form, rank = modular(table, p).rref()
    pivots: list[int] = []
    for i in range(rank):
        j = pivots[-1] + 1 if pivots else 0
        while not form[i, j]:
            j += 1
        pivots.append(j)
    return form, pivots


def modular(table: FloatArray, p: int) -> nmod_mat:
    """Residues (float64) as a FLINT matrix."""
    return nmod_mat(*table.shape, table.astype(np.int64).ravel().tolist(), p)


def inverse_mod(values: IntArray, p: int) -> IntArray:
    """Entrywise inverse of nonzero residues (int64); if there are many, as a^(p-2) (Fermat)."""
    if values.size < 64:
        few = [pow(x, -1, p) for x in values.ravel().tolist()]
        return np.array(few, dtype=np.int64).reshape(values.shape)
    inverses, power, exponent = np.ones_like(values), values.copy(), p - 2
    while exponent:
        if exponent & 1:
            inverses = inverses * power % p
        power = power * power % p
        exponent >>= 1
    return inverses


def monic_mod(rows: IntArray, p: int) -> IntArray:
    """Each row of residues (N, d), p below 2^31.5, divided by its first nonzero entry; zero rows
    are kept.

    Two rows are multiples of each other mod p if and only if the results are equal.

    >>> monic_mod(np.array([[2, 4], [3, 6], [0, 5], [0, 0]]), 7).tolist()
    [[1, 2], [1, 2], [0, 1], [0, 0]]
    """
    first = rows[np.arange(len(rows)), (rows != 0).argmax(axis=1)]
    return rows * inverse_mod(np.maximum(first, 1), p)[:, None] % p


def softmax_mod(logits: IntegerArray, p: int, times: IntArray | None = None) -> FloatArray:
    """2^(k_ti) / Σ_i 2^(k_ti) mod p.

    logits: (T, n) integers of any size; times: (T or 1, n), how often each token counts; None:
    once. Returns (T, n) residues (float64). Raises SumVanishes if a denominator is 0 mod p.
    """
    low, high = _powers(p)
    exponents = np.mod(logits, p - 1).astype(np.int64)
    weights = low[exponents % len(low)] * high[exponents // len(low)] % p
    if times is not None:
        weights = weights * times % p
    sums = weights.sum(axis=1) % p
    if not sums.all():
        raise SumVanishes(p)
    weights = weights * inverse_mod(sums, p)[:, None] % p
    return weights.astype(np.float64)


def softmax_float(logits: IntegerArray, times: IntArray | None = None) -> FloatArray:
    """2^k / Σ 2^k in float64, (T, n), with each token counted `times` times. It is not evidence."""
    drop = np.minimum(logits.max(axis=1, keepdims=True) - logits, DROP).astype(np.float64)
    weights = np.exp2(-drop)
    if times is not None:
        weights *= times
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def mix(weights: FloatArray, contexts: FloatArray, p: int | None) -> FloatArray:
    """Σ_i weight_ti E_ti, (T, d), of residues mod p, or of floats. contexts: (T or 1, n, d)."""
    if len(contexts) == 1:
        return weights @ contexts[0] if p is None else matmul_mod(weights, contexts[0], p)
    if p is None:
        return np.matmul(weights[:, None, :], contexts)[:, 0, :]
    total = np.zeros((len(weights), contexts.shape[2]))
    for start in range(0, contexts.shape[1], _TERMS):
        part = slice(start, start + _TERMS)
        total += reduced(np.matmul(weights[:, None, part], contexts[:, part, :])[:, 0, :], p)
    return reduced(total, p)


@lru_cache(maxsize=len(PRIMES_21))
def _powers(p: int) -> tuple[IntArray, IntArray]:
    """2^i and 2^(Bi) mod p for 0 ≤ i < B, B² ≥ p. Every 2^k is a product of one of each kind."""
    steps = math.isqrt(p) + 1
    return _geometric(2, steps, p), _geometric(pow(2, steps, p), steps, p)


def _geometric(base: int, terms: int, p: int) -> IntArray:
    """base^i mod p for 0 ≤ i < terms, by doubling."""
    powers = np.ones(1, np.int64)
    while len(powers) < terms:
        powers = np.concatenate([powers, powers * pow(base, len(powers), p) % p])
    return powers[:terms]
