"""Full row rank and the smallest singular value, enclosed in balls (Arb).

The entries of the matrices are floats, regarded as exact, or enclosures (softmax weights with real
exponentials). Z is T×K with T <= K.

**Right inverse.** Let R be any K×T matrix and E = I - ZR. If ||E|| < 1 in some submultiplicative
norm, ZR is invertible (Neumann), so Z has full row rank. We use the 2-norm, which is at most
sqrt(largest absolute row sum * largest absolute column sum). Ball arithmetic bounds it for every
matrix in the enclosure Z. R need not be accurate: it is Z^T (Z Z^T)^{-1} in approximate arithmetic.

**Smallest singular value** (ours, elementary). For a unit row vector u, with delta = ||E||_2 < 1,
1 - delta <= ||uZR||_2 <= ||uZ||_2 ||R||_2, and ||R||_2 is at most the Frobenius norm. Hence

    (1 - delta) / ||R||_F  <=  sigma_min(Z)  <=  ||wZ||_2 / ||w||_2   for every w != 0.

If R is close to the pseudoinverse, the lower end is at least about sigma_min / sqrt(T), and it is
nearly sharp if the other singular values are much larger. The upper end is sharp if w is close
to the left singular vector.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from flint import arb, arb_mat, ctx


@dataclass(frozen=True)
class SingularValue:
    """Proved bounds lower <= sigma_min <= upper. lower > 0 proves full row rank of every matrix in
    the enclosure; 0 means only that no proof was found."""

    lower: float
    upper: float


def smallest_singular_value(balls: arb_mat, precision: int = 128) -> SingularValue:
    """Lower and upper bounds, as floats, of the T-th singular value of a T×K enclosure, T ≥ 1.

    precision: bits.

    >>> s = smallest_singular_value(arb_mat([[3, 0, 0], [0, 0, 2]]))
    >>> s.lower <= 2.0 <= s.upper, s.upper < 2.1 < 1.3 * s.lower
    (True, True)
    >>> smallest_singular_value(arb_mat([[1, 2, 3], [2, 4, 6]])).lower
    0.0
    """
    with ctx.workprec(precision):
        if balls.nrows() > balls.ncols():
            return SingularValue(0.0, _up(arb(0)))
        middle, lower, vectors = balls.mid(), arb(0), [_float_vector(balls)]
        if (gram := _inverse((middle * middle.transpose()).mid())) is not None:
            inverse = (middle.transpose() * gram).mid()
            error = balls * inverse - _identity(balls.nrows())
            delta = (_row_norm(error) * _row_norm(error.transpose())).sqrt()
            if delta < 1:
                lower = (1 - delta) / _norm(inverse)
            vectors.append((vectors[0] * gram).mid())  # one step of inverse iteration
        upper = min((_norm(w * balls) / _norm(w)).upper() for w in vectors if _norm(w) > 0)
        return SingularValue(max(0.0, _down(lower)), _up(upper))


def _inverse(square: arb_mat) -> arb_mat | None:
    """The inverse in approximate arithmetic, or None if that fails."""
    try:
        return square.solve(_identity(square.nrows()), algorithm="approx").mid()
    except ZeroDivisionError:
        return None


def _float_vector(balls: arb_mat) -> arb_mat:
    """The left singular vector of the smallest singular value in float64, or (1, ..., 1) if the
    matrix is beyond the range of floats."""
    floats = np.array([[float(x.mid()) for x in row] for row in balls.tolist()])
    if not np.isfinite(floats).all():
        return arb_mat([[1] * balls.nrows()])
    return arb_mat([np.linalg.svd(floats)[0][:, -1].tolist()])


def _row_norm(matrix: arb_mat) -> arb:
    """An upper bound on the largest absolute row sum."""
    sums = [sum((x.abs_upper() for x in row), arb(0)).upper() for row in matrix.tolist()]
    return max(sums)


def _norm(matrix: arb_mat) -> arb:
    """The Frobenius norm."""
    return sum((x * x for x in matrix.entries()), arb(0)).sqrt()


def _identity(n: int) -> arb_mat:
    return arb_mat([[int(i == j) for j in range(n)] for i in range(n)])


def _up(x: arb) -> float:
    """A float that is at least as large as every point of the ball."""
    return math.nextafter(float(x.upper()), math.inf)


def _down(x: arb) -> float:
    return math.nextafter(float(x.lower()), -math.inf)
