"""Newton's map contracts a box of weights into itself: the theorem, and its constants in float64.

Let f be the outputs minus the labels as functions of N = T·m of the weights, u0 the given values, B
the box |u - u0| ≤ r in the maximum norm, A any N×N matrix.

**Theorem** (Newton-Kantorovich, in the form of Krawczyk). If for every row i

    η_i ≥ |A f(u0)|_i,   κ_i ≥ Σ_j |I - A f'(u)|_ij for all u in B,   κ_i < 1,   η_i + κ_i r ≤ r,

then f has exactly one zero in B: weights within r of the given ones output the labels exactly.
The proof is at the top of verify/checker/near.py.

**Constants.** f(u0) lies in f̂ ± φ and f'(u), for all u in B, in Ĵ ± R (`network_enclosure.py`).
With fl(AĴ) from BLAS, and γ = γ_N as in `balls.py` (for sums in any order, but no fast matrix
multiplication),

    |A f(u0)| ≤ |fl(A f̂)| + |A| (γ |f̂| + φ),
    Σ_j |I - A f'(u)|_ij ≤ Σ_j |I - fl(AĴ)|_ij + (|A| (γ |Ĵ| 1 + R 1))_i,

entry by entry. Apart from the one product of two matrices, these are products of a matrix and a
vector, computed in float64 from nonnegative numbers, so that all rounding is within a factor of 1 +
γ_2N.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from attncert.constructions.arrays import FloatArray
from attncert.verify.derivatives.balls import TINY, BallArray, growth

LARGE = Fraction(2) ** 1000  # replaces a radius beyond the range of float64


@dataclass(frozen=True)
class Contraction:
    """eta, kappa: upper bounds on the largest η_i and κ_i. inside: whether the theorem applies."""

    eta: float
    kappa: float
    inside: bool


def inverted(block: FloatArray) -> FloatArray:
    """An approximate inverse, or NaN if the block is singular or not finite."""
    try:
        return np.linalg.inv(block).astype(np.float64)
    except np.linalg.LinAlgError:
        return np.full_like(block, np.nan)


def distances(inverse: FloatArray, errors: BallArray) -> FloatArray:
    """Upper bounds η_i of |A f(u0)|. inverse: A, (N, N) float64, regarded as exact."""
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
    """Whether η_i ≤ r (1 - κ_i) and κ_i < 1 in every row. NaN and infinities fail."""
    low = float(min(radius, LARGE)) * (1 - 2.0**-52)  # float() rounds to nearest
    with np.errstate(over="ignore"):
        margin = low * (1 - kappa) * (1 - 2.0**-50)
    inside = bool(low > TINY and np.all(kappa < 1) and np.all(eta <= margin))
    worst = (x if math.isfinite(x) else math.inf for x in map(float, (eta.max(), kappa.max())))
    return Contraction(next(worst), next(worst), inside)
