"""Remark 1: data of Kruskal rank exactly κ < n, and what the construction does with them.

Every κ queries are independent and some κ + 1 are not: decided by exhausting the subsets. Then
T = H(min(n, d_h, κ) - 1) + 1 examples are memorized with heads of width κ; one example more is
above that bound, and the data of the first kind (all queries in a space of dimension κ) admit no
grouping of larger groups. Whether other weights serve one more is asked, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from constructions.dataset import Dataset
from constructions.exact_array import ExactArray
from verify.evidence import Claim, Level
from verify.hypotheses.instance import every_subset_independent, rank
from verify.prove import prove
from verify.settings import Settings
from verify.universal import universal

__all__ = ["Kappa", "Remark", "kruskal_rank", "of_kruskal_rank", "remarks"]

KINDS = ("one subspace", "one dependent set")


@dataclass(frozen=True)
class Kappa:
    """Sizes: n tokens, κ < n, d, H heads; kind: one of KINDS."""

    n: int
    kappa: int
    d: int
    heads: int
    kind: str

    @property
    def capacity(self) -> int:
        return self.heads * (self.kappa - 1) + 1


@dataclass(frozen=True)
class Remark:
    """What was found. kruskal: the Kruskal rank by exhaustion, of the T examples and of T + 1.

    levels: of A1 at n, of A1 at κ, of memorization with d_h = κ; then with one example more: the
    construction with d_h = n, and some weights of that width.
    """

    asked: Kappa
    kruskal: tuple[int, int]
    levels: tuple[Level, Level, Level]
    one_more: tuple[Level, Level]

    @property
    def holds(self) -> bool:
        """Remark 1 at T, with A1 false at n and true at κ."""
        exactly = self.kruskal[0] == self.asked.kappa
        return exactly and self.levels == (Level.REFUTED, Level.PROVED, Level.PROVED)


def kruskal_rank(queries: np.ndarray) -> int:
    """The largest k such that every k of these integer vectors are independent. All subsets.

    >>> kruskal_rank(np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]]))
    2
    """
    most = rank(queries.tolist())
    return next((k for k in range(most, 0, -1) if every_subset_independent(queries, k)), 0)


def of_kruskal_rank(asked: Kappa, examples: int, seed: int) -> Dataset:
    """Queries of Kruskal rank exactly κ (at least κ + 1 examples), distinct contexts of rank n.

    one subspace: a moment curve in a space of dimension κ. one dependent set: random, the last of
    κ + 1 of them a combination of the κ others with coefficients that are not 0.
    """
    rng = np.random.default_rng([seed, asked.n, asked.kappa, asked.heads])
    while True:
        if asked.kind == KINDS[0]:
            points = np.arange(examples) - examples // 2
            curve = points[:, None] ** np.arange(asked.kappa)
            queries = curve @ rng.integers(-2, 3, (asked.kappa, asked.d))
        else:
            queries = rng.integers(-3, 4, (examples, asked.d))
            signs = rng.choice((-1, 1), asked.kappa)
            queries[asked.kappa] = signs @ queries[: asked.kappa]
        contexts = rng.integers(-3, 4, (examples, asked.n, asked.d))
        full = all(rank(context.tolist()) == asked.n for context in contexts)
        if full and kruskal_rank(queries) == asked.kappa:
            labels = rng.integers(-9, 10, (examples, 1))
            arrays = ExactArray(contexts), ExactArray(queries), ExactArray(labels)
            return Dataset(*arrays, "kappa")


def remarks(sizes: tuple[Kappa, ...], seed: int) -> Iterator[Remark]:
    """Remark 1 for each of these sizes. Exact."""
    for asked in sizes:
        more = of_kruskal_rank(asked, asked.capacity + 1, seed)
        data = more.take(asked.capacity)
        proof = prove(data, Settings(heads=asked.heads, head_width=asked.kappa))
        larger = prove(more, Settings(heads=asked.heads, head_width=asked.n, claim="full-rank"))
        weights: Claim = universal(more, asked.heads, asked.n)
        yield Remark(
            asked,
            (kruskal_rank(_queries(data)), kruskal_rank(_queries(more))),
            (
                proof.trace["hypothesis.A1"].level,
                proof.trace["hypothesis.A1-at-r"].level,
                proof.standing,
            ),
            (larger.standing, weights.level),
        )


def _queries(data: Dataset) -> np.ndarray:
    return np.array(data.queries.stored)
