"""The inner loops of constructions/readout/lifting.py, compiled: one digit of the solution.

Limbs have LIMB bits, and the prime p is below 2^LIMB: a product of two residues stays below 2^56,
and a sum of 128 fits in 64 bits. Both are constants here, so that remainders need no division.
"""

from __future__ import annotations

import numba
import numpy as np

from attncert.constructions.arrays import DigitArray, FloatArray
from attncert.constructions.readout.lifting_system import LIMB, PRIME, System

_INVERSE = pow(PRIME, -1, 1 << LIMB)
_EXACTLY = pow(PRIME, -1, 1 << 64)  # multiplying by it divides by p; below 2^63
_MASK = (1 << LIMB) - 1
_TERMS, _FEW = 128, 32  # products of residues added up before they are reduced


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def solve(digit: DigitArray, system: System) -> None:
    """Fill `digit` (T,) with x ≡ Z⁻¹ (r - Σ c/S) mod p."""
    inverse, sum_inverses = system.inverse, system.sum_inverses
    carries_mod, residuals = system.carries_mod, system.residuals
    p, T = PRIME, len(residuals)
    H = len(carries_mod) // T
    right = np.zeros(T, dtype=np.uint32)
    for t in range(T):
        total = np.int64(0)
        for h in range(H):
            total += sum_inverses[t * H + h] * carries_mod[t * H + h]
            if h % _TERMS == _TERMS - 1:
                total %= p
        right[t] = np.uint32((residuals[t] - total % p) % p)
    for j in range(T):
        total_u = np.uint64(0)
        for start in range(0, T, _TERMS):
            part = np.uint64(0)
            for t in range(start, min(T, start + _TERMS)):
                part += np.uint64(inverse[j, t]) * np.uint64(right[t])
            total_u += part % np.uint64(p)
        digit[j] = np.uint32(total_u % np.uint64(p))


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def carry(mixed: FloatArray, system: System) -> bool:
    """Update the residuals and carries in place after a digit: c ← (c + Σ 2^k (a - w))/p, exactly.

    mixed (T or 1, n, H): the integers a_thi of this digit. Returns False if a carry did not fit its
    limbs; then the digits are not valid.
    """
    shifts, powers, sum_inverses, sums, carries = system[4:9]
    offsets, limbs, limb_powers, carries_mod, residuals = system[9:]
    p, T, (count, n, H) = PRIME, len(residuals), mixed.shape
    room = np.zeros(len(limb_powers), dtype=np.int64)
    for t in range(T):
        at = t if count > 1 else 0
        spent = np.int64(0)
        for h in range(H):
            q = t * H + h
            if sums[q]:  # all fits in 64 bits
                total = carries[q]
                for i in range(n):
                    total += np.int64(mixed[at, i, h]) << shifts[q, i]
                w = total % p * sum_inverses[q] % p
                total = (total - w * sums[q]) * _EXACTLY
                carries[q] = total
                carries_mod[q] = total % p
                spent += w
                continue
            residue = carries_mod[q]
            for i in range(n):
                x = mixed[at, i, h]
                residue += np.int64(x - np.floor(x / p) * p) * powers[q, i]
                if i % _FEW == _FEW - 1:
                    residue %= p
            w = (residue % p) * sum_inverses[q] % p
            spent += w
            begin, size = offsets[q], offsets[q + 1] - offsets[q]
            for k in range(size):
                room[k] = limbs[begin + k]
            for i in range(n):
                a = np.int64(mixed[at, i, h]) - w
                place = shifts[q, i] // LIMB
                by = shifts[q, i] - place * LIMB
                room[place] += (a & _MASK) << by
                room[place + 1] += (a >> LIMB) << by
            state, residue, since = np.int64(0), np.int64(0), 0
            for k in range(size - 1):
                state += room[k]
                quotient = (state * _INVERSE) & _MASK
                state = (state - quotient * p) >> LIMB
                limbs[begin + k] = np.int32(quotient)
                residue += quotient * limb_powers[k]
                since += 1
                if since == _TERMS - 2:
                    residue %= p
                    since = 0
            state += room[size - 1]  # the rest: p times the sign, 0 or -1
            sign = state // p
            if sign * p != state or (sign != 0 and sign != -1):
                return False
            limbs[begin + size - 1] = np.int32(sign)
            carries_mod[q] = (residue % p + sign * limb_powers[size - 1]) % p
        residuals[t] = (residuals[t] - spent) // p
    return True
