"""Small degenerate data with labels, for constructions of networks."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from attncert.constructions.arrays import IntArray
from attncert.constructions.data.dataset import Dataset
from attncert.verify.audit.attack.cases import Case
from attncert.verify.statements.construction import Construction
from attncert.verify.statements.registry import errors_of


@dataclass(frozen=True)
class NetworkCase(Case):
    """A data set with labels (T, m), over the same denominator.

    tokens: the number of tokens of each example, if contexts differ. option: the seed, 0 or 1.
    """

    labels: IntArray = field(kw_only=True)
    tokens: tuple[int, ...] = field(kw_only=True)

    tables: ClassVar[tuple[str, ...]] = (*Case.tables, "labels")
    fits = True

    @property
    def dataset(self) -> Dataset:
        one = Fraction(1, self.denominator)
        tables = (self.contexts, self.queries, self.labels)
        contexts, queries, labels = ((x.astype(object) * one).tolist() for x in tables)
        own = [rows[:count] for rows, count in zip(contexts, self.tokens, strict=False)]
        return Dataset.of(contexts[0] if len(contexts) == 1 else own, queries, labels, "attack")

    @property
    def size(self) -> tuple[int, int, int]:
        """The number of entries, the sum of their absolute values, and their denominator."""
        tables = [getattr(self, name) for name in self.tables]
        return sum(x.size for x in tables), sum(int(abs(x).sum()) for x in tables), self.denominator

    def without(self, t: int) -> NetworkCase:
        less = super().without(t)
        tokens = (*self.tokens[:t], *self.tokens[t + 1 :])
        return replace(less, labels=np.delete(self.labels, t, axis=0), tokens=tokens)

    def as_dict(self) -> dict[str, Any]:
        sizes = {"seed": int(self.option), "tokens": list(self.tokens)}
        arrays = {name: getattr(self, name).tolist() for name in self.tables}
        return sizes | {"denominator": self.denominator} | arrays


def draw(rng: np.random.Generator) -> NetworkCase:
    """Draw T = 1..7 examples of 1..3 tokens of width 1..3, with labels of 1 or 3 numbers."""
    T, n, d = (int(rng.integers(1, most + 1)) for most in (7, 3, 3))
    m, bound = (int(rng.choice(sizes)) for sizes in ([1, 3], [1, 2, 5, 50]))
    kind, token_kind = (str(rng.choice(list(_VECTORS))) for _ in range(2))
    queries, contexts = _VECTORS[kind](rng, T, d, bound), _VECTORS[token_kind](rng, T * n, d, bound)
    contexts, sharing = contexts.reshape(T, n, d), str(rng.choice(_SHARING))
    if sharing == "permuted":
        contexts = np.stack([contexts[0][rng.permutation(n)] for _ in range(T)])
    classes = queries @ rng.integers(-3, 4, (d, m)) % 5  # equal queries have equal labels
    return NetworkCase(
        contexts[:1] if sharing == "shared" else contexts,
        queries,
        heads=1,
        width=1,
        kind=f"{kind} queries, {sharing} {token_kind} tokens",
        denominator=int(rng.choice([1, 1, 6])),
        option=bool(rng.integers(2)),
        labels=rng.choice([classes, rng.integers(0, 3, (T, m)), rng.integers(-99, 99, (T, m))]),
        tokens=tuple(rng.integers(1, n + 1, T).tolist() if sharing == "ragged" else [n] * T),
    )


def of_dataset(data: Dataset, like: NetworkCase) -> NetworkCase:
    """A copy of the case `like`, but with these data."""
    data = data.expanded()
    arrays = (data.contexts, data.queries, data.labels)
    one = math.lcm(*(x.denominator for x in arrays))
    contexts, queries, labels = (
        x.numerators.astype(object) * (one // x.denominator) for x in arrays
    )
    return replace(
        like,
        contexts=contexts,
        queries=queries,
        labels=labels,
        denominator=one,
        tokens=tuple(data.tokens(t) for t in range(data.T)),
    )


def adapted(construction: Construction, case: Case) -> Dataset:
    with errors_of(construction, "adapt", case.dataset):
        return construction.adapt(case.dataset)


def _collinear(rng: np.random.Generator, count: int, d: int, bound: int) -> IntArray:
    start, step = rng.integers(-bound, bound + 1, (2, d))
    return start + np.arange(count)[:, None] * step


_SHARING = ("shared", "own", "ragged", "permuted")
_VECTORS: dict[str, Callable[[np.random.Generator, int, int, int], IntArray]] = {
    "any": lambda g, count, d, b: g.integers(-b, b + 1, (count, d)),
    "zero": lambda g, count, d, b: np.zeros((count, d), np.int64),
    "equal": lambda g, count, d, b: np.tile(g.integers(-b, b + 1, d), (count, 1)),
    "repeated": lambda g, count, d, b: g.integers(-b, b + 1, (2, d))[g.integers(0, 2, count)],
    "collinear": _collinear,
}
