"""Zero vectors and parallel vectors: Kruskal rank 0 and 1, decided by hashing, in O(N d).

Two vectors are parallel just when their primitive integer forms (no common factor, first nonzero
entry positive) are equal. That form is only made where it matters: parallel vectors have
proportional residues modulo a prime p, so those with a scaled residue vector of their own (first
nonzero residue 1) are parallel to no other, unless all residues of a nonzero vector vanish: then
every vector is looked at exactly. So "none found" is a proof, and so is every pair found.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from attncert.constructions.exact.hashing import Hashed, direction
from attncert.constructions.exact.primes import PRIMES_FLOAT64
from attncert.verify.kruskal.bounds import RankBound, witnessed
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.rank.engines.arithmetic import inverse, reduce
from attncert.verify.rank.rational import Relation
from attncert.verify.rank.residues import residues


def parallel_bounds(vectors: Vectors) -> tuple[RankBound, ...]:
    """The Kruskal rank where it is 0 or 1; else the proof that it is 2 or more (if N > 1).

    >>> [(b.end, b.value) for b in parallel_bounds(Vectors.of([[1, 2], [2, 4], [0, 1]]))]
    [('lower', 1), ('upper', 1)]
    >>> [(b.end, b.value) for b in parallel_bounds(Vectors.of([[1, 2], [2, 5], [0, 1]]))]
    [('lower', 2)]
    """
    zero = zeros(vectors)
    if zero:
        return (witnessed(Relation((zero[0],), (1,)), "parallel", zeros=len(zero)),)
    if vectors.N == 1:
        return (RankBound("lower", 1, "parallel", "The vector is not zero."),)
    classes = parallel_classes(vectors)
    if not classes:
        return (RankBound("lower", 2, "parallel", "No vector is zero, no two are parallel."),)
    relation = vectors.relation(classes[0][:2])
    if relation is None:
        raise ArithmeticError("parallel vectors called independent")
    more = {"classes of parallel vectors": len(classes), "vectors in them": sum(map(len, classes))}
    return (
        RankBound("lower", 1, "parallel", "No vector is zero."),
        witnessed(relation, "parallel", **more),
    )


def zeros(vectors: Vectors) -> list[int]:
    """Indices of zero vectors."""
    array = vectors.array
    return [int(i) for i in np.flatnonzero(~np.any(array != 0, axis=1))]


def parallel_classes(vectors: Vectors) -> list[list[int]]:
    """The classes of two or more parallel vectors, zero vectors left out; each increasing.

    >>> parallel_classes(Vectors.of([[1, 2], [0, 1], [-2, -4], [0, 0], [0, 3], [1, 1]]))
    [[0, 2], [1, 4]]
    """
    exact: dict[Hashed, list[int]] = defaultdict(list)
    for i in _suspects(vectors):
        key, _ = direction([int(x) for x in vectors.rows([i]).entries()])
        if key is not None:
            exact[key].append(i)
    return sorted(members for members in exact.values() if len(members) > 1)


def _suspects(vectors: Vectors) -> list[int]:
    """Vectors that are parallel to another, or zero, modulo a prime; increasing."""
    p = PRIMES_FLOAT64[0]
    table = residues(vectors.array, p)
    lead = np.argmax(table != 0, axis=1)
    first = table[np.arange(len(table)), lead]
    scaled = reduce(table * inverse(first, p)[:, None], p)
    scaled = np.where(scaled > p / 2, scaled - p, np.where(scaled < -p / 2, scaled + p, scaled))
    _, group, size = np.unique(
        scaled + 0.0, axis=0, return_inverse=True, return_counts=True
    )  # + 0.0: no -0.0
    if np.any((first == 0) & np.any(vectors.array != 0, axis=1)):
        return list(range(vectors.N))
    suspicious = size[group.ravel()] > 1
    return [int(i) for i in np.flatnonzero(suspicious)]
