"""One right-hand side of the readout by p-adic lifting without clearing the softmax (ours).

The unknown is x with Z[:, C] x = y, where row t reads, with S_th = Σ_i 2^k_thi,

    Σ_h w_th = y_t,        S_th w_th = Σ_i 2^k_thi a_thi,        a_thi = Σ_{j ∈ C_h} E_tij x_hj.

Clearing denominators would multiply every entry of row t by all the other S_th: T² numbers of a
thousand bits. Dixon's lifting needs Z modulo one small prime only, and integer *carries*. With the
w_th as further unknowns every equation has its own carry, hardly longer than S_th:

    x ≡ Z⁻¹ (r - Σ_h c/S),   w ≡ (c + Σ_i 2^k_i a_i)/S   mod p,
    c ← (c + Σ_i 2^k_i (a_i - w))/p,   r ← (r - Σ_h w)/p                          one digit of x, w.

A digit costs T² products of residues, T·n·d·H small ones and one pass over the carries.

From x mod p^K, the common denominator D is that of a random combination of the entries (rational
reconstruction, by FLINT's LLL); the numerators are D·x mod p^K. That these solve the system is then
*proved by size*: multiplied by Π_h S_th, row t is an equation between integers that holds mod p^K,
and both sides are less than p^K / 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm
from typing import Any

import numpy as np
from flint import fmpq, fmpz, fmpz_mat, nmod_mat
from gmpy2 import gcd, mpz

from attncert.constructions.arrays import (
    DigitArray,
    IntArray,
)
from attncert.constructions.construction import BuiltLayer
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.exact import integers
from attncert.constructions.layer import integer_logits
from attncert.constructions.progress import Progress, silent
from attncert.constructions.readout.lifting_system import LIMB, PRIME, System

_EXACT = 2**52  # bound for sums of products in float64
_MARGIN = 128  # bits by which a reconstruction must be shorter than a random one
_FIRST, _FURTHER = 1.5, 0.08  # first and further attempts, as multiples of the predicted bits
_CHUNK = 256  # digits between two calls of `progress`
_SMALL = lcm(*range(1, 64))


def lifted(
    construction: BuiltLayer,
    data: Dataset,
    right: list[int],
    bits: int,
    progress: Progress = silent,
) -> list[fmpq] | None:
    """The solution of Z[:, C] x = right (T integers), at the pivots head by head, exact; None if
    this method does not apply.

    bits: an estimate for the numbers of x; a bad guess only costs time.
    """
    start = _start(construction, data, right)
    solution = None if start is None else _solve(*start, data.T, bits, progress)
    if solution is None:
        return None
    numerators, denominator = solution
    return [fmpq(fmpz(int(x)), fmpz(int(denominator))) for x in numerators]


_Fractions = tuple[list[Any], Any]  # numerators, and their common denominator


def _solve(system: System, beyond: int, T: int, bits: int, progress: Progress) -> _Fractions | None:
    from attncert.constructions.readout.lifting_compiled import lift

    rng = np.random.default_rng(0)
    digits = np.zeros((0, T), dtype=np.uint32)
    count = int(_FIRST * bits) // LIMB + 16
    while count * LIMB < 8 * bits + 2**20:
        further = [digits]
        for start in range(len(digits), count, _CHUNK):
            progress(start, count)
            further.append(np.zeros((min(_CHUNK, count - start), T), dtype=np.uint32))
            if not lift(further[-1], system):
                return None
        digits = np.vstack(further)
        denominator = _denominator(digits, rng.integers(1, 2**16, T))
        if denominator is not None:
            solution = _numerators(digits, denominator, beyond)
            if solution is not None:
                return solution
        count += int(_FURTHER * bits) // LIMB + 16
    return None


def _denominator(digits: DigitArray, weights: IntArray) -> Any | None:
    """A common denominator of x, if the digits suffice to find one.

    It is that of a random combination Σ weights·x, which may lack small primes that cancel.
    """
    modulus = mpz(PRIME) ** len(digits)
    mixed = join_digits((digits.astype(np.int64) @ weights).tolist(), PRIME)  # below 2^62
    denominator = common_denominator(mixed % modulus, modulus, _MARGIN)
    return None if denominator is None else denominator * _SMALL


def _numerators(digits: DigitArray, denominator: Any, beyond: int) -> _Fractions | None:
    """x = D·x / D if the numerators are so short that they solve the system: proved by size.

    They have about as many bits as D, so fewer digits may suffice.
    """
    enough = (denominator.bit_length() + beyond + _MARGIN) // (LIMB - 1)
    used = digits[: min(len(digits), enough + enough // 16)]
    modulus = mpz(PRIME) ** len(used)
    limit = modulus >> (beyond + 1)
    if denominator > limit:
        return None
    numerators, common = [], mpz(_SMALL)
    wide = used.astype(np.int64)
    pairs = wide[::2]  # digits base p²
    pairs[: len(wide) // 2] += wide[1::2] * PRIME
    for column in pairs.T.tolist():
        x = join_digits(column, PRIME**2) * denominator % modulus
        x = x - modulus if 2 * x > modulus else x
        if abs(x) > limit:
            return None
        numerators.append(x)
        common = gcd(common, x)
    common = gcd(common, denominator)
    return [x // common for x in numerators], denominator // common


def join_digits(digits: Sequence[int], base: int) -> Any:
    """Σ_k digits[k]·base^k, by halves: quasi-linear.

    >>> join_digits([1, 2, 3], 10)
    mpz(321)
    """
    parts, power = [mpz(x) for x in digits], mpz(base)
    while len(parts) > 1:
        if len(parts) % 2:
            parts.append(mpz(0))
        parts = [low + high * power for low, high in zip(parts[::2], parts[1::2], strict=True)]
        power *= power
    return parts[0] if parts else mpz(0)


def common_denominator(x: Any, modulus: Any, margin: int) -> Any | None:
    """The D > 0 of the fraction N/D ≡ x with N and D shorter than √m by margin/2 bits, or None.

    N/D mod m = x means that (N, D) is in the lattice spanned by (m, 0) and (x, 1), whose shortest
    vector has about half the bits of m for a random x.

    >>> p = mpz(10) ** 60
    >>> common_denominator(-22 * mpz(7).__pow__(-1, p) % p, p, 20)
    mpz(7)
    """
    short = fmpz_mat([[int(modulus), 0], [int(x), 1]]).lll()
    numerator, denominator = abs(mpz(int(short[0, 0]))), abs(mpz(int(short[0, 1])))
    size = numerator.bit_length() + denominator.bit_length()
    if not denominator or size + margin > modulus.bit_length():
        return None
    return denominator // gcd(numerator, denominator)


def _start(construction: BuiltLayer, data: Dataset, right: list[int]) -> tuple[System, int] | None:
    """The system before the first digit, and the number of bits by which both sides of a row, times
    Π_h S_th, may exceed x; None if the prime or the sizes do not allow this method."""
    p = PRIME
    T, n, heads = data.T, data.n, construction.heads
    numerators = data.contexts.numerators
    largest = integers.largest(numerators)
    scaled = [y * data.contexts.denominator for y in right]
    if data.ragged or largest * p * data.d * n >= _EXACT or n > 64:
        return None
    if max(map(abs, scaled), default=0) >= 2**50:
        return None
    tables = [integer_logits(head, data) for head in construction.layer.heads[: len(heads)]]
    shifts = [[k - min(table[t]) for k in table[t]] for t in range(T) for table in tables]
    if max(map(max, shifts)) >= 2**31:
        return None
    exponents = np.array(shifts, dtype=np.int64)
    powers = np.array([[pow(2, k, p) for k in row] for row in shifts], dtype=np.int64)
    sums = powers.sum(axis=1) % p
    if not sums.all():
        return None
    inverses = np.array([pow(int(s), -1, p) for s in sums], dtype=np.int64)
    ranges = exponents.max(axis=1)
    growth = (4 * n * (largest * data.d + 2)).bit_length()
    sizes = np.maximum((ranges + growth) // LIMB, ranges // LIMB + 1) + 2
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    limb_powers = np.array([pow(2, LIMB * k, p) for k in range(int(sizes.max()))], np.int64)
    owner = np.array([h for h, head in enumerate(heads) for _ in head.pivots])
    columns = np.array([j for head in heads for j in head.pivots])
    softmax = (powers * inverses[:, None] % p).reshape(T, len(heads), n)
    table = np.zeros((T, T), dtype=np.int64)
    for i in range(n):
        table += softmax[:, owner, i] * (numerators[:, i, columns] % p) % p
    inverse = _inverse(table % p, p)
    if inverse is None:
        return None
    system = System(
        inverse,
        numerators.astype(np.float64),
        owner,
        columns,
        exponents,
        powers,
        inverses,
        offsets,
        np.zeros(int(offsets[-1]), dtype=np.int32),
        limb_powers,
        np.zeros(len(shifts), dtype=np.int64),
        np.array(scaled, dtype=np.int64),
    )
    row_bits = (ranges + n.bit_length()).reshape(T, -1).sum(axis=1)
    labels = max(map(abs, scaled), default=0)
    beyond = int(row_bits.max()) + largest.bit_length() + labels.bit_length() + T.bit_length() + 2
    return system, beyond


def _inverse(table: IntArray, p: int) -> DigitArray | None:
    """The inverse mod p, uint32; None if the matrix has none."""
    try:
        inverse = nmod_mat(*table.shape, table.ravel().tolist(), p).inv()
    except ZeroDivisionError:
        return None
    return np.array([int(x) for x in inverse.entries()], dtype=np.uint32).reshape(table.shape)
