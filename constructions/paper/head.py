"""The search for the heads, one after another; `paper/theorem.py` calls it. The steps are
those of docs/audit-of-theorem-1.md.

    M_h = c·u vᵀ + Σ_{t ∈ G_h} w_t ê_tᵀ

Everything here is integral: contexts and queries are given by their numerators, vectors by their
coordinates in the image lattices, so that "short" means short logits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from attncert.constructions.arrays import IntArray, IntegerArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.exact import integers
from attncert.constructions.exact.lattice import image_lattice
from attncert.constructions.exact.modular import UnluckyPrime
from attncert.constructions.search.feature_blocks import FeatureBlocks
from attncert.constructions.search.placement import Block, Placement, Span, choose
from attncert.constructions.search.saturation import (
    candidates_for_c,
    least_lead,
    least_multiplier,
)
from attncert.constructions.search.separation import Pair, separating_pairs, separators
from attncert.constructions.search.steering import Reducer, Solver, short_kernel

_PAIRS = 8  # the number of pairs (u, v) for which the whole head is computed


@dataclass(frozen=True)
class Dual:
    """A multiple f·ê_t, f ≥ 1: its coordinates, and its products with all queries (T,)."""

    vector: IntegerArray
    products: IntegerArray
    factor: int


@dataclass(frozen=True)
class Direction:
    """u and v: their coordinates, E⁽ˢ⁾u (T or 1, n), and v·e_s (T,)."""

    u: IntArray
    v: IntegerArray
    rows: IntegerArray
    products: IntegerArray

    @property
    def lead(self) -> IntegerArray:
        """(v·e_s) E⁽ˢ⁾u, (T, n), which c multiplies."""
        return integers.multiply(self.products[:, None], self.rows)


@dataclass(frozen=True)
class PaperDraft:
    """A complete head: w_t in coordinates, the direction with its c, and the resulting features."""

    duals: list[Dual]
    steering: list[IntegerArray]
    direction: Direction | None
    c: int | None
    targets: IntArray
    logits: IntegerArray
    features: Block
    pivots: list[int]

    @property
    def bits(self) -> int:
        """The bits that the head adds to the softmax denominators of all examples."""
        return sum((self.logits.max(axis=1) - self.logits.min(axis=1)).tolist())


class PaperBuilder:
    """Builds the heads in order, and holds the lattices and the placed examples."""

    def __init__(
        self,
        data: Dataset,
        *,
        seed: int,
        prime: int,
        saturation: int | None = None,
    ) -> None:
        self.data, self.prime = data, prime
        self.saturation = saturation
        self.rng = np.random.default_rng(seed)
        self.keys = image_lattice(data.contexts)
        self.queries = image_lattice(data.queries)
        self.context_images, self.query_images = self.keys.images, self.queries.images
        self.features = FeatureBlocks(data, prime)
        self.placed = Placement(data.T, prime)
        self._steers: dict[int, Solver] = {}

    def add(self, group: Sequence[int]) -> PaperDraft:
        """The shortest head found for this group; its examples count as placed from now on."""
        solver = Solver.of(self.query_images[list(group)])
        duals = self._duals(group, solver)
        if self.placed.rows:
            draft = self._shortest(group, duals, solver)
        else:
            draft = self._place(group, duals, None)
        self.placed.extend(list(group), draft.features, draft.pivots)
        return draft

    def _duals(self, group: Sequence[int], solver: Solver) -> list[Dual]:
        """Step 2: f·ê_t·e_t' = f·δ_tt' on the group, short on all other queries."""
        duals = []
        reduced = Reducer(solver.kernel, self.query_images[self._outside(group)])
        for unit in np.eye(len(group), dtype=np.int64):
            factor = solver.factor(unit)
            vector = reduced(solver.solve(integers.multiply(factor, unit)))
            products = integers.product(self.query_images, vector[:, None])[:, 0]
            duals.append(Dual(vector, products, factor))
        return duals

    def _shortest(self, group: Sequence[int], duals: list[Dual], solver: Solver) -> PaperDraft:
        kernel = short_kernel(solver.kernel, self.query_images)
        selectors = integers.product(self.query_images, kernel)
        images, earlier, others = self.context_images, self.placed.rows, self._outside(group)
        us = separators(images, earlier, self.rng)
        pairs = separating_pairs(us, images, selectors, earlier, others, _PAIRS, self.rng)
        best: PaperDraft | None = None
        for pair in pairs:
            draft = self._place(group, duals, self._direction(pair, kernel))
            if best is None or draft.bits < best.bits:
                best = draft
            if not any(w.any() for w in draft.steering):
                break  # nothing can disturb earlier examples any more, and later pairs are longer
        assert best is not None
        return best

    def _direction(self, pair: Pair, kernel: IntegerArray) -> Direction:
        """Steps 3 and 4, in exact integers."""
        v = integers.product(kernel, pair.v[:, None])[:, 0]
        count, n, k = self.context_images.shape
        rows = integers.product(self.context_images.reshape(-1, k), pair.u[:, None])
        products = integers.product(self.query_images, v[:, None])[:, 0]
        return Direction(pair.u, v, rows.reshape(count, n), products)

    def _place(
        self, group: Sequence[int], duals: list[Dual], direction: Direction | None
    ) -> PaperDraft:
        """Steps 5 to 8: choose the targets one example at a time, then the smallest c."""
        earlier = self.placed.rows
        targets = np.zeros(0, dtype=np.int64)
        if direction is not None:
            targets = direction.lead[earlier].argmax(axis=1)
        steering, finite = [], np.zeros((self.data.T, self.data.n), dtype=np.int64)
        group_logits = self._choose_logits(group, duals, targets)
        for t, dual, logits in zip(group, duals, group_logits, strict=True):
            w, rows = self._steer(t, dual, logits)
            steering.append(w)
            finite = integers.add(finite, integers.multiply(dual.products[:, None], rows))
        for c in self._values_of_c(direction, finite, targets):
            logits = finite
            if direction is not None and c is not None:
                logits = integers.add(integers.multiply(c, direction.lead), finite)
            features = self.features.of(logits)
            pivots = self.placed.pivots(list(group), features)
            if pivots is not None:
                return PaperDraft(duals, steering, direction, c, targets, logits, features, pivots)
        raise UnluckyPrime

    def _choose_logits(
        self, group: Sequence[int], duals: list[Dual], targets: IntArray
    ) -> list[IntegerArray]:
        """Step 7: each example's logits (up to a constant), in the limit c → ∞."""
        limit = self.features.rows(self.placed.rows, targets)
        span, chosen = Span(self.prime, limit.mod.shape[1]), []
        for t, dual in zip(group, duals, strict=True):
            logits = self._candidates(t, dual.factor)
            finite = integers.multiply(dual.factor, logits)
            eliminators = self.placed.eliminators([t] * len(logits))
            residual = self.placed.residual(eliminators, self.features.points(t, finite), limit)
            rests = span.beyond(residual)
            best = choose(rests, [int(g.max() - g.min()) for g in finite])
            if best is None:
                raise UnluckyPrime
            span.add(rests[best : best + 1])
            chosen.append(logits[best])
        return chosen

    def _candidates(self, t: int, factor: int) -> IntegerArray:
        """Logits, divided by `factor`, to choose from for example t: (k, n), with first entry 0.

        First comes the barycentre (all logits equal; not in the first head, where it would save
        little and leave M_1 empty). Let D·1_i be the smallest multiple of a unit vector that
        integral weights reach: next come ±D·1_i for every row i, then short reachable vectors. The
        n points with logits D·1_i are independent: their weights are (2^D - 1)·I + 1·1ᵀ up to
        scale, which is invertible; so are those of -D·1_i. Hence a choice always exists.
        """
        n = self.data.n
        uniform = n == 1 or bool(self.placed.rows)
        options = [np.zeros(n, dtype=np.int64)] if uniform else []
        if n > 1:
            solver = self._steer_solver(t)
            units = np.vstack([-np.ones(n - 1, dtype=np.int64), np.eye(n - 1, dtype=np.int64)])
            reached = [integers.multiply(solver.factor(unit), unit) for unit in units]
            reached += list(solver.reach.T)
            for step in reached:
                for signed in (step, -step):
                    options.append(np.concatenate([np.zeros(1, dtype=np.int64), signed]))
        different: dict[tuple[int, ...], IntegerArray] = {}
        for option in options:
            different.setdefault(tuple(option.tolist()), option)
        return np.stack(list(different.values()))

    def _steer(self, t: int, dual: Dual, logits: IntegerArray) -> tuple[IntegerArray, IntegerArray]:
        """The w_t (coordinates) with E⁽ᵗ⁾w_t = logits up to a constant, and E⁽ˢ⁾w_t for all s."""
        count, n, k = self.context_images.shape
        if logits.min() == logits.max():
            return np.zeros(k, dtype=np.int64), np.zeros((count, n), dtype=np.int64)
        solver = self._steer_solver(t)
        w = solver.solve(integers.subtract(logits[1:], logits[:1]))
        if count > 1:
            weight = np.abs(dual.products)
            weight[t] = 0
            steps = integers.subtract(self.context_images[:, 1:], self.context_images[:, :1])
            images = integers.multiply(weight[:, None, None], steps)
            w = Reducer(solver.kernel, images.reshape(-1, k))(w)
        rows = integers.product(self.context_images.reshape(-1, k), w[:, None])
        return w, rows.reshape(count, n)

    def _steer_solver(self, t: int) -> Solver:
        where = 0 if self.data.shared else t
        if where not in self._steers:
            rows = self.context_images[where]
            self._steers[where] = Solver.of(integers.subtract(rows[1:], rows[:1]))
        return self._steers[where]

    def _values_of_c(
        self, direction: Direction | None, finite: IntegerArray, targets: IntArray
    ) -> Iterable[int | None]:
        """Step 8: the values of c to try, from the least at which all targets lead or saturate."""
        if direction is None:
            return [None]
        earlier = self.placed.rows
        lead, beta = direction.lead[earlier], finite[earlier]
        if self.saturation is not None:
            least = least_multiplier(lead, beta, targets, self.saturation)
        else:
            least = least_lead(lead, beta, targets)
        return candidates_for_c(least)

    def _outside(self, group: Sequence[int]) -> list[int]:
        return [t for t in range(self.data.T) if t not in group]
