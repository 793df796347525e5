"""What the lifting works on: digits in base PRIME, and the system of equations as flat arrays."""

from __future__ import annotations

from typing import NamedTuple

from attncert.constructions.arrays import AnyArray, DigitArray, FloatArray, IntArray

LIMB = 28  # bits of a digit of the lifting
PRIME = 268435399  # its base: the largest prime below 2^LIMB


class System(NamedTuple):
    """What the kernel works on.

    inverse (T, T): of Z at the pivots, mod p.
    contexts (T or 1, n, d) float64; heads, columns (T,): the pivots.
    The terms (t, h) of row t are first[t] to first[t+1]: head_of[q] is h, or -1 for the sum of all
    heads that attend uniformly at t; shifts, powers (Q, n): the exponents and 2^them mod p;
    sum_inverses: 1/S mod p; limbs[offsets[q]:offsets[q+1]] (int32): the carry c_q; limb_powers:
    2^(LIMB k) mod p; carries_mod: c_q mod p.
    residuals (T,): of the rows Σ_q w_q = y.
    """

    inverse: DigitArray
    contexts: FloatArray
    heads: IntArray
    columns: IntArray
    first: IntArray
    head_of: IntArray
    shifts: IntArray
    powers: IntArray
    sum_inverses: IntArray
    offsets: IntArray
    limbs: AnyArray
    limb_powers: IntArray
    carries_mod: IntArray
    residuals: IntArray
