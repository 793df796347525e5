"""A lower bound without enumerating sets: disjoint information sets (Brouwer-Zimmermann).

The relations between N vectors of rank r form a linear code of length N and dimension K = N - r,
whose minimum distance is the spark. The complement O of a basis is an information set: a relation
is determined by its coefficients on O, so no nonzero relation vanishes there. Take bases whose
complements O_1, ..., O_m are disjoint, as far as the vectors allow; let o_i elements of O_i be in
earlier ones. If all relations with at most w nonzero coefficients on some O_i have been looked at,
every other one has at least w + 1 on each, so

    spark >= min(the least weight looked at, sum over i of max(0, w + 1 - o_i)).

Over Q there are infinitely many relations with two coefficients on O_i, a r_1 + b r_2. The lightest
ones cancel the most frequent quotient of entries, so w = 2 takes a sort for each pair. All of
this runs modulo a prime: a relation over Q, in integers without a common factor, is one modulo p
with no more nonzero coefficients, so the bound holds over Q. It is strong where K is small against
N: little more than d vectors. The light relations that are met bound the spark from above.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attncert.constructions.arrays import FloatArray, IntArray
from attncert.constructions.exact.primes import PRIMES_FLOAT64
from attncert.verify.kruskal.bounds import RankBound, witnessed
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.rank.engines import cpu
from attncert.verify.rank.engines.arithmetic import inverse
from attncert.verify.rank.residues import residues

_SETS = 64  # bases at most
_W = 2  # coefficients outside a basis
_PAIRS = 3e-8  # seconds for an entry of a pair


def worth_trying(N: int, rank: int) -> bool:
    """Whether three disjoint information sets are likely, or all relations are looked at."""
    return rank < N and (3 * (N - rank) <= N or N - rank <= 2)


def nominal_seconds(N: int, d: int, rank: int) -> float:
    K = N - rank
    sets = min(_SETS, N // max(K, 1))
    return sets * (1e-3 + 8e-11 * N * d * rank + _PAIRS * K * K / 2 * rank)


def information_set_bounds(vectors: Vectors, *, upper: int, seed: int = 0) -> tuple[RankBound, ...]:
    """A lower bound, and an upper one below `upper` if a candidate relation was met.

    >>> import numpy as np
    >>> v = Vectors.of([[x**j for j in range(8)] for x in range(1, 11)])
    >>> [(bound.end, bound.value) for bound in information_set_bounds(v, upper=8)]
    [('lower', 8)]
    """
    p = PRIMES_FLOAT64[0]
    table = residues(vectors.array, p)
    rng = np.random.default_rng([seed, p])
    order = rng.permutation(vectors.N)
    used = np.zeros(vectors.N, dtype=bool)
    total, sets, lightest = 0, 0, _Light(vectors.N + 1, ())
    while sets < _SETS:
        first = np.concatenate([order[used[order]], order[~used[order]]])
        pivots, rows = cpu.echelon(np.ascontiguousarray(table[first].T), p)
        others = np.setdiff1d(np.arange(vectors.N), pivots)
        if not len(others):
            return ()
        outside = first[others]
        gain = max(0, _W + 1 - int(used[outside].sum()))
        if gain == 0:
            break
        sets, total = sets + 1, total + gain
        used[outside] = True
        candidate = _lightest(rows[:, others], p, first[pivots], outside)
        lightest = min(lightest, candidate, key=lambda light: light.weight)
        if len(others) <= _W:
            total = vectors.N + 1  # no relation has more coefficients there: all are looked at
        if total >= lightest.weight:
            break
    return _conclude(vectors, total, lightest, sets, upper)


@dataclass(frozen=True)
class _Light:
    weight: int
    members: tuple[int, ...]


def _conclude(
    vectors: Vectors, total: int, lightest: _Light, sets: int, upper: int
) -> tuple[RankBound, ...]:
    why = (
        f"Modulo {PRIMES_FLOAT64[0]}, relations with at most two vectors outside one of {sets} "
        f"bases involve {lightest.weight} vectors or more, "
        + ("and there are no others." if total > vectors.N else f"any other at least {total}.")
    )
    numbers = {"bases": sets, "coefficients outside": _W, "lightest": lightest.weight}
    spark = min(total, lightest.weight)
    bounds = [RankBound("lower", spark - 1, "information sets", why, numbers=numbers)]
    if lightest.weight <= upper:
        relation = vectors.relation(lightest.members)
        if relation is not None and relation.size <= upper:
            bounds.append(witnessed(relation, "information sets"))
    return tuple(bounds)


def _lightest(coefficients: FloatArray, p: int, basis: IntArray, outside: IntArray) -> _Light:
    """The lightest relation with one or two coefficients outside the basis."""
    nonzero = coefficients != 0
    weights = nonzero.sum(axis=0) + 1
    at = int(np.argmin(weights))
    support = basis[np.flatnonzero(nonzero[:, at])]
    best = _Light(int(weights[at]), (*support.tolist(), int(outside[at])))
    inverted = inverse(coefficients, p)
    for i in range(len(outside)):
        for j in range(i + 1, len(outside)):
            either, both = nonzero[:, i] | nonzero[:, j], nonzero[:, i] & nonzero[:, j]
            quotients = np.mod(coefficients[both, i] * inverted[both, j], p)
            values, counts = np.unique(quotients, return_counts=True)
            cancelled = int(counts.max(initial=0))
            weight = 2 + int(either.sum()) - cancelled
            if weight < best.weight:
                gone = np.zeros(len(either), dtype=bool)
                if cancelled:
                    gone[np.flatnonzero(both)] = quotients == values[np.argmax(counts)]
                uncancelled = basis[np.flatnonzero(either & ~gone)].tolist()
                best = _Light(weight, (*uncancelled, int(outside[i]), int(outside[j])))
    return best
