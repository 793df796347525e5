"""The inner loop of constructions/readout/lifting.py, compiled: digits of the solution, base PRIME.

Limbs have LIMB bits, and the prime p is below 2^LIMB: a product of two residues stays below 2^56,
and a sum of 128 fits in 64 bits. Both are constants here, so that no remainder costs a division.
"""

from __future__ import annotations

import numba
import numpy as np

from attncert.constructions.arrays import DigitArray
from attncert.constructions.readout.lifting_system import LIMB, PRIME, System

_INVERSE = pow(PRIME, -1, 1 << LIMB)
_MASK = (1 << LIMB) - 1
_TERMS = 128  # products of residues added up before they are reduced


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def lift(digits: DigitArray, system: System) -> bool:
    """Fill `digits` (K, T) with the next K digits of x; the state in `system` is updated in place.

    False if a carry did not fit its limbs: then the digits are not valid.
    """
    inverse, contexts, heads, columns, shifts, powers, sum_inverses = system[:7]
    offsets, limbs, limb_powers, carries_mod, residuals = system[7:]
    p = PRIME
    T = len(residuals)
    count, n, d = contexts.shape
    H = len(shifts) // T
    right = np.zeros(T, dtype=np.uint32)
    x = np.zeros((d, H))
    moved = np.zeros((n, H))
    widest = 1
    for q in range(len(shifts)):
        widest = max(widest, offsets[q + 1] - offsets[q])
    room = np.zeros(widest, dtype=np.int64)
    for step in range(len(digits)):
        for t in range(T):  # right = y - Σ c/S mod p
            total = np.int64(0)
            for h in range(H):
                total += sum_inverses[t * H + h] * carries_mod[t * H + h]
                if h % _TERMS == _TERMS - 1:
                    total %= p
            right[t] = np.uint32((residuals[t] - total % p) % p)
        for j in range(T):  # x = Z⁻¹ right mod p
            total_u = np.uint64(0)
            for start in range(0, T, _TERMS):
                part = np.uint64(0)
                for t in range(start, min(T, start + _TERMS)):
                    part += np.uint64(inverse[j, t]) * np.uint64(right[t])
                total_u += part % np.uint64(p)
            digit = total_u % np.uint64(p)
            digits[step, j] = np.uint32(digit)
            x[columns[j], heads[j]] = np.float64(digit)
        for t in range(T):
            context = contexts[t if count > 1 else 0]
            for i in range(n):
                for h in range(H):
                    moved[i, h] = 0.0
                for k in range(d):
                    entry = context[i, k]
                    for h in range(H):
                        moved[i, h] += entry * x[k, h]
            spent = np.int64(0)
            for h in range(H):
                q = t * H + h
                residue = np.int64(carries_mod[q])
                for i in range(n):
                    residue += (np.int64(moved[i, h]) % p) * powers[q, i]
                    if i % _TERMS == _TERMS - 2:
                        residue %= p
                w = (residue % p) * sum_inverses[q] % p
                spent += w
                # c ← (c + Σ 2^k_i (a_i - w)) / p, exactly
                begin, size = offsets[q], offsets[q + 1] - offsets[q]
                for k in range(size):
                    room[k] = limbs[begin + k]
                for i in range(n):
                    a = np.int64(moved[i, h]) - w
                    at, by = shifts[q, i] // LIMB, shifts[q, i] % LIMB
                    room[at] += (a & _MASK) << by
                    room[at + 1] += (a >> LIMB) << by
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
