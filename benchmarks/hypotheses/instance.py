"""Small data with the sizes of a layer, on which hypotheses are weakened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from flint import fmpz_mat

from attncert.constructions.arrays import IntArray
from attncert.constructions.construction import Groups
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.exact_array import ExactArray
from attncert.constructions.search.grouping import consecutive
from attncert.verify.audit.attack.cases import Case, independent


@dataclass(frozen=True)
class Instance(Case):
    """A case with labels of dimension m (of the largest possible rank) and values of width d_v.

    contexts: (T or 1, n, d), queries: (T, d), integers; heads: H, width: d_h.
    """

    m: int = 1
    values: int = 1

    @property
    def T(self) -> int:
        return len(self.queries)

    @property
    def n(self) -> int:
        return int(self.contexts.shape[1])

    @property
    def d(self) -> int:
        return int(self.contexts.shape[2])

    @property
    def capacity(self) -> int:
        return self.heads * (self.r - 1) + 1

    @property
    def groups(self) -> Groups:
        """Groups of r examples, then of r - 1, in the given order (one each if r = 1); there are
        more groups than heads if T is above capacity."""
        return tuple(g for g in consecutive(range(self.T), self.r, max(self.r - 1, 1)) if g)

    @property
    def dataset(self) -> Dataset:
        labels = np.eye(self.T, self.m, dtype=np.int64)
        contexts, queries = ExactArray(self.contexts), ExactArray(self.queries)
        return Dataset(contexts, queries, ExactArray(labels), "weakened")

    def context(self, t: int) -> list[list[int]]:
        """E of example t as lists."""
        table: list[list[int]] = self.contexts[t if len(self.contexts) > 1 else 0].tolist()
        return table

    def as_dict(self) -> dict[str, Any]:
        return super().as_dict() | {"m": self.m, "d_v": self.values}


def rank(rows: Sequence[Sequence[int]]) -> int:
    """The rank over ℚ, exact; 0 if there are no rows."""
    return int(fmpz_mat([[int(x) for x in row] for row in rows]).rank()) if len(rows) else 0


def affine_rank(rows: Sequence[Sequence[int]]) -> int:
    """The largest number of affinely independent rows: the rank with a column of ones."""
    return rank([[*row, 1] for row in rows])


def every_subset_independent(vectors: IntArray, size: int) -> bool:
    """Whether the Kruskal rank of these integer vectors is at least min(size, N), by testing all
    subsets.
    """
    return all(
        independent(vectors[list(some)])
        for some in combinations(range(len(vectors)), min(size, len(vectors)))
    )
