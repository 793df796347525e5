"""Remark 1: data of Kruskal rank exactly κ < n, and what the construction does with them.

Every κ queries are independent and some κ + 1 are not, as an exhaustive test of all subsets shows.
Then T = H(min(n, d_h, κ) - 1) + 1 examples are memorized by H heads of width d_h, for d_h below, at
and above κ; above κ the grouping finds groups of κ, not of d_h. Data of the first kind (all queries
in a space of dimension κ) admit no larger groups, so the construction cannot place one more
example. This module also decides whether other weights of that width can.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from attncert.constructions.arrays import IntArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.exact_array import ExactArray
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Level
from attncert.verify.prove.prove import prove
from attncert.verify.questions.prove import Prove
from hypotheses.instance import every_subset_independent, rank
from hypotheses.universal import universal

__all__ = ["Kappa", "Remark", "kruskal_rank", "of_kruskal_rank", "remarks"]

KINDS = ("one subspace", "one dependent set")


@dataclass(frozen=True)
class Kappa:
    """n tokens, κ < n, width d, and H heads of width d_h = `width`, enough for a capacity above κ;
    kind: one of KINDS."""

    n: int
    kappa: int
    d: int
    heads: int
    width: int
    kind: str

    @property
    def capacity(self) -> int:
        """H(min(n, d_h, κ) - 1) + 1                                        (paper, Remark 1)."""
        return self.heads * (min(self.n, self.width, self.kappa) - 1) + 1


@dataclass(frozen=True)
class Remark:
    """The result. kruskal: the Kruskal rank of the T examples, by exhaustive search.

    a1: the standing of A1 in the theorem's form. memorization: its standing for the paper's
    construction. one_more: the same with one more example, for this construction and for any
    weights of these sizes.
    """

    sizes: Kappa
    kruskal: int
    a1: Level
    memorization: Level
    one_more: tuple[Level, Level]

    @property
    def holds(self) -> bool:
        """Whether T examples are memorized at exactly this Kruskal rank although A1 is false."""
        exactly = self.kruskal == self.sizes.kappa
        return exactly and (self.a1, self.memorization) == (Level.REFUTED, Level.PROVED)


def kruskal_rank(queries: IntArray) -> int:
    """The largest k such that every k of these integer vectors are independent, by testing all
    subsets.

    >>> kruskal_rank(np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]]))
    2
    """
    most = rank(queries.tolist())
    return next((k for k in range(most, 0, -1) if every_subset_independent(queries, k)), 0)


def of_kruskal_rank(sizes: Kappa, examples: int, seed: int) -> Dataset:
    """Queries of Kruskal rank exactly κ (at least κ + 1 examples), with distinct contexts of rank
    n.

    one subspace: a moment curve in a space of dimension κ. one dependent set: random queries, of
    which one is a combination of κ others with nonzero coefficients.
    """
    rng = np.random.default_rng([seed, sizes.n, sizes.kappa, sizes.heads])
    while True:
        if sizes.kind == KINDS[0]:
            points = np.arange(examples) - examples // 2
            curve = points[:, None] ** np.arange(sizes.kappa)
            queries = curve @ rng.integers(-2, 3, (sizes.kappa, sizes.d))
        else:
            queries = rng.integers(-3, 4, (examples, sizes.d))
            signs = rng.choice((-1, 1), sizes.kappa)
            queries[sizes.kappa] = signs @ queries[: sizes.kappa]
        contexts = rng.integers(-3, 4, (examples, sizes.n, sizes.d))
        full = all(rank(context.tolist()) == sizes.n for context in contexts)
        if full and kruskal_rank(queries) == sizes.kappa:
            labels = rng.integers(-9, 10, (examples, 1))
            arrays = ExactArray(contexts), ExactArray(queries), ExactArray(labels)
            return Dataset(*arrays, "kappa")


def remarks(cases: Iterable[Kappa], seed: int) -> Iterator[Remark]:
    """The exact outcome of Remark 1 for each of these sizes."""
    for sizes in cases:
        more = of_kruskal_rank(sizes, sizes.capacity + 1, seed)
        data = more.take(sizes.capacity)
        question = Prove(heads=sizes.heads, head_width=sizes.width, claim="full-rank")
        proof = prove(data, question)
        yield Remark(
            sizes,
            kruskal_rank(np.array(data.queries.stored)),
            proof.trace[ids.A1].level,
            proof.standing,
            (prove(more, question).standing, universal(more, sizes.heads, sizes.width).level),
        )
