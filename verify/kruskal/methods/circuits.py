"""Small dependent sets by information-set decoding (Prange; Lee-Brickell; Stern).

Choose a random basis B among the vectors and express every other vector in it. A relation that
involves j vectors outside B corresponds to a combination of j rows of coefficients. It involves j +
w vectors if w coordinates of the combination are nonzero. So a small dependent set with only j
members outside B shows up as a *sparse* combination of j rows:

- j = 1 (Prange): a row with few nonzero entries, the fundamental circuit of its vector;
- j = 2, 3 (Lee-Brickell): j rows that cancel almost everywhere. Sets of rows are not tried one by
  one: a combination with few nonzero entries nearly always vanishes on a random window of j + 2
  coordinates. Rows that are dependent on a window are found as Stern's collisions, by quotient and
  hash (`quotient_compiled`, in j random combinations of the window's coordinates), in linear time
  for j = 2 and in quadratic time for j = 3.

Let N vectors have rank r. The probability that at most j members of a given set of s vectors are
outside the basis is about P(Binomial(s, 1 - r/N) <= j). This is 0.62 for s = 5, j = 3, N = 2,000
and r = 768, whereas a random subset of 197 vectors contains the set with probability 10^-5. The
search works modulo a small prime. A dependent set that it finds is then proved exactly and reduced
to a circuit. A search that finds no set proves nothing.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from functools import partial

import numpy as np
from flint import nmod_mat

from attncert.constructions.arrays import FloatArray, IntArray
from attncert.constructions.exact.primes import safe_primes_below
from attncert.constructions.progress import Progress, silent
from attncert.verify.kruskal.bounds import RankBound, witnessed
from attncert.verify.kruskal.budget import CORES, Budget
from attncert.verify.kruskal.methods.quotient_compiled import HITS, inverses, search
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.rank.engines import cpu
from attncert.verify.rank.residues import residues
from attncert.verify.sharding.threads import parallel_map

_DEEPEST = 4
_CHECK = 2  # extra coordinates of a window; by chance, 1 in p^3 sets of j rows is dependent
_POINT, _FLOP = 9e-9, 4e-11  # seconds on one thread
_CHANCE = 0.01  # the largest expected number of chance candidates per basis


def small_circuits(
    vectors: Vectors,
    *,
    below: int,
    budget: Budget,
    seed: int = 0,
    progress: Progress = silent,
) -> Iterator[RankBound]:
    """Bounds from circuits of fewer than `below` vectors, each smaller than the previous circuit.
    `numbers` of a bound: j, and the position, from 1, of the basis that led to the circuit.

    below: usually the size of the smallest known dependent set. The search ends when the budget is
    used up, or once the probability of missing a circuit of `below` - 1 vectors is 10^-9. The
    same budget and seed give the same bounds. Exact: each relation is proved.
    """
    (p,) = safe_primes_below(1 << 17, 1)
    table = residues(vectors.array, p)
    rank = min(vectors.N, vectors.d)
    depth = depth_for(vectors.N, rank)
    cost, seconds = nominal_seconds(vectors.N, vectors.d, depth) / CORES, budget.remaining
    enough = _enough(below - 1, vectors.N, rank, depth)
    numbers = itertools.count() if enough is None else range(enough)
    affordable = itertools.takewhile(lambda number: number * cost < seconds, numbers)
    job = partial(_one_basis, table, p, depth, seed)
    for bases, candidates in enumerate(parallel_map(job, affordable), start=1):
        budget.charge(cost)
        progress(bases, enough or 0)
        for size, outside, members in candidates:
            if size >= below:
                continue
            relation = vectors.relation(members)
            if relation is not None and relation.size < below:
                below = relation.size
                yield witnessed(relation, "circuits", bases=bases, outside=outside)


def nominal_seconds(N: int, d: int, depth: int) -> float:
    r = min(N, d)
    points = sum(math.comb(N - r, j - 1) for j in range(2, depth + 1))
    return 4e-3 + 2 * _FLOP * N * d * r + _POINT * points


def depth_for(N: int, r: int) -> int:
    """The largest j for which the search costs at most about as much as finding the basis.

    >>> depth_for(2000, 768), depth_for(1782, 16), depth_for(800, 768)
    (3, 2, 4)
    """
    base = 2e-3 + 2 * _FLOP * N * r * r
    return max(
        j for j in range(1, _DEEPEST + 1) if _POINT * math.comb(N - r, j - 1) <= base or j < 3
    )


def meeting_probability(size: int, N: int, r: int, depth: int) -> float:
    """The probability that all but at most `depth` members of a circuit are in a random basis.

    size: the size of the circuit. The distribution is hypergeometric, as if every r-set were a
    basis, except that a basis never contains a whole circuit.

    >>> [round(meeting_probability(5, 2000, 768, depth), 3) for depth in (1, 2, 3)]
    [0.067, 0.282, 0.627]
    """
    if not 0 < size <= N:
        return 0.0
    ways = sum(
        math.comb(size, j) * math.comb(N - size, r - size + j)
        for j in range(1, min(depth, size) + 1)
        if r - size + j >= 0
    )
    return ways / math.comb(N, r)


def _enough(size: int, N: int, r: int, depth: int) -> int | None:
    """How many bases all miss a circuit of this size with probability 10^-9; None if too many."""
    met = min(meeting_probability(size, N, r, depth), 0.9)
    return math.ceil(math.log(1e-9) / math.log1p(-met)) if met > 1e-12 else None


Candidate = tuple[int, int, list[int]]


def _one_basis(table: FloatArray, p: int, depth: int, seed: int, number: int) -> list[Candidate]:
    """The smallest sets found with one basis, as (size, j, members), sorted by size."""
    rng = np.random.default_rng([seed, number])
    order = rng.permutation(len(table))
    pivots, rows = cpu.echelon(np.ascontiguousarray(table[order].T), p)
    others = np.setdiff1d(np.arange(len(order)), pivots)
    if not len(others) or not len(pivots):
        return [(1, 1, [int(order[i])]) for i in others[:1]]
    coefficients = rows[:, others]  # (r, K), balanced
    coefficients += p * (coefficients < 0)  # in [0, p)
    basis, outside = order[pivots], order[others]
    candidates = [_lightest(coefficients, p, basis, outside)]
    for j in range(2, min(depth, len(others), len(pivots)) + 1):
        candidates += _combinations(coefficients, p, basis, outside, j, rng)
    return sorted(candidates)


def _lightest(coefficients: FloatArray, p: int, basis: IntArray, outside: IntArray) -> Candidate:
    """The smallest fundamental circuit (j = 1). Zeros that may be due to chance are ignored."""
    r, K = coefficients.shape
    weights = np.count_nonzero(coefficients, axis=0)
    best = int(np.argmin(weights))
    zeros = r - int(weights[best])
    size = int(weights[best]) + 1
    if zeros > 0 and K * (r / p) ** zeros > _CHANCE:
        size = r + 1
    support = np.flatnonzero(coefficients[:, best])
    return size, 1, [*basis[support].tolist(), int(outside[best])]


def _combinations(
    coefficients: FloatArray,
    p: int,
    basis: IntArray,
    outside: IntArray,
    j: int,
    rng: np.random.Generator,
) -> list[Candidate]:
    """Sets of j vectors outside B whose coefficients are dependent on a window, together with
    their support in B. If sparse data have more such sets than the buffer holds, the rest are
    dropped.
    """
    r, K = coefficients.shape
    window = rng.choice(r, min(r, j + _CHECK), replace=False)
    wide = np.ascontiguousarray(coefficients[window].T)
    mixing = rng.integers(0, p, (j, len(window)))  # a row of coefficients may be nearly all 0
    narrow = np.mod(mixing.astype(np.float64) @ coefficients[window], p)  # below 8 p^2 < 2^53
    hits = np.zeros((HITS, j), dtype=np.int64)
    modulus = (inverses(p), float(p))
    count, _ = search(narrow, wide, 0, K, j, modulus, modulus, hits)
    candidates = []
    for members in hits[: max(int(count), 0)]:
        combination = _null_combination(wide[members].astype(np.int64), p)
        mixed = combination @ coefficients[:, members].T.astype(np.int64) % p
        used = members[combination != 0]
        support = basis[np.flatnonzero(mixed)]
        total = [*support.tolist(), *outside[used].tolist()]
        candidates.append((len(total), len(used), total))
    return sorted(candidates)[:4]


def _null_combination(rows: IntArray, p: int) -> IntArray:
    """Some x != 0 with x @ rows = 0 modulo p, for j dependent rows."""
    basis, nullity = nmod_mat(*rows.T.shape, rows.T.ravel().tolist(), p).nullspace()
    return np.array([int(basis[i, nullity - 1]) for i in range(len(rows))], dtype=np.int64)
