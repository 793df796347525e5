"""Dependent sets: the witnesses of every upper bound on the Kruskal rank.

A relation between s of the vectors, exact and with no coefficient 0, shows that s of them are
dependent, so the Kruskal rank is at most s - 1. The smaller s the better, hence *circuits*: sets
that are dependent while every proper subset is independent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from attncert.constructions.numerals import integer
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.rank.rational import Relation, find_relation


@dataclass(frozen=True)
class Dependency(Relation):
    """sum of coefficients[i] * vectors[indices[i]] = 0: indices increase, coefficients are nonzero
    integers without a common factor, the first positive (the normal form of `Relation.of`).

    >>> v = Vectors.of([[1, 0], [0, 1], [0.5, 0.5], [3, 0]])
    >>> found = Dependency.among(v, [0, 1, 2, 3])
    >>> found.size, found.indices, found.coefficients, found.holds(v)
    (2, (0, 3), (3, -1), True)
    """

    @classmethod
    def among(cls, vectors: Vectors, indices: Sequence[int]) -> Dependency | None:
        """A circuit among these vectors, all distinct; None if they are independent. Both exact.

        It is minimal (every proper subset is independent) but need not be the smallest: it is the
        smallest of the fundamental circuits of one basis.
        """
        found = find_relation(vectors.array, sorted(int(i) for i in indices))
        return None if found is None else cls(found.indices, found.coefficients)

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Dependency:
        """The inverse of `as_dict`, for coefficients of any length."""
        return cls(tuple(value["indices"]), tuple(map(integer, value["coefficients"])))

    @property
    def size(self) -> int:
        return len(self.indices)

    def holds(self, vectors: Any) -> bool:
        """Whether the relation is true of these `Vectors` (or of a table), exactly."""
        table = vectors.array if isinstance(vectors, Vectors) else vectors
        known = all(0 <= i < len(table) for i in self.indices)
        return known and len(set(self.indices)) == self.size and super().holds(table)

    def circuit(self, vectors: Vectors) -> Dependency:
        """A circuit inside this set. Raises ValueError if the relation does not hold."""
        if not self.holds(vectors):
            raise ValueError("not a relation between these vectors")
        found = Dependency.among(vectors, self.indices)
        if found is None:
            raise ArithmeticError("a relation holds between vectors called independent")
        return found
