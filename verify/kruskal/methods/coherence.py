"""A lower bound from angles: nearly orthogonal vectors are independent.

Let g_ij = |<v_i, v_j>| / (|v_i| |v_j|), and let mu = max g_ij be the mutual coherence. The Gram
matrix of k unit vectors has ones on its diagonal. If, in every row, the k - 1 largest other entries
sum to less than one, the matrix is strictly diagonally dominant, hence nonsingular, and the vectors
are independent. Since all entries are at most mu, spark >= 1 + 1/mu (Donoho and Elad 2003;
Gribonval and Nielsen 2003); the sums themselves (Tropp 2004) give a bound that is at least as good.

**Exact.** Lengths need not be one if each row is compared with its own diagonal entry. Vectors of
small integers are multiplied by integers until their lengths are 2^25 or slightly less. All partial
sums of their dot products are then at most 2^50, so the Gram matrix is exact in float64.

**Two orthogonal sets.** Let s = sum x_i a_i = sum y_j b_j be nonzero, with p nonzero x_i and q
nonzero y_j, where the unit vectors a_i are orthogonal to each other, and so are the b_j. Since
x_i = <s, a_i>, max |x_i| <= mu q max |y_j|, and max |y_j| <= mu p max |x_i| likewise: p q >= 1/mu^2
(Elad and Bruckstein 2002). So p vectors of one set and q of the other are independent if p q <
1/mu^2.

**Enclosure.** The rows of other vectors are first scaled by powers of two until entries are at most
1 in size. This is exact, except for integers of more than 53 bits (a relative error of u) and
entries that underflow (an absolute error of 2^-1074). Let u = 2^-53. A dot product of d terms, in
any order of summation, is off by at most d u/(1 - d u) * sum |a_j b_j| <= 1.01 d u |a| |b| (Higham
2002, section 3.1) for d < 2^40. The norms are in [1/2, sqrt(d)]. Computing them and dividing adds a
relative error of at most 4 (d + 4) u, and rounding the entries adds 8 u + 2^-1000. So each g is at
most its computed value plus 8 (d + 8) u; a further k u covers a sum of k of these numbers.
"""

from __future__ import annotations

import numpy as np

from attncert.constructions.arrays import AnyArray, FloatArray, IntArray
from attncert.verify.claims.evidence import Level
from attncert.verify.kruskal.bounds import RankBound
from attncert.verify.kruskal.vectors import Vectors

_BLOCK = 512  # rows of the Gram matrix computed at a time
_UNIT = 2.0**-53
_LENGTH, _SHORT = 2.0**25, 2**9  # the largest lengths of scaled and of given integer vectors
_PAIRED = 4096  # maximum number of vectors that are searched for two orthogonal sets


def coherence_bound(vectors: Vectors) -> RankBound | None:
    """The bound stating that any k vectors are independent, for the largest k that the angles
    allow; None if a vector is zero.

    >>> import numpy as np
    >>> coherence_bound(Vectors.of(np.vstack([np.eye(8), np.ones((1, 8))]))).value
    8
    """
    short = _short_integers(vectors.array)
    if short is None:
        unit = _unit_rows(vectors.array)
        return None if unit is None else _dominance(unit, Level.ENCLOSED)
    length = np.sqrt((short * short).sum(axis=1))
    bound, sets = _dominance(short * np.floor(_LENGTH / length)[:, None], Level.PROVED), None
    if min(_PAIRED, 2 * vectors.d) >= vectors.N:
        sets = _orthogonal_sets((short @ short.T).astype(np.int64))
    return bound if sets is None or sets.value <= bound.value else sets


def _dominance(rows: FloatArray, level: Level) -> RankBound:
    """The bound from sums within rows of the Gram matrix. level: proved for rows of integers, as
    above; enclosed for rows whose length is one up to rounding."""
    N, d = rows.shape
    exact = level is Level.PROVED
    margin, factor = (0.0, 1.0) if exact else (8 * (d + 8) * _UNIT, 1 + 2 * N * _UNIT)
    most, mu = min(N, d) - 1, 0.0  # most: how many entries are added up
    fewest = most
    for start in range(0, N, _BLOCK):
        block = np.abs(rows[start : start + _BLOCK] @ rows.T) + margin
        own = np.arange(len(block)), start + np.arange(len(block))
        diagonal = block[own] if exact else np.ones(len(block))
        block[own] = 0
        mu = max(mu, float((block / diagonal[:, None]).max()))
        if most:
            largest = -np.sort(-np.partition(block, N - most, axis=1)[:, N - most :], axis=1)
            sums = np.cumsum(largest, axis=1) * factor
            fewest = min(fewest, int((sums < diagonal[:, None]).sum(axis=1).min()))
    scaled, whole = ("scaled", "the diagonal one") if exact else ("unit", "1")
    why = (
        f"In no row of the Gram matrix of the {scaled} vectors do {fewest} off-diagonal entries "
        f"sum to {whole} or more (mutual coherence at most {mu:.6g})."
    )
    return RankBound("lower", fewest + 1, "coherence", why, level, numbers={"coherence": mu})


def _orthogonal_sets(gram: IntArray) -> RankBound | None:
    """The bound for two sets, each of orthogonal vectors; None if there are no two such sets."""
    N, squares = len(gram), gram.diagonal()
    meets = (gram != 0) & ~np.eye(N, dtype=bool)
    side = np.full(N, -1)
    for root in range(N):
        layer, colour = np.array([root])[side[[root]] < 0], 0
        while len(layer):
            side[layer], colour = colour, 1 - colour
            layer = np.flatnonzero(meets[layer].any(axis=0) & (side < 0))
    if not meets.any() or (meets & (side[:, None] == side)).any():
        return None
    u, w = np.nonzero(meets)
    product = int(((squares[u] * squares[w] - 1) // gram[u, w] ** 2).min())  # below 1/mu^2
    a, b = int((side == 0).sum()), int((side == 1).sum())
    sizes = (p + product // p + 1 for p in range(1, a + 1) if product // p < b)
    why = (
        f"The vectors form two sets, of {a} and of {b} mutually orthogonal vectors, and p of one "
        f"set and q of the other are independent if pq is at most {product} (Elad and Bruckstein)."
    )
    return RankBound("lower", min(sizes, default=N + 1) - 1, "coherence", why)


def nominal_seconds(N: int, d: int) -> float:
    return 1e-10 * N * N * d + 3e-8 * N * N


def _short_integers(array: AnyArray) -> FloatArray | None:
    """The vectors if all are nonzero, with integer entries and a length of at most _SHORT."""
    if (abs(array) > _SHORT).any() or (array % 1 != 0).any():
        return None
    table = array.astype(np.float64)
    squares = (table * table).sum(axis=1)
    return table if ((squares > 0) & (squares <= _SHORT**2)).all() else None


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
