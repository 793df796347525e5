"""Theorem U: the largest rank of Z for almost all queries (ours; docs/given-labels.md, (4)).

For these contexts, H heads of any width, and almost all queries it is the least of

    H a(S) + b(S) + T - |S|        over all sets S of examples,

a(S) and b(S) of the contexts of S, and for all queries no weights exceed that. There are 2ᵀ sets,
but one elimination finds the least. By Lemma 2 of the page it is the rank of T general vectors, one
in each of the spaces

    R_t = { (c E_1 + δ_1, ..., c E_1 + δ_H) : δ_h in the span of the differences of context t }.

Integer vectors drawn there have at most that rank, modulo a prime too; and any S gives at least the
least. The set that can attain it is that of the vectors in some relation with the others. So where
what it gives is the rank of the vectors drawn, both are the least: nothing rests on luck.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attncert.constructions.arrays import IntArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.given.law import Spans, spans
from attncert.verify.rank.relations import related_rows

__all__ = ["AlmostAll", "almost_all_queries"]

_PRIME = 67108859  # below 2^26: sums of products of residues are exact in int64
_MOST = 2**22  # T·H·d up to which vectors are drawn


@dataclass(frozen=True)
class AlmostAll:
    """One set S of examples, the bound that it gives, and whether no set gives a lower one.

    heads: for so many was it looked for; `bound` holds for any number. size: |S|.
    """

    heads: int
    examples: int
    size: int
    spans: Spans
    least: bool

    @property
    def rank(self) -> int:
        return self.bound(self.heads)

    def bound(self, heads: int) -> int:
        """H a + b + T - |S|: no weights of so many heads give a larger rank of Z."""
        return heads * self.spans.differences + self.spans.common + self.examples - self.size


def almost_all_queries(data: Dataset, heads: int, seed: int = 0) -> AlmostAll:
    """The largest rank of Z for almost all queries, exactly; where the vectors would be too many,
    or unlucky, the bound by all examples, which is not said to be the least.

    >>> data = Dataset.of([[[1, 0], [0, 1]]] * 3 + [[[1, 2], [3, 4]]], [[1, 1]] * 4, [0] * 4)
    >>> almost_all_queries(data, 1).rank, almost_all_queries(data, 1).size
    (2, 4)
    """
    whole = AlmostAll(heads, data.T, data.T, spans(data), False)
    if data.T * heads * data.d > _MOST:
        return whole
    rank, members = related_rows(_drawn(data, heads, seed), _PRIME)
    some = members if 0 < len(members) < data.T else range(data.T if members else 0)
    chosen = AlmostAll(heads, data.T, len(some), _spans_of(data, some), True)
    return chosen if chosen.rank == rank else whole


def _spans_of(data: Dataset, members: list[int] | range) -> Spans:
    return spans(data.take(list(members))) if members else Spans(0, 0, 0, data.m)


def _drawn(data: Dataset, heads: int, seed: int) -> IntArray:
    """T×(H d): one vector in each R_t, modulo the prime."""
    rng = np.random.default_rng(seed)
    rows = (data.contexts.numerators % _PRIME).astype(np.int64)
    differences = (rows[:, 1:] - rows[:, :1]) % _PRIME
    factors = rng.integers(0, _PRIME, (data.T, heads, data.n - 1))
    scale = rng.integers(0, _PRIME, (data.T, 1, 1))
    drawn = (scale * rows[:, :1] + factors @ differences) % _PRIME
    table: IntArray = drawn.reshape(data.T, heads * data.d)
    return table
