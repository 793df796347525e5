"""One right-hand side of the readout by p-adic lifting without clearing denominators (ours).

The unknown is x with Z[:, C] x = y, where row t reads, with S_th = Σ_i 2^k_thi,

    Σ_h w_th = y_t,        S_th w_th = Σ_i 2^k_thi a_thi,        a_thi = Σ_{j ∈ C_h} E_tij x_hj.

Clearing denominators would multiply every entry of row t by all the other S_th, giving T² numbers
of a thousand bits. Dixon's lifting needs Z only modulo one small prime, and integer *carries*. With
the w_th as further unknowns, every equation has its own carry, hardly longer than S_th:

    x ≡ Z⁻¹ (r - Σ_h c/S),   w ≡ (c + Σ_i 2^k_i a_i)/S   mod p,
    c ← (c + Σ_i 2^k_i (a_i - w))/p,   r ← (r - Σ_h w)/p                          one digit of x, w.

Each digit costs T² products of residues, T·n·d·H small products and one pass over the carries.

From x mod p^K, the common denominator D is that of two random combinations of the entries, whose
numerators and denominator together are a short vector of a lattice (FLINT's LLL): p^K need only be
half as long again as D, not twice as long, as it would for one fraction. The numerators are D·x mod
p^K. That these solve the system is then *proved by size*: multiplied by Π_h S_th, row t is an
equation between integers that holds mod p^K, and both sides are less than p^K / 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm
from typing import Any

import numpy as np
from flint import fmpq, fmpz, fmpz_mat, fmpz_poly, nmod_mat
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
_FIRST, _FURTHER = 1.3, 0.08  # first and further attempts, as multiples of the predicted bits
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

    bits: an estimate of the length of x; a bad guess only costs time.
    """
    start = _start(construction, data, right)
    solution = None if start is None else _solve(*start, data.T, bits, progress)
    if solution is None:
        return None
    numerators, denominator = solution
    return [fmpq(fmpz(int(x)), fmpz(int(denominator))) for x in numerators]


_Fractions = tuple[list[Any], Any]  # numerators, and their common denominator


def _solve(system: System, beyond: int, T: int, bits: int, progress: Progress) -> _Fractions | None:
    rng = np.random.default_rng(0)
    digits = np.zeros((0, T), dtype=np.uint32)
    count = int(_FIRST * bits) // LIMB + 16
    while count * LIMB < 8 * bits + 2**20:
        further = [digits]
        for start in range(len(digits), count, _CHUNK):
            progress(start, count)
            further.append(np.zeros((min(_CHUNK, count - start), T), dtype=np.uint32))
            if not _lift(further[-1], system):
                return None
        digits = np.vstack(further)
        denominator = _denominator(digits, rng.integers(1, 2**16, (T, 2)))
        if denominator is not None:
            solution = _numerators(digits, denominator, beyond)
            if solution is not None:
                return solution
        count += int(_FURTHER * bits) // LIMB + 16
    return None


def _lift(digits: DigitArray, system: System) -> bool:
    """Fill `digits` (K, T) with the next K digits of x, and update the system. Returns False if a
    carry did not fit."""
    from attncert.constructions.readout.lifting_compiled import carry, solve

    count, n, d = system.contexts.shape
    H = len(system.sums) // len(system.residuals)
    rows, x = system.contexts.reshape(-1, d), np.zeros((d, H))
    for digit in digits:
        solve(digit, system)
        x[system.columns, system.heads] = digit
        if not carry((rows @ x).reshape(count, n, H), system):
            return False
    return True


def _denominator(digits: DigitArray, weights: IntArray) -> Any | None:
    """A common denominator of x, if the digits suffice to find one.

    It is the denominator of random combinations Σ weights·x, one for each column of the weights,
    and may lack small primes that cancel.
    """
    modulus = mpz(PRIME) ** len(digits)
    mixed = (digits.astype(np.int64) @ weights).T.tolist()  # below 2^62
    values = [join_digits(column, PRIME) % modulus for column in mixed]
    denominator = common_denominator(values, modulus, _MARGIN)
    return None if denominator is None else denominator * _SMALL


def _numerators(digits: DigitArray, denominator: Any, beyond: int) -> _Fractions | None:
    """x = D·x / D if the numerators are short enough to prove that they solve the system."""
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
    """Σ_k digits[k]·base^k, by divide and conquer in quasi-linear time (FLINT).

    >>> join_digits([1, 2, 3], 10)
    mpz(321)
    """
    return mpz(int(fmpz_poly(digits)(fmpz(base))))


def common_denominator(values: Sequence[Any], modulus: Any, margin: int) -> Any | None:
    """The D > 0 of k fractions N_i/D ≡ values[i] mod m, or None if (N_1, ..., N_k, D) is not
    shorter than a random vector by `margin` bits in total.

    It is in the lattice spanned by (0, ..., m, ..., 0) and (values, 1), of determinant m^k. For
    random values, the shortest vector has about k/(k+1) of the bits of m.

    >>> p = mpz(10) ** 40
    >>> values = [N * mpz(7).__pow__(-1, p) % p for N in (-22, 5)]
    >>> common_denominator(values, p, 20)
    mpz(7)
    """
    k = len(values)
    rows = [[int(modulus) * (i == j) for j in range(k + 1)] for i in range(k)]
    short = fmpz_mat([*rows, [*map(int, values), 1]]).lll().tolist()[0]
    *numerators, denominator = (abs(mpz(int(x))) for x in short)
    longest = max(x.bit_length() for x in (*numerators, denominator))
    if not denominator or (k + 1) * longest + margin > k * modulus.bit_length():
        return None
    return denominator // gcd(denominator, *numerators)


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
    residues = powers.sum(axis=1) % p
    if not residues.all():
        return None
    inverses = np.array([pow(int(s), -1, p) for s in residues], dtype=np.int64)
    ranges = exponents.max(axis=1)
    growth = (4 * n * (largest * data.d + 2)).bit_length()
    short = ranges + growth + LIMB < 64  # |c + Σ 2^k a| < 2^(range + growth - 2) p < 2^62
    sums = np.where(short, (1 << np.where(short[:, None], exponents, 0)).sum(axis=1), 0)
    sizes = np.maximum((ranges + growth) // LIMB, ranges // LIMB + 1) + 2
    sizes[short] = 0
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    limb_powers = np.array([pow(2, LIMB * k, p) for k in range(int(sizes.max()) or 1)], np.int64)
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
        sums,
        np.zeros(len(shifts), dtype=np.int64),
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
