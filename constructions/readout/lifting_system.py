"""The data of the lifting: digits in base PRIME, and the system of equations as flat arrays."""

from __future__ import annotations

from typing import NamedTuple

from attncert.constructions.arrays import AnyArray, DigitArray, FloatArray, IntArray

LIMB = 28  # bits of a digit of the lifting
PRIME = 268435399  # its base: the largest prime below 2^LIMB


class System(NamedTuple):
    """The equations as flat arrays, and the state of the lifting. Term q = t·H + h is head h at
    example t.

    inverse: that of Z at the pivots mod p. shifts, powers (T·H, n): the exponents k, and 2^k mod p;
    sum_inverses: 1/S mod p. If a term fits in 64 bits, sums holds S, and carries its carry.
    Otherwise sums is 0, and the carry is limbs[offsets[q]:offsets[q+1]]. residuals (T,): those of
    the rows Σ_h w_th = y.
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
