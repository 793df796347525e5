"""Short heads u vᵀ without saturation (c = 0), found by a search and certified by their rank.

The proof's head shows that *some* weights place a group. Much shorter heads are often enough. Here
the pairs (u, v) with the shortest logits come first, whatever their α_t = v·e_t; a pair is accepted
if its features place at least as many examples as the proof's head would: n in the first head, n -
1 in any other. So the heads suffice, and the proof's heads can still place the rest.

With distinct contexts, a head may place up to d examples, and places as many as it can: then fewer
heads have nonzero logits, and the numbers in the readout have fewer bits.

The search minimizes the bits per placed example. The number of examples that a pair places is the
rank that its features add, which only falls as other heads are added (rank is submodular), so a
count bounds all later counts. The first estimate is the number of unplaced examples whose attention
is not uniform. So the pair with the best estimate is evaluated, and accepted if it is still the
best (a lazy greedy search).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from attncert.constructions.arrays import FloatArray, IntArray
from attncert.constructions.search.placement import independent_rows
from attncert.constructions.search.separation import (
    combine,
    magnitude,
    separators,
    sparse_combinations,
    spread,
)
from attncert.constructions.width_one.head import WidthOneBuilder, WidthOneDraft

_KEEP = 256  # the number of shortest vectors u, and of v, that are paired
_MOST = 4096  # combinations examined
_CELLS = 2**28  # products of their entries; large data get fewer combinations
_TRIES = 16  # pairs tried for one head


class ShortHeads:
    """All pairs (u, ±v), their bits, and bounds on the number of examples that each can place."""

    def __init__(self, builder: WidthOneBuilder) -> None:
        self.builder, self.data = builder, builder.data
        keys, queries = builder.key_coordinates.images, builder.query_coordinates.images
        every = range(builder.data.T)
        if self.data.shared:  # after a tie in E u, a head places fewer than n - 1 examples
            us = separators(keys, (), builder.rng, every)
        else:
            us = sparse_combinations(keys.shape[2], _count(keys.size), 3)
        vs = sparse_combinations(queries.shape[1], _count(queries.size), 3)
        self.us, ranges = _shortest(us, spread(us, keys, every))
        self.vs, reach = _shortest(vs, magnitude(vs, queries, every))
        self._bits = np.repeat(reach @ ranges.T, 2)
        most = np.full(len(self.vs), float(builder.data.T))
        if self.data.shared:  # equal v·e_t imply equal features
            most[:] = [len(np.unique(products)) for products in combine(self.vs, queries)]
        self._bounds = np.repeat(most, 2 * len(self.us))
        self._v_moves, self._u_moves = (reach > 0).astype(float), (ranges > 0).astype(float)

    def place(self) -> tuple[list[int], WidthOneDraft] | None:
        """The examples that the next short head places, and the head; None if no head was found."""
        need, most = self._sizes()
        if not self.builder.placed.rows:
            uniform = self._look(*(np.zeros(x.shape[1], np.int64) for x in (self.us, self.vs)))
            if len(uniform[0]) >= need:
                return self._take(uniform)
        fresh: dict[int, tuple[list[int], WidthOneDraft]] = {}
        guess = self._unplaced_moved()
        while len(fresh) < _TRIES:
            counts = np.minimum(np.minimum(self._bounds, guess), most)
            costs = np.where(counts >= need, self._bits / np.maximum(counts, 1), np.inf)
            pair = int(costs.argmin()) if len(costs) else None
            if pair is None or costs[pair] == np.inf:
                return None
            if pair in fresh:
                self._bounds[pair] = 0
                return self._take(fresh[pair])
            (i, j), sign = divmod(pair // 2, len(self.us)), (1, -1)[pair % 2]
            fresh[pair] = self._look(self.us[j], sign * self.vs[i])
            self._bounds[pair] = len(fresh[pair][0])
        return None

    def _unplaced_moved(self) -> FloatArray:
        """For each pair, the number of unplaced examples whose attention is not uniform."""
        unplaced = self.builder.placed.unplaced
        return np.repeat(self._v_moves[:, unplaced] @ self._u_moves[:, unplaced].T, 2)

    def _sizes(self) -> tuple[int, int]:
        """The least and the largest number of examples that the next head may place."""
        placed = len(self.builder.placed.rows)
        need = min(self.data.T - placed, self.data.n - (1 if placed else 0))
        return need, need if self.data.shared else min(self.data.T - placed, self.data.d)

    def _look(self, u: IntArray, v: IntArray) -> tuple[list[int], WidthOneDraft]:
        """The examples that the head u vᵀ can place next, with their pivots."""
        placed, draft = self.builder.placed, self.builder.draft(u, v)
        unplaced = placed.unplaced
        need, most = self._sizes()
        if self.data.shared and not placed.rows:  # one from each class of equal examples
            first = np.sort(np.unique(draft.products, return_index=True)[1]).tolist()
            unplaced = first if len(first) < need else unplaced
        rest = placed.remainder(unplaced, draft.features)
        rows, pivots = independent_rows(rest, self.builder.prime, most)
        return [unplaced[i] for i in rows], replace(draft, pivots=pivots)

    def _take(self, head: tuple[list[int], WidthOneDraft]) -> tuple[list[int], WidthOneDraft]:
        group, draft = head
        self.builder.placed.extend(group, draft.features, draft.pivots)
        return head


def _shortest(vectors: IntArray, lengths: FloatArray) -> tuple[IntArray, FloatArray]:
    """The _KEEP vectors with the smallest nonzero total length, and their lengths (P, T)."""
    total = lengths.sum(axis=1)
    order = np.argsort(total, kind="stable")
    shortest = order[total[order] > 0][:_KEEP]
    return vectors[shortest], lengths[shortest]


def _count(entries: int) -> int:
    return min(_MOST, max(16, _CELLS // entries))
