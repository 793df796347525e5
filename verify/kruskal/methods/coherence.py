"""A lower bound from angles: nearly orthogonal vectors are independent.

Let g_ij = |<v_i, v_j>| / (|v_i| |v_j|), and let mu = max g_ij be the mutual coherence. The Gram
matrix of k unit vectors has ones on its diagonal. If, in every row, the k - 1 largest other entries
sum to less than one, the matrix is strictly diagonally dominant, hence regular, and the vectors are
independent. Since all entries are at most mu, spark >= 1 + 1/mu (Donoho and Elad 2003; Gribonval
and Nielsen 2003); the sums themselves (Tropp 2004) give a bound that is at least as good.

**Enclosure.** The rows are first scaled by powers of two to entries of at most 1. This is exact,
except for integers of more than 53 bits (a relative error of u) and entries that underflow (an
absolute error of 2^-1074). Let u = 2^-53. A dot product of d terms, in any order of summation, is
off by at most d u/(1 - d u) * sum |a_j b_j| <= 1.01 d u |a| |b| (Higham 2002, section 3.1) for d <
2^40. The norms are in [1/2, sqrt(d)]. Computing them and dividing adds a relative error of at most
4 (d + 4) u, and rounding the entries adds 8 u + 2^-1000. So each g is at most its computed value
plus 8 (d + 8) u; another k u covers a sum of k of these numbers.
"""

from __future__ import annotations

import numpy as np

from attncert.constructions.arrays import AnyArray, FloatArray
from attncert.verify.claims.evidence import Level
from attncert.verify.kruskal.bounds import RankBound
from attncert.verify.kruskal.vectors import Vectors

_BLOCK = 512  # rows of the Gram matrix computed at a time
_UNIT = 2.0**-53


def coherence_bound(vectors: Vectors) -> RankBound | None:
    """The bound that any k vectors are independent, for the largest k that the angles allow; None
    if a vector is zero.

    >>> import numpy as np
    >>> coherence_bound(Vectors.of(np.vstack([np.eye(8), np.ones((1, 8))]))).value
    3
    """
    N, d = vectors.N, vectors.d
    unit = _unit_rows(vectors.array)
    if unit is None:
        return None
    margin = 8 * (d + 8) * _UNIT
    sums = np.zeros(min(N, d))  # sums[j]: the largest sum of j entries in a row
    mu = 0.0
    for start in range(0, N, _BLOCK):
        block = np.abs(unit[start : start + _BLOCK] @ unit.T) + margin
        block[np.arange(len(block)), start + np.arange(len(block))] = 0
        mu = max(mu, float(block.max()))
        keep = min(len(sums) - 1, N - 1)
        if keep:
            largest = -np.sort(-np.partition(block, N - keep, axis=1)[:, N - keep :], axis=1)
            sums[1:] = np.maximum(sums[1:], np.cumsum(largest, axis=1).max(axis=0))
    sums *= 1 + 2 * N * _UNIT
    k = int(np.searchsorted(sums, 1.0, side="left"))  # sums increase, and sums[k - 1] < 1
    why = (
        f"In no row of the Gram matrix of the unit vectors do {k - 1} off-diagonal entries sum to "
        f"1 or more (mutual coherence at most {mu:.6g})."
    )
    return RankBound("lower", k, "coherence", why, Level.ENCLOSED, numbers={"coherence": mu})


def nominal_seconds(N: int, d: int) -> float:
    return 1e-10 * N * N * d + 3e-8 * N * N


def _unit_rows(array: AnyArray) -> FloatArray | None:
    """The rows scaled to length one, up to rounding; None if a row is zero."""
    if array.dtype == object:
        bits = [max(abs(x).bit_length() for x in row) for row in array.tolist()]
        shift = np.array([max(0, b - 64) for b in bits], dtype=object)
        array = array >> shift[:, None]
    table = array.astype(np.float64)
    top = np.abs(table).max(axis=1)
    if (top == 0).any():
        return None
    table = np.ldexp(table, -np.frexp(top)[1][:, None])
    return table / np.sqrt((table * table).sum(axis=1))[:, None]
