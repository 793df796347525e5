"""The search for the heads of the proof, one after another; `width_one/theorem.py` calls it.

    M_h = u (c v0 + v1)ᵀ

Everything here is integral: contexts and queries are given by their numerators, u and v by their
coefficients in the bases of constructions/width_one/coordinates.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from attncert.constructions.arrays import IntArray, IntegerArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.exact import integers
from attncert.constructions.exact.modular import UnluckyPrime
from attncert.constructions.search.feature_blocks import FeatureBlocks
from attncert.constructions.search.placement import Block, Placement, Span, choose
from attncert.constructions.search.saturation import candidates_for_c, least_multiplier
from attncert.constructions.search.separation import separating_pairs, separators, spread
from attncert.constructions.width_one.coordinates import (
    GroupQueries,
    key_coordinates,
    query_coordinates,
)

_PAIRS = 4  # the number of pairs (u, v0) for which the whole head is computed
_LARGE = 2**25  # T²·d above which only one pair is tried
_CANDIDATES = 8  # values of α tried together


@dataclass(frozen=True)
class WidthOneDraft:
    """A complete head in coefficients, with rows E⁽ᵗ⁾u (T or 1, n) and products v·e_t (T,), v = c
    v0 + v1. A head without v0 has no c, lead or targets."""

    u: IntArray
    v1: IntegerArray
    rows: IntegerArray
    products: IntegerArray
    features: Block
    pivots: list[int]
    v0: IntegerArray | None = None
    c: int | None = None
    lead: IntegerArray | None = None
    targets: IntArray | None = None

    def logits(self, examples: Sequence[int]) -> IntegerArray:
        """(v·e_t) E⁽ᵗ⁾u of these examples: (g, n)."""
        return integers.multiply(self.products[list(examples)][:, None], self.row(examples))

    def row(self, examples: Sequence[int]) -> IntegerArray:
        """E⁽ᵗ⁾u of these examples: (g, n), or (1, n) if the context is shared."""
        return self.rows if len(self.rows) == 1 else self.rows[list(examples)]

    @property
    def bits(self) -> int:
        """The bits that the head adds to the softmax denominators of all examples."""
        spans = np.ptp(self.rows, axis=1)
        return int(integers.multiply(np.abs(self.products), spans).sum())


class WidthOneBuilder:
    """Builds the heads in order, and holds the coordinates and the placed examples."""

    def __init__(
        self, data: Dataset, *, seed: int, prime: int, saturation: int | None = None
    ) -> None:
        self.data, self.prime, self.seed = data, prime, seed
        self.saturation = saturation
        self._us: IntArray | None = None
        self.pairs = _PAIRS if data.T**2 * data.d <= _LARGE else 1
        self.rng = np.random.default_rng(seed)
        self.key_coordinates = key_coordinates(data, seed)
        self.query_coordinates = query_coordinates(data)
        self.blocks = FeatureBlocks(data, prime)
        self.placed = Placement(data.T, prime)

    def add(self, group: Sequence[int], short: bool = False) -> WidthOneDraft:
        """The proof's head for this group, which is then placed. short: in a large layer, heads
        with only v1 are tried first. Raises UnluckyPrime."""
        solver = GroupQueries(self.query_coordinates.images, group, self.prime, self.seed)
        eliminators = self.placed.eliminators(list(group))  # these are the same in every draft
        best: WidthOneDraft | None = None
        if short and self.pairs == 1 and self.placed.rows:
            best = self._without_selector(group, solver, eliminators)
        for u, v0 in () if best else self._directions(group, solver.kernel):
            draft = self._work_out(group, solver, eliminators, u, v0)
            best = draft if best is None or draft.bits < best.bits else best
        assert best is not None, "the first draft is always kept"
        self.placed.extend(list(group), best.features, best.pivots)
        return best

    def _without_selector(
        self, group: Sequence[int], solver: GroupQueries, eliminators: Block
    ) -> WidthOneDraft | None:
        """The head u v1ᵀ whose α on the group are the multiples nearest to 0 of one whole number
        (in lattice coordinates, one for each example); None if it does not place the group.
        """
        us = self._separators(group)
        length = spread(us, self.key_coordinates.images, group).sum(axis=1)
        alphas = np.arange(1, len(group) + 1) - len(group) // 2
        v = solver.solve(alphas.tolist())
        draft = self.draft(us[length.argmin()], v)
        pivots = self.placed.pivots(list(group), draft.features, eliminators)
        return None if pivots is None else replace(draft, pivots=pivots)

    def draft(self, u: IntArray, v: IntegerArray) -> WidthOneDraft:
        """The head u vᵀ, without pivots."""
        rows, products = self._rows(u), self._products(v)
        features = self.blocks.of(integers.multiply(products[:, None], rows))
        return WidthOneDraft(u, v, rows, products, features, [])

    def _directions(
        self, group: Sequence[int], kernel: IntegerArray
    ) -> list[tuple[IntArray, IntegerArray | None]]:
        """Pairs (u, v0), the shortest first; v0 is None in the first head."""
        earlier, images = self.placed.rows, self.key_coordinates.images
        outside = np.ones(self.data.T, dtype=bool)
        outside[list(group)] = False
        if not earlier:
            us = self._separators(group)
            length = spread(us, images, range(self.data.T)).sum(axis=1)
            return [(us[i], None) for i in np.argsort(length, kind="stable")[: self.pairs]]
        pairs = separating_pairs(
            self._separators(group),
            images,
            integers.product(self.query_coordinates.images, kernel),
            earlier,
            np.flatnonzero(outside).tolist(),
            self.pairs,
            self.rng,
        )
        return [(p.u, integers.product(kernel, p.v[:, None])[:, 0]) for p in pairs]

    def _separators(self, group: Sequence[int]) -> IntArray:
        """Coefficients (P, k) of vectors u for the group and the examples placed before it."""
        if self._us is not None:
            return self._us
        images = self.key_coordinates.images
        us = separators(images, self.placed.rows, self.rng, group, self.pairs)
        self._us = us if self.data.shared else None  # u is then the same for every group
        return us

    def _work_out(
        self,
        group: Sequence[int],
        solver: GroupQueries,
        eliminators: Block,
        u: IntArray,
        v0: IntegerArray | None,
    ) -> WidthOneDraft:
        """Steps 3 to 6 of docs/width-one.md: α, v1, and the smallest sufficient c. Raises
        UnluckyPrime."""
        rows, earlier = self._rows(u), self.placed.rows
        mine = rows if self.data.shared else rows[earlier]
        lead = targets = None
        least = 0
        limit = self.blocks.rows([], np.zeros(0, dtype=np.intp))
        if v0 is not None:
            lead = self._products(v0)
            targets = np.where(lead[earlier] > 0, mine.argmax(axis=1), mine.argmin(axis=1))
            limit = self.blocks.rows(earlier, targets)
        v1 = solver.solve(self._alphas(group, solver.factors, eliminators, rows, limit))
        base = self._products(v1)
        if self.saturation is not None and lead is not None and targets is not None:
            ahead = integers.multiply(lead[earlier][:, None], mine)
            finite = integers.multiply(base[earlier][:, None], mine)
            least = least_multiplier(ahead, finite, targets, self.saturation)
        for c in (None,) if v0 is None else candidates_for_c(least):  # a first head has no v0
            products = base if lead is None else integers.add(base, integers.multiply(c or 0, lead))
            features = self.blocks.of(integers.multiply(products[:, None], rows))
            pivots = self.placed.pivots(list(group), features, eliminators)
            if pivots is not None:
                return WidthOneDraft(u, v1, rows, products, features, pivots, v0, c, lead, targets)
        raise UnluckyPrime

    def _alphas(
        self,
        group: Sequence[int],
        factors: Sequence[int],
        eliminators: Block,
        rows: IntegerArray,
        limit: Block,
    ) -> list[int]:
        """α_t / f_t for t in the group, one example at a time, in the limit c → ∞.

        Candidates are the n whole numbers nearest 0: by the curve lemma, one of them works. They
        are tested in batches, beginning with the one that held the last α: with shared contexts,
        the earlier batches are used up.
        """
        n = self.data.n
        candidates = np.array(sorted(range(-(n // 2), n - n // 2), key=abs), dtype=np.int64)
        batches = [slice(i, i + _CANDIDATES) for i in range(0, n, _CANDIDATES)]
        zero = Block(*np.zeros((2, 1, limit.mod.shape[1])))
        shifts = self.placed.residual(eliminators, zero, limit)
        span, chosen = Span(self.prime, shifts.mod.shape[1]), list[int]()
        shared: dict[int, Block] = {}  # all points of a shared context, by factor
        for i, (t, factor) in enumerate(zip(group, factors, strict=True)):
            if self.data.shared and factor not in shared:
                shared[factor] = self._points(0, factor, candidates, rows[0])
            for _ in batches:
                tried = candidates[batches[0]]
                if self.data.shared:
                    points = shared[factor][batches[0]]
                else:
                    points = self._points(t, factor, tried, rows[t])
                rests = span.beyond(points.plus(shifts[i : i + 1], self.prime))
                best = choose(rests, np.abs(tried).tolist())
                if best is not None:
                    break
                batches.append(batches.pop(0))
            else:
                raise UnluckyPrime
            span.add(rests[best : best + 1])
            chosen.append(int(tried[best]))
        return chosen

    def _points(self, t: int, factor: int, multiples: IntArray, row: IntegerArray) -> Block:
        """x_t at the logits α·row, α the multiples of the factor: (k, d)."""
        return self.blocks.points(
            t, integers.multiply(integers.multiply(factor, multiples)[:, None], row)
        )

    def _rows(self, u: IntArray) -> IntegerArray:
        """E⁽ᵗ⁾u for all t: (T or 1, n)."""
        images = self.key_coordinates.images
        count, n, k = images.shape
        return integers.product(images.reshape(-1, k), u[:, None]).reshape(count, n)

    def _products(self, v: IntegerArray) -> IntegerArray:
        """v·e_t for all t: (T,)."""
        return integers.product(self.query_coordinates.images, v[:, None])[:, 0]
