"""Small degenerate integer data of every kind, for constructions of a layer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from flint import fmpz_mat

from attncert.constructions.arrays import IntArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.exact_array import ExactArray

_DRAWS = 200  # attempts to draw a context of rank n; after them, unit rows are used


@dataclass(frozen=True)
class Case:
    """A data set and a task for the construction.

    contexts (T or 1, n, d) and queries (T, d): int64 numerators over `denominator`.
    heads: H. width: d_h, which bounds r = min(n, d_h). kind: how the case was drawn. option: the
    seed for the construction.
    """

    contexts: IntArray
    queries: IntArray
    heads: int
    width: int
    kind: str = ""
    denominator: int = 1
    option: bool = False

    tables: ClassVar[tuple[str, ...]] = ("queries", "contexts")

    @property
    def fits(self) -> bool:
        return len(self.queries) <= self.heads * (self.r - 1) + 1

    def without(self, t: int) -> Self:
        contexts = np.delete(self.contexts, t, axis=0) if len(self.contexts) > 1 else self.contexts
        return replace(self, contexts=contexts, queries=np.delete(self.queries, t, axis=0))

    @property
    def r(self) -> int:
        return min(self.contexts.shape[1], self.width)

    def as_dict(self) -> dict[str, Any]:
        return {
            "H": self.heads,
            "d_h": self.width,
            "option": self.option,
            "denominator": self.denominator,
            "contexts": self.contexts.tolist(),
            "queries": self.queries.tolist(),
        }

    @property
    def dataset(self) -> Dataset:
        """Add labels 0, 1, 2, ..., which universal memorization ignores."""
        labels = np.arange(len(self.queries), dtype=np.int64)[:, None]
        return Dataset(
            ExactArray(self.contexts, self.denominator),
            ExactArray(self.queries, self.denominator),
            ExactArray(labels),
            "attack",
        )


def draw(rng: np.random.Generator, *, width_one: bool) -> Case:
    """Draw a case with contexts of rank n, n = 1..4, d = n..n+2, H = 1..3 and T up to the capacity.

    width_one: d_h = 1 with groups of n and n - 1 examples; otherwise d_h = 1..n+1, r = min(n, d_h).
    """
    n = int(rng.integers(1, 5))
    d, heads = n + int(rng.integers(0, 3)), int(rng.integers(1, 4))
    width = n if width_one else int(rng.integers(1, n + 2))
    capacity = heads * (min(n, width) - 1) + 1
    T = int(rng.integers(max(1, capacity - 2), capacity + 1))
    bound = int(rng.choice([1, 2, 3, 5, 10]))
    context_kind = str(rng.choice(list(_CONTEXTS)))
    query_kind = str(rng.choice(list(_QUERIES)))
    return Case(
        contexts=_CONTEXTS[context_kind](rng, T, n, d, bound),
        queries=_QUERIES[query_kind](rng, T, n, d, bound),
        heads=heads,
        width=width,
        kind=f"{context_kind} contexts, {query_kind} queries",
        denominator=int(rng.choice([1, 1, 1, 6])),
        option=bool(rng.integers(2)),
    )


def independent(rows: IntArray) -> bool:
    """Whether these integer rows (k, d) are independent over Q. Exact."""
    return int(fmpz_mat(rows.tolist()).rank()) == len(rows)


def _full_rank(make: Callable[[int], IntArray], count: int) -> IntArray:
    """`count` matrices (n, d) of rank n. make(k) draws k matrices."""
    matrices = make(count)
    for _ in range(_DRAWS):
        dependent = np.array([not independent(rows) for rows in matrices])
        if not dependent.any():
            return matrices
        matrices[dependent] = make(int(dependent.sum()))
    matrices[dependent] = np.eye(*matrices.shape[1:], dtype=np.int64)
    return matrices


def _uniform(rng: np.random.Generator, count: int, n: int, d: int, bound: int) -> IntArray:
    return _full_rank(lambda k: rng.integers(-bound, bound + 1, (k, n, d)), count)


def _sparse(rng: np.random.Generator, count: int, n: int, d: int, bound: int) -> IntArray:
    def make(k: int) -> IntArray:
        entries: IntArray = rng.integers(-bound, bound + 1, (k, n, d))
        return entries * (rng.random((k, n, d)) < 0.5)

    return _full_rank(make, count)


def _near(rng: np.random.Generator, count: int, n: int, d: int, bound: int) -> IntArray:
    base = 100 * rng.integers(1, bound + 1, (1, 1, d))
    return _full_rank(lambda k: base + rng.integers(-1, 2, (k, n, d)), count)


def _permuted(rng: np.random.Generator, count: int, n: int, d: int, bound: int) -> IntArray:
    one = _uniform(rng, 1, n, d, bound)[0]
    return np.stack([one[rng.permutation(n)] for _ in range(count)])


def _moment_rows(rng: np.random.Generator, count: int, d: int) -> IntArray:
    low = -(count // 2) - int(rng.integers(0, 3))
    points = low + rng.permutation(count + 4)[:count]
    return points[:, None] ** np.arange(d)


def _dependent(rng: np.random.Generator, T: int, n: int, d: int, bound: int) -> IntArray:
    """Queries, one of which is a combination of two others, so that A1 is false if n ≥ 3."""
    queries = rng.integers(-bound, bound + 1, (T, d))
    if T >= 3:
        i, j, k = rng.permutation(T)[:3]
        queries[i] = rng.choice([-2, -1, 1, 2]) * queries[j] + rng.choice([-1, 1]) * queries[k]
    return queries


Maker = Callable[[np.random.Generator, int, int, int, int], IntArray]

# (rng, T, n, d, bound) -> (T or 1, n, d)
_CONTEXTS: dict[str, Maker] = {
    "shared": lambda g, T, n, d, b: _uniform(g, 1, n, d, b),
    "random": _uniform,
    "repeated": lambda g, T, n, d, b: _uniform(g, 2, n, d, b)[g.integers(0, 2, T)],
    "permuted": _permuted,
    "scaled": lambda g, T, n, d, b: (
        _uniform(g, 1, n, d, b) * g.choice([-3, -1, 1, 2, 10], (T, 1, 1))
    ),
    "sparse": _sparse,
    "near-collinear": _near,
    "moment-curve": lambda g, T, n, d, b: np.stack([_moment_rows(g, n, d) for _ in range(T)]),
    "unit": lambda g, T, n, d, b: np.stack(
        [np.eye(d, dtype=np.int64)[g.permutation(d)[:n]] for _ in range(T)]
    ),
}

# (rng, T, n, d, bound) -> (T, d)
_QUERIES: dict[str, Maker] = {
    "random": lambda g, T, n, d, b: g.integers(-b, b + 1, (T, d)),
    "sparse": lambda g, T, n, d, b: g.integers(-b, b + 1, (T, d)) * (g.random((T, d)) < 0.6),
    "near-collinear": lambda g, T, n, d, b: (
        100 * g.integers(1, b + 1, (1, d)) + g.integers(-b, b + 1, (T, d))
    ),
    "moment-curve": lambda g, T, n, d, b: _moment_rows(g, T, d),
    "one-subspace": lambda g, T, n, d, b: (
        _moment_rows(g, T, n) @ _uniform(g, 1, n, d, min(b, 3))[0]
    ),
    "dependent": _dependent,
    "scaled": lambda g, T, n, d, b: _moment_rows(g, T, d) * g.choice([-3, -1, 1, 2, 10], (T, 1)),
}
