"""Circuits of sparse vectors within coordinate subspaces.

If a subspace spanned by w coordinate axes contains more than w of the vectors, any w + 1 of these
are dependent. Even w or fewer are dependent far more often than as many other vectors, since they
have w coordinates instead of d. Random bases rarely contain them: 57 of the digits' 1,782 queries
lie in eight of sixteen coordinates, and one random basis in 10^17 contains 8 of them.

Subspaces are grown greedily from the support of a vector: each step adds the coordinate that most
of the nearly contained vectors need. In each subspace, starting with the cheapest, all sets of a
size that would improve the bound are searched (`exhaustive`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from attncert.constructions.arrays import BoolArray
from attncert.constructions.progress import StageProgress, silent
from attncert.verify.kruskal.bounds import RankBound, witnessed
from attncert.verify.kruskal.budget import Budget
from attncert.verify.kruskal.methods.exhaustive import decide, nominal_seconds
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.rank.modular import modular_rank
from attncert.verify.rank.rational import Relation

_TOP = 3  # the number of subspaces kept for each dimension
_SEEDS = 32  # the number of supports from which subspaces are grown
_DEAREST = 60.0  # limit on the nominal seconds for a search in one subspace


@dataclass(frozen=True)
class Subspace:
    """A coordinate subspace and the vectors in it; both tuples are increasing."""

    coordinates: tuple[int, ...]
    members: tuple[int, ...]


def coordinate_subspaces(vectors: Vectors) -> list[Subspace]:
    """Coordinate subspaces of each dimension below d with two or more vectors, fullest first.

    >>> v = Vectors.of([[1, 2, 0, 0], [3, 4, 0, 0], [5, 6, 0, 0], [1, 1, 1, 1], [0, 0, 1, 0]])
    >>> coordinate_subspaces(v)[0]
    Subspace(coordinates=(0, 1), members=(0, 1, 2))
    """
    filled = np.asarray(vectors.array != 0)
    subspaces = []
    for coordinates in _grown(filled):
        outside = np.setdiff1d(np.arange(vectors.d), coordinates)
        members = np.flatnonzero(~filled[:, outside].any(axis=1))
        if len(members) > 1:
            subspaces.append(Subspace(coordinates, tuple(members.tolist())))
    return sorted(subspaces, key=lambda s: (len(s.coordinates), -len(s.members), s.coordinates))


def support_bounds(
    vectors: Vectors,
    upper: int,
    budget: Budget,
    *,
    seed: int = 0,
    progress: StageProgress = silent,
) -> Iterator[RankBound]:
    """Upper bounds below `upper`, each smaller than the one before, with circuits as witnesses."""
    subspaces = coordinate_subspaces(vectors)
    for space in subspaces:
        if not budget.remaining:
            return
        rank = modular_rank(vectors.array[list(space.members)]).rank
        budget.charge(1e-9 * len(space.members) * vectors.d * rank + 1e-3)
        if len(space.members) <= rank or rank >= upper:
            continue
        relation = vectors.relation(space.members[: 2 * rank + 2])
        if relation is not None and relation.size <= upper:
            upper = relation.size - 1
            yield _bound(relation, space)
    if not subspaces:
        return
    tried: set[tuple[int, ...]] = set()
    while upper > 0:
        untried = (s for s in subspaces if s.members not in tried and len(s.members) >= upper)
        prices = ((nominal_seconds(len(s.members), vectors.d, upper), s) for s in untried)
        price, space = min(prices, key=lambda pair: pair[0], default=(math.inf, subspaces[0]))
        if price > min(_DEAREST, budget.remaining):
            return
        tried.add(space.members)
        decided = decide(vectors.take(space.members), upper, seed=seed, progress=progress)
        budget.charge(price)
        if decided is not None and decided.dependency is not None:
            local = decided.dependency
            members = tuple(space.members[i] for i in local.indices)
            relation = Relation(members, local.coefficients)
            upper = relation.size - 1
            tried.clear()
            yield _bound(relation, space)


def _bound(relation: Relation, space: Subspace) -> RankBound:
    return witnessed(
        relation, "supports", coordinates=list(space.coordinates), vectors=len(space.members)
    )


def _grown(filled: BoolArray) -> list[tuple[int, ...]]:
    """A few coordinate sets of each size that contain the supports of many vectors."""
    supports, count = np.unique(filled, axis=0, return_counts=True)
    sizes = supports.sum(axis=1)
    d = filled.shape[1]
    if int(sizes.min()) >= d:
        return []  # no entry is zero
    best: dict[int, list[tuple[int, tuple[int, ...]]]] = {}
    for start in np.lexsort((-count, sizes))[:_SEEDS]:
        inside = supports[start].copy()
        missing = (filled & ~inside).sum(axis=1)
        for size in range(int(inside.sum()), d):
            held = int((missing == 0).sum())
            entry = (-held, tuple(np.flatnonzero(inside).tolist()))
            best[size] = sorted({*best.get(size, []), entry})[:_TOP]
            if held == len(filled):
                break
            near = filled[missing == missing[missing > 0].min()]
            added = int(np.argmax(near.sum(axis=0) * ~inside))
            inside[added] = True
            missing -= filled[:, added]
    return [coordinates for size in sorted(best) for _, coordinates in best[size]]
