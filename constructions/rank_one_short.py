"""Short heads u vᵀ that need no saturation (c = 0): found by looking, certified by rank.

The proof's head makes sure that *some* weights place a group. Often far shorter ones do. Here the
pairs (u, v) with the shortest logits come first, whatever α_t = v·e_t they give; a pair is taken if
the features it adds place at least as many examples as the proof's head would: n in the first head,
n - 1 in any other. So the heads never run out: what is left can still be placed by the proof.

With distinct contexts a head may place up to d examples, and takes all it can: fewer heads then
carry any logits at all, and the numbers in the readout have fewer bits. The pair taken is the one
with the fewest bits per example placed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from constructions.placement import independent_rows
from constructions.rank_one_head import Draft, HeadBuilder
from constructions.separation import magnitude, separators, sparse_combinations, spread

_KEEP = 256  # shortest vectors u, and v, that are paired
_MOST = 4096  # combinations looked at
_CELLS = 2**25  # array cells of that; large data get fewer
_TRIES = 24  # pairs worked out for one head


class ShortHeads:
    """Pairs (u, v) by cost, and which of them are used up."""

    def __init__(self, builder: HeadBuilder) -> None:
        self.builder, self.data = builder, builder.data
        keys, queries, every = builder.keys.images, builder.queries.images, range(builder.data.T)
        if self.data.shared:  # a tie in E u leaves a head fewer than n - 1 independent examples
            us = separators(keys, (), builder.rng, every)
        else:
            us = sparse_combinations(keys.shape[2], _count(keys.shape[0] * keys.shape[1]), 3)
        vs = sparse_combinations(queries.shape[1], _count(len(queries)), 3)
        self.us, ranges = _shortest(us, spread(us, keys, every))
        self.vs, reach = _shortest(vs, magnitude(vs, queries, every))
        self._cost = reach @ ranges.T / self.data.T
        self._moves = reach != 0
        self._used: set[tuple[int, int, int]] = set()

    def place(self) -> tuple[list[int], Draft] | None:
        """The examples that the next short head places, and the head; None if none was found."""
        unplaced = np.setdiff1d(np.arange(self.data.T), self.builder.placed.rows).tolist()
        first = not self.builder.placed.rows
        need = min(len(unplaced), self.data.n - (0 if first else 1))
        most = need if self.data.shared else min(len(unplaced), self.data.d)
        best: tuple[float, list[int], Draft, tuple[int, int, int] | None] | None = None
        for bound, cost, pair in islice(self._candidates(unplaced, need, most, first), _TRIES):
            if best is not None and best[0] <= bound:
                break
            draft = self._draft(pair)
            remainder = self.builder.placed.remainder(unplaced, draft.features)
            rows, pivots = independent_rows(remainder, self.builder.prime, most)
            if len(rows) >= need and (best is None or cost / len(rows) < best[0]):
                group = [unplaced[i] for i in rows]
                best = cost / len(rows), group, replace(draft, pivots=pivots), pair
        if best is None:
            return None
        _, group, draft, pair = best
        self._used |= {pair} if pair else set()
        self.builder.placed.extend(group, draft.features, draft.pivots)
        return group, draft

    def _candidates(
        self, unplaced: Sequence[int], need: int, most: int, first: bool
    ) -> Iterator[tuple[float, float, tuple[int, int, int] | None]]:
        """(lower bound on bits per example placed, bits, pair); uniform attention is None.

        A row with v·e_t = 0 attends uniformly, as in every other such head: only the rows that v
        moves are counted.
        """
        if first:
            yield 0.0, 0.0, None
        moved = np.minimum(self._moves[:, unplaced].sum(axis=1), most)
        bounds = self._cost / np.maximum(moved, 1)[:, None]
        bounds[moved < need] = np.inf
        for place in np.argsort(bounds, axis=None, kind="stable")[: 4 * _TRIES + len(self._used)]:
            i, j = divmod(int(place), bounds.shape[1])
            for sign in (1, -1):
                if np.isfinite(bounds[i, j]) and (i, j, sign) not in self._used:
                    yield float(bounds[i, j]), float(self._cost[i, j]), (i, j, sign)

    def _draft(self, pair: tuple[int, int, int] | None) -> Draft:
        if pair is None:
            return self.builder.draft(*(np.zeros(x.shape[1], np.int64) for x in (self.us, self.vs)))
        i, j, sign = pair
        return self.builder.draft(self.us[j], sign * self.vs[i])


def _shortest(vectors: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The _KEEP vectors with the smallest total length that is not 0, and their lengths (P, T)."""
    total = lengths.sum(axis=1)
    order = np.argsort(total, kind="stable")
    kept = order[total[order] > 0][:_KEEP]
    return vectors[kept], lengths[kept]


def _count(cells: int) -> int:
    return min(_MOST, max(16, _CELLS // cells))
