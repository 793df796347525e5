"""One right-hand side of the readout by p-adic lifting that keeps the softmax in pieces (ours).

Wanted is x with Z[:, C] x = y, where row t reads, with S_th = Σ_i 2^k_thi,

    Σ_h w_th = y_t,        S_th w_th = Σ_i 2^k_thi a_thi,        a_thi = Σ_{j ∈ C_h} E_tij x_hj.

Clearing denominators would multiply every entry of row t by all the other S_th: T² numbers of a
thousand bits. Dixon's lifting needs Z modulo one small prime only, and integer *carries*. With w_th
as unknowns of their own every equation has its own carry, hardly longer than S_th:

    x ≡ Z⁻¹ (r - Σ_h c/S),   w ≡ (c + Σ_i 2^k_i a_i)/S   mod p,
    c ← (c + Σ_i 2^k_i (a_i - w))/p,   r ← (r - Σ_h w)/p                          one digit of x, w.

All heads that attend uniformly at t share S = n, and share one carry. A digit costs T² products of
residues, T·n·d·H small ones and one pass over the carries.

From x mod p^K, the common denominator D is that of a random combination of the entries (rational
reconstruction, constructions/reconstruction.py); the numerators are D·x mod p^K. That these solve
the system is then *proved by size*: multiplied by Π_h S_th, row t is an equation between integers
that holds mod p^K, and both sides are less than p^K / 2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import fmpz, nmod_mat
from gmpy2 import mpz

from constructions import integers
from constructions.construction import Construction
from constructions.dataset import Dataset
from constructions.layer import integer_logits
from constructions.reconstruction import common_denominator, join_digits

__all__ = ["PRIMES", "Solution", "lifted"]

PRIMES = (268435399, 268435367, 268435361)  # the largest below 2^28
_STEP_BITS = 28
_EXACT = 2**52  # sums of products that float64 holds
_MARGIN = 128  # bits by which a reconstruction must be shorter than chance would have it
_FIRST = 1.2  # first attempt, in multiples of the predicted bits of x; then in steps of
_FURTHER = 0.16


@dataclass(frozen=True)
class Solution:
    """x = numerators / denominator, at the pivots head by head."""

    numerators: list[Any]
    denominator: Any


def lifted(
    construction: Construction,
    data: Dataset,
    right: list[int],
    bits: int,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> Solution | None:
    """The solution of Z[:, C] x = right (T integers), exact; None where this method does not apply.

    bits: about how many x has; a bad guess only costs time.
    """
    for prime in PRIMES:
        state = _start(construction, data, right, prime)
        if state is not None:
            return _solve(state, right, bits, progress)
    return None


@dataclass(frozen=True)
class _State:
    """What the kernel works on: its arguments after `digits`, and the bits of the row factors."""

    prime: int
    arguments: tuple[Any, ...]
    row_bits: int
    entry_bits: int


def _solve(
    state: _State, right: list[int], bits: int, progress: Callable[[int, int], None]
) -> Solution | None:
    from constructions.lifting_kernel import lift

    p, T = state.prime, len(right)
    known = [np.zeros((0, T), dtype=np.uint32)]
    wanted = int(_FIRST * bits) // (_STEP_BITS - 1) + 16
    label_bits = max(abs(y) for y in right).bit_length()
    rng = np.random.default_rng(0)
    while True:
        count = sum(map(len, known))
        while count < wanted:
            progress(count, wanted)
            digits = np.zeros((min(256, wanted - count), T), dtype=np.uint32)
            if not lift(digits, p, *state.arguments):
                return None
            known.append(digits)
            count += len(digits)
        known = [np.vstack(known)]
        weights = [int(w) for w in rng.integers(1, 2**16, T)]
        found = _numerators(p, known[0], weights)
        if found is not None:
            size = max(max(abs(x) for x in found.numerators).bit_length(), 1)
            left = state.entry_bits + size + T.bit_length()
            both = max(left, label_bits + found.denominator.bit_length()) + 2 + state.row_bits
            if both < (_STEP_BITS - 1) * count:  # p > 2^27: the proof by size
                return found
        if count * (_STEP_BITS - 1) > 8 * bits + 2**20:
            return None
        wanted = count + int(_FURTHER * bits) // _STEP_BITS + 16


def _numerators(p: int, digits: np.ndarray, weights: list[int]) -> Solution | None:
    """x from its digits, if their number is enough."""
    count = len(digits)
    mixed = join_digits([int(x) for x in digits.astype(object) @ np.array(weights, object)], p)
    modulus = mpz(p) ** count
    denominator = common_denominator(mixed % modulus, modulus, _MARGIN)
    if denominator is None:
        return None
    numerators = []
    for column in digits.T.tolist():
        x = join_digits(column, p) * denominator % modulus
        numerators.append(x - modulus if 2 * x > modulus else x)
    return Solution(numerators, denominator)


def _start(
    construction: Construction, data: Dataset, right: list[int], p: int
) -> _State | None:
    """The state before the first digit; None where p or the sizes do not allow it."""
    T, n, heads = data.T, data.n, construction.heads
    numerators = data.contexts.numerators
    largest = integers.largest(numerators)
    scaled = [y * data.contexts.denominator for y in right]
    if largest * p * data.d * max(len(heads), n) >= _EXACT or n > 64:
        return None
    if max(map(abs, scaled), default=0) >= 2**50:
        return None
    first, head_of, shifts = [0], list[int](), list[list[int]]()
    tables = [
        integer_logits(layer_head, data)
        for layer_head, _ in zip(construction.layer.heads, heads, strict=False)
    ]
    for t in range(T):
        rows = [[k - min(table[t]) for k in table[t]] for table in tables]
        own = [h for h, row in enumerate(rows) if any(row)]
        if len(own) < len(rows):
            head_of.append(-1)
            shifts.append([0] * n)
        head_of += own
        shifts += [rows[h] for h in own]
        first.append(len(head_of))
    if max(map(max, shifts)) >= 2**31:
        return None
    exponents = np.array(shifts, dtype=np.int64)
    powers = np.array([[pow(2, k, p) for k in row] for row in shifts], dtype=np.int64)
    sums = powers.sum(axis=1) % p
    if not sums.all():
        return None
    inverses = np.array([pow(int(s), -1, p) for s in sums], dtype=np.int64)
    ranges = exponents.max(axis=1)
    growth = (4 * n * (largest * data.d * len(heads) + 2)).bit_length()
    sizes = np.maximum((ranges + growth) // _STEP_BITS, ranges // _STEP_BITS + 1) + 2
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    limb_powers = np.array([pow(2, _STEP_BITS * k, p) for k in range(int(sizes.max()))], np.int64)
    owner = np.array([h for h, head in enumerate(heads) for _ in head.pivots])
    columns = np.array([j for head in heads for j in head.pivots])
    weights = powers * inverses[:, None] % p
    inverse = _inverse_of_features(weights, first, head_of, numerators, owner, columns, p)
    if inverse is None:
        return None
    row_of = np.repeat(np.arange(T), np.diff(first))
    row_bits = np.bincount(row_of, ranges + n.bit_length(), T)
    arguments = (
        pow(p, -1, 1 << _STEP_BITS),
        inverse,
        numerators.astype(np.float64),
        owner,
        columns,
        np.array(first),
        np.array(head_of),
        exponents,
        powers,
        inverses,
        offsets,
        np.zeros(int(offsets[-1]), dtype=np.int32),
        limb_powers,
        np.zeros(len(head_of), dtype=np.int64),
        np.array(scaled, dtype=np.int64),
    )
    return _State(p, arguments, int(row_bits.max()), largest.bit_length())


def _inverse_of_features(
    weights: np.ndarray,
    first: list[int],
    head_of: list[int],
    contexts: np.ndarray,
    owner: np.ndarray,
    columns: np.ndarray,
    p: int,
) -> np.ndarray | None:
    """Z[:, C]⁻¹ mod p, (T, T) uint32; None if there is none."""
    T = len(first) - 1
    table = np.zeros((T, T), dtype=np.int64)
    uniform = pow(contexts.shape[1], -1, p)
    for t in range(T):
        context = contexts[t if len(contexts) > 1 else 0] % p
        by_head = np.full((int(owner.max()) + 1, contexts.shape[1]), uniform, dtype=np.int64)
        for q in range(first[t], first[t + 1]):
            if head_of[q] >= 0:
                by_head[head_of[q]] = weights[q]
        for i in range(contexts.shape[1]):
            table[t] = (table[t] + by_head[owner, i] * context[i, columns]) % p
    matrix = nmod_mat(T, T, table.ravel().tolist(), p)
    try:
        inverse = matrix.inv()
    except ZeroDivisionError:
        return None
    return np.array([int(x) for x in inverse.entries()], dtype=np.uint32).reshape(T, T)


def as_flint(x: Any) -> fmpz:
    """A gmpy2 integer as a FLINT one, by way of its hexadecimal digits."""
    return fmpz(int(x))
