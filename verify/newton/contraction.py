"""Newton's map contracts a box of weights into itself: the theorem, and its constants in float64.

Let f be the outputs minus the labels as functions of N = T·m of the weights, u0 the given values, B
the box |u - u0| ≤ r in the maximum norm, A any N×N matrix.

**Theorem** (Newton-Kantorovich, in the form of Krawczyk). If for every row i

    η_i ≥ |A f(u0)|_i,   κ_i ≥ Σ_j |I - A f'(u)|_ij for all u in B,   κ_i < 1,   η_i + κ_i r ≤ r,

then f has exactly one zero in B: weights within r of the given ones output the labels exactly.
*Proof.* g(u) = u - A f(u) has g' = I - A f'. By the mean value theorem |g(u) - u0|_i ≤ η_i + κ_i r
≤ r for u in B: g maps the closed box into itself, and contracts it by max κ_i < 1 in the maximum
norm. Banach's theorem gives one fixed point, where A f = 0. ‖I - A f'(u0)‖ < 1, so A f'(u0) is
invertible, so A is, and f = 0 there. A zero of f in B is a fixed point of g, so there is one. ∎

**Constants.** f(u0) lies in f̂ ± φ and f'(u), for all u in B, in Ĵ ± R (`enclosure.py`). With
fl(AĴ) from BLAS, and γ = γ_N as below (any order of summation, no fast multiplication),

    |A f(u0)| ≤ |fl(A f̂)| + |A| (γ |f̂| + φ),
    Σ_j |I - A f'(u)|_ij ≤ Σ_j |I - fl(AĴ)|_ij + (|A| (γ |Ĵ| 1 + R 1))_i,

entry by entry: products of a matrix with vectors, besides the one product of matrices. All of it is
computed in float64 on nonnegative numbers, so every rounding is within a factor of 1 + γ_2N.

**Rounding.** One operation in float64 is off by a factor of at most 1 ± u, u = 2^-53, or by less
than 2^-1074 if it underflows (multiplication). Radii are sums and products of at most eight rounded
operations on nonnegative numbers: multiplied by 1 + 2^-49 and increased by 10^-300 they are upper
bounds. The same holds for sums of N terms in any order, fused or not, with γ_N = N u / (1 - N u)
for u (Higham, *Accuracy and Stability of Numerical Algorithms*, section 3.1).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from attncert.constructions.arrays import FloatArray

UNIT = 2.0**-53
TINY = 1e-300
_UP = 1 + 2.0**-49
LARGE = Fraction(2) ** 1000  # below a radius beyond float64


@dataclass(frozen=True)
class BallArray:
    """All reals v with |v - mid| <= rad, entry by entry; float64 arrays of one shape."""

    mid: FloatArray
    rad: FloatArray

    @classmethod
    def of(cls, entries: Iterable[arb], shape: tuple[int, ...]) -> BallArray:
        """Convert Arb's balls: the midpoint is rounded to float64, the radius enlarged to match."""
        mids, rads = [], []
        for x in entries:
            mid = float(x.mid())
            mids.append(mid)
            rads.append(float((x - mid).abs_upper()))
        rad = np.array(rads, dtype=np.float64).reshape(shape) * _UP + TINY
        return cls(np.array(mids, dtype=np.float64).reshape(shape), rad)

    def __getitem__(self, index: Any) -> BallArray:
        return BallArray(self.mid[index], self.rad[index])

    def __mul__(self, other: BallArray) -> BallArray:
        """|xy - ab| <= |a| s + r (|b| + s) for balls (a, r) and (b, s), and the rounding of ab."""
        mid = self.mid * other.mid
        rad = np.abs(self.mid) * other.rad + self.rad * (np.abs(other.mid) + other.rad)
        return BallArray(mid, (rad + np.abs(mid) * (2 * UNIT)) * _UP + TINY)

    def reshape(self, *shape: int) -> BallArray:
        return BallArray(self.mid.reshape(shape), self.rad.reshape(shape))


def growth(terms: int) -> float:
    """An upper bound of γ_N for sums of N = `terms` products."""
    if terms * UNIT > 0.01:
        raise ValueError("too many terms for float64")
    return 1.02 * terms * UNIT


@dataclass(frozen=True)
class Contraction:
    """eta, kappa: upper bounds of the largest η_i and κ_i; inside: whether the theorem applies."""

    eta: float
    kappa: float
    inside: bool


def distances(inverse: FloatArray, errors: BallArray) -> FloatArray:
    """Upper bounds η_i of |A f(u0)|. inverse: A, (N, N) float64, taken exactly."""
    gamma = growth(len(errors.mid) + 4)
    with np.errstate(all="ignore"):
        centre = np.abs(inverse @ errors.mid)
        spread = np.abs(inverse) @ (gamma * np.abs(errors.mid) + errors.rad)
        return (centre + spread) * (1 + 4 * gamma) + TINY * (1 + np.abs(inverse).sum(axis=1))


def contractions(inverse: FloatArray, derivatives: BallArray) -> FloatArray:
    """Upper bounds κ_i of the row sums of |I - A f'(u)|."""
    N = len(inverse)
    gamma = growth(N + 4)
    with np.errstate(all="ignore"):
        defect = -(inverse @ derivatives.mid)
        defect[np.diag_indices(N)] += 1
        rows = gamma * np.abs(derivatives.mid).sum(axis=1) + derivatives.rad.sum(axis=1)
        spread = np.abs(inverse) @ rows
        kappa = np.abs(defect).sum(axis=1) + spread
        return kappa * (1 + 8 * gamma) + N * TINY * (1 + np.abs(inverse).sum(axis=1))


def judged(eta: FloatArray, kappa: FloatArray, radius: Fraction) -> Contraction:
    """The verdict: whether η_i ≤ r (1 - κ_i) and κ_i < 1 in every row; NaN and infinities fail."""
    low = float(min(radius, LARGE)) * (1 - 2.0**-52)  # float() rounds to nearest
    with np.errstate(over="ignore"):
        margin = low * (1 - kappa) * (1 - 2.0**-50)
    inside = bool(low > TINY and np.all(kappa < 1) and np.all(eta <= margin))
    worst = (x if math.isfinite(x) else math.inf for x in map(float, (eta.max(), kappa.max())))
    return Contraction(next(worst), next(worst), inside)
