"""The data of the lifting: digits in base PRIME, and the system of equations as flat arrays."""

from __future__ import annotations

from typing import NamedTuple

from attncert.constructions.arrays import AnyArray, DigitArray, FloatArray, IntArray

LIMB = 28  # bits of a digit of the lifting
PRIME = 268435399  # its base: the largest prime below 2^LIMB


class System(NamedTuple):
    """The equations as flat arrays, and the state of the lifting.

    inverse (T, T): the inverse of Z at the pivots, mod p.
    contexts (T or 1, n, d) float64; heads, columns (T,): the pivots.
    Term q = t·H + h is head h at example t. shifts, powers (T·H, n): the exponents k and 2^k mod p;
    sum_inverses: 1/S mod p. If the numbers of the term fit in 64 bits, sums: S, and carries: the
    carry c_q. Else sums: 0, and limbs[offsets[q]:offsets[q+1]] (int32): the carry; limb_powers:
    2^(LIMB k) mod p. carries_mod: c_q mod p.
    residuals (T,): the residuals of the rows Σ_h w_th = y.
    """

    inverse: DigitArray
    contexts: FloatArray
    heads: IntArray
    columns: IntArray
    shifts: IntArray
    powers: IntArray
    sum_inverses: IntArray
    sums: IntArray
    carries: IntArray
    offsets: IntArray
    limbs: AnyArray
    limb_powers: IntArray
    carries_mod: IntArray
    residuals: IntArray
