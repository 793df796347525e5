"""Full row rank and the smallest singular value, enclosed in balls (Arb).

For matrices that are not small rationals: float data taken exactly, or entries that are
themselves enclosures (softmax weights with real exponentials). Z is T×K with T <= K.

**Right inverse.** Let R be any K×T matrix and E = I - ZR. If ||E|| < 1 in some submultiplicative
norm, ZR is invertible (Neumann), so Z has full row rank. Here it is the 2-norm, bounded in ball
arithmetic by the root of the largest row sum times the largest column sum, hence for every matrix
in the enclosure Z. R itself may be rubbish: it is Z^T (Z Z^T)^{-1} in approximate arithmetic.

**Smallest singular value** (ours, elementary). For a unit row vector u, with delta = ||E||_2 < 1,
1 - delta <= ||uZR||_2 <= ||uZ||_2 ||R||_2. Hence

    (1 - delta) / ||R||_2  <=  sigma_min(Z)  <=  ||wZ||_2 / ||w||_2   for every w != 0.

Both ends are sharp when R is close to the pseudoinverse and w to its leading right singular
vector. ||R||_2^2 = lambda_max(K) with K = R^T R, and for any Q with Q^T Q positive definite,
lambda_max(K) <= lambda_max(Q^T K Q) / lambda_min(Q^T Q); with Q the float eigenvectors of K both
matrices are nearly diagonal and Gershgorin's discs give the bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from flint import arb, arb_mat, ctx


@dataclass(frozen=True)
class SingularValue:
    """lower <= sigma_min <= upper, proved. lower > 0 proves full row rank of every matrix in the
    enclosure; 0 says only that no proof was found."""

    lower: float
    upper: float


def smallest_singular_value(balls: arb_mat, precision: int = 128) -> SingularValue:
    """Lower and upper bound of the T-th singular value of a T×K enclosure, T ≥ 1, in floats.

    precision: bits.

    >>> s = smallest_singular_value(arb_mat([[3, 0, 0], [0, 0, 2]]))
    >>> s.lower <= 2.0 <= s.upper, s.upper - s.lower < 1e-9
    (True, True)
    >>> smallest_singular_value(arb_mat([[1, 2, 3], [2, 4, 6]])).lower
    0.0
    """
    with ctx.workprec(precision):
        inverse = _right_inverse(balls) if balls.nrows() <= balls.ncols() else None
        if inverse is not None:
            error = balls * inverse - _identity(balls.nrows())
            delta = (_row_norm(error) * _row_norm(error.transpose())).sqrt()
            if delta < 1:
                return _bounds(balls, inverse, delta)
        return SingularValue(0.0, _up(_least_image(balls)))


def _bounds(balls: arb_mat, inverse: arb_mat, delta: arb) -> SingularValue:
    """The two bounds of the module's derivation for one right inverse R, ||ZR - I||_2 <= delta."""
    gram = inverse.transpose() * inverse
    vectors = _eigenvectors(gram)
    stretched = vectors.transpose() * gram * vectors
    overlap = vectors.transpose() * vectors
    norm2 = _row_norm(stretched) / _smallest_eigenvalue(overlap)
    lower = (1 - delta) / norm2.sqrt() if norm2 > 0 else arb(0)
    last = vectors.ncols() - 1
    leading = arb_mat([[vectors[i, last] for i in range(vectors.nrows())]])
    leading = (leading * gram).mid()  # one power step: its float error would hide below ||Z||
    upper = _norm(leading * balls) / _norm(leading)
    return SingularValue(max(0.0, _down(lower)), _up(upper))


def _right_inverse(balls: arb_mat) -> arb_mat | None:
    """Z^T (Z Z^T)^{-1} of the midpoints, in approximate arithmetic; None where that fails."""
    midpoints = balls.mid()
    transpose = midpoints.transpose()
    gram = (midpoints * transpose).mid()
    try:
        solved = gram.solve(_identity(balls.nrows()), algorithm="approx")
    except ZeroDivisionError:
        return None
    return (transpose * solved).mid()


def _eigenvectors(gram: arb_mat) -> arb_mat:
    """Float eigenvectors of a symmetric enclosure, ascending; any matrix would be sound."""
    entries = gram.mid().tolist()
    scale = _exponent(max(abs(x) for row in entries for x in row))
    floats = np.array([[float(x * arb(2) ** -scale) for x in row] for row in entries])
    _, vectors = np.linalg.eigh((floats + floats.T) / 2)
    return arb_mat(vectors.tolist())


def _smallest_eigenvalue(symmetric: arb_mat) -> arb:
    """Lower bound of the eigenvalues by Gershgorin's discs."""
    discs = []
    for i, row in enumerate(symmetric.tolist()):
        radius = sum((abs(x) for j, x in enumerate(row) if j != i), arb(0))
        discs.append((row[i] - radius).lower())
    return min(discs)


def _row_norm(matrix: arb_mat) -> arb:
    """Upper bound of the maximal absolute row sum: submultiplicative, and >= every eigenvalue."""
    sums = [sum((x.abs_upper() for x in row), arb(0)).upper() for row in matrix.tolist()]
    return max(sums, default=arb(0))


def _norm(row: arb_mat) -> arb:
    return _square(row).sqrt()


def _least_image(balls: arb_mat) -> arb:
    """||wZ|| / ||w|| for w a unit vector: the shortest row; or for w nearly singular (float64)."""
    if balls.nrows() > balls.ncols():
        return arb(0)
    images = [_norm(arb_mat([row])).upper() for row in balls.tolist()]
    floats = np.array([[float(x.mid()) for x in row] for row in balls.tolist()])
    if np.isfinite(floats).all():
        w = arb_mat([np.linalg.svd(floats)[0][:, -1].tolist()])
        images.append((_square(w * balls) / _square(w)).sqrt().upper())
    return min(images)


def _square(row: arb_mat) -> arb:
    return sum((x * x for x in row.entries()), arb(0))


def _identity(n: int) -> arb_mat:
    return arb_mat([[int(i == j) for j in range(n)] for i in range(n)])


def _exponent(x: arb) -> int:
    """e with 2^(e-1) <= |x| < 2^e or close to it, 0 for 0."""
    if x == 0 or not x.is_finite():
        return 0
    mantissa, exponent = x.mid().man_exp()
    return int(exponent) + int(abs(mantissa)).bit_length()


def _up(x: arb) -> float:
    """A float that is at least every point of the ball."""
    return math.nextafter(float(x.upper()), math.inf)


def _down(x: arb) -> float:
    return math.nextafter(float(x.lower()), -math.inf)
