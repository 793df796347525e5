"""Arrays of float64 balls, mid ± rad: operations on them, and conversion from Arb.

Rounding: the result of one float64 operation is off by a factor between 1 - u and 1 + u with u =
2^-53 or, if a product underflows, by less than 2^-1074. Radii are computed by at most eight rounded
sums and products of nonnegative numbers, so multiplying them by 1 + 2^-49 and adding 10^-300 gives
upper bounds. For sums of N terms in any order, fused or not, γ_N = N u / (1 - N u) replaces u
(Higham, *Accuracy and Stability of Numerical Algorithms*, section 3.1).

Exponentials use no library function: e^x = 2^k e^r with r = x - k ln 2, and the Taylor polynomial
of e^r is evaluated in balls. The remainder after the 19th power is at most 3/20! if |r| <= 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb

from attncert.constructions.arrays import AnyArray, FloatArray, IntArray

UNIT = 2.0**-53
TINY = 1e-300
_UP = 1 + 2.0**-49


@dataclass(frozen=True)
class BallArray:
    """All reals v with |v - mid| <= rad, entry by entry; float64 arrays of one shape."""

    mid: FloatArray
    rad: FloatArray

    @classmethod
    def of(cls, entries: Iterable[arb], shape: tuple[int, ...]) -> BallArray:
        """Convert Arb balls; midpoints are rounded to float64, and radii are enlarged
        accordingly."""
        mids, rads = [], []
        for x in entries:
            mid = float(x.mid())
            mids.append(mid)
            rads.append(float((x - mid).abs_upper()))
        rad = np.array(rads, dtype=np.float64).reshape(shape) * _UP + TINY
        return cls(np.array(mids, dtype=np.float64).reshape(shape), rad)

    @classmethod
    def of_ratios(cls, table: IntArray, denominator: int) -> BallArray:
        """Balls around int64 integers over a denominator of at most 2^53. Each integer and each
        quotient is rounded once; short integers over a power of two are not rounded."""
        mid = table.astype(np.float64) / denominator
        exact = (
            denominator & (denominator - 1) == 0 and int(np.abs(mid).max()) < 2**53 // denominator
        )
        return cls(mid, np.abs(mid) * (0 if exact else 4 * UNIT) * _UP + TINY)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.mid.shape

    def __getitem__(self, index: Any) -> BallArray:
        return BallArray(self.mid[index], self.rad[index])

    def __add__(self, other: BallArray) -> BallArray:
        mid = self.mid + other.mid
        return BallArray(mid, (self.rad + other.rad + np.abs(mid) * (2 * UNIT)) * _UP + TINY)

    def __sub__(self, other: BallArray) -> BallArray:
        mid = self.mid - other.mid
        return BallArray(mid, (self.rad + other.rad + np.abs(mid) * (2 * UNIT)) * _UP + TINY)

    def __mul__(self, other: BallArray | AnyArray) -> BallArray:
        """The product; `other` may be an array of small integers.

        |xy - ab| <= |a| s + r (|b| + s) for balls (a, r) and (b, s), and the rounding of ab."""
        if not isinstance(other, BallArray):
            other = BallArray(np.asarray(other, dtype=np.float64), np.zeros(()))
        mid = self.mid * other.mid
        rad = np.abs(self.mid) * other.rad + self.rad * (np.abs(other.mid) + other.rad)
        return BallArray(mid, (rad + np.abs(mid) * (2 * UNIT)) * _UP + TINY)

    def __matmul__(self, other: BallArray) -> BallArray:
        """The matrix product. The rounding error of a sum of k products is at most γ_k |a||b| in
        any order; the same holds for the sums in the radius."""
        terms = self.mid.shape[-1]
        gamma, size = growth(terms + 2), np.abs(self.mid)
        rad = size @ (other.rad + gamma * np.abs(other.mid))
        rad = rad + self.rad @ (np.abs(other.mid) + other.rad)
        return BallArray(self.mid @ other.mid, rad * (1 + 4 * gamma) * _UP + (terms + 1) * TINY)

    def sum(self, axis: int) -> BallArray:
        gamma, mid = growth(self.mid.shape[axis] + 1), self.mid.sum(axis=axis)
        rad = (self.rad + gamma * np.abs(self.mid)).sum(axis=axis)
        return BallArray(mid, rad * (1 + 4 * gamma) * _UP + TINY)

    @np.errstate(all="ignore")
    def exp(self) -> BallArray:
        """The exponentials, enclosed by those of both endpoints."""
        high, low = _exp(self.mid + self.rad), _exp(self.mid - self.rad)
        most, least = high.mid + high.rad, np.maximum(low.mid - low.rad, 0)
        rad = (most - least) / 2 + most * (8 * UNIT)
        return BallArray((most + least) / 2, rad * _UP + TINY)

    @np.errstate(all="ignore")
    def inverse(self) -> BallArray:
        """1/x. Radii are infinite unless x is certainly above 1e-10."""
        least, mid = self.mid - self.rad, 1 / self.mid
        rad = self.rad * mid / least + mid * (2 * UNIT)
        known = (least > 1e-10) & (least < np.inf)
        return BallArray(mid, np.where(known, rad * _UP + TINY, np.inf))

    def reshape(self, *shape: int) -> BallArray:
        return BallArray(self.mid.reshape(shape), self.rad.reshape(shape))

    def transpose(self, *axes: int) -> BallArray:
        return BallArray(self.mid.transpose(axes), self.rad.transpose(axes))

    @classmethod
    def joined(cls, parts: Sequence[BallArray], axis: int) -> BallArray:
        return cls(*(np.concatenate([getattr(x, k) for x in parts], axis) for k in ("mid", "rad")))


def growth(terms: int) -> float:
    """An upper bound on γ_N for sums of N = `terms` products."""
    if terms * UNIT > 0.01:
        raise ValueError("too many terms for float64")
    return 1.02 * terms * UNIT


_LN2 = BallArray(np.array(0.6931471805599453), np.array(2.0**-54))  # 0.69314718055994530942
_TAYLOR = [
    BallArray(np.array(1 / math.factorial(k)), np.array(2 * UNIT / math.factorial(k)))
    for k in range(20)
]
_REMAINDER = 4 / math.factorial(20)


def _exp(x: FloatArray) -> BallArray:
    """The exponentials of numbers that each carry one rounding error."""
    small = x < -700  # e^x is below TINY
    steps = np.clip(np.nan_to_num(np.rint(x / _LN2.mid)), -1100, 1100)
    rest = BallArray(x, np.abs(x) * (2 * UNIT)) - _LN2 * steps
    power = _TAYLOR[-1]
    for coefficient in _TAYLOR[-2::-1]:
        power = rest * power + coefficient
    near = (np.abs(rest.mid) + rest.rad) * _UP <= 1
    power = BallArray(power.mid, np.where(near, power.rad + _REMAINDER, np.inf))
    power = power * np.ldexp(1.0, steps.astype(np.int64))
    return BallArray(np.where(small, 0.0, power.mid), np.where(small, TINY, power.rad))
