"""The paper's construction, exact (Mahdavi, Liao, Thrampoulidis 2024, Theorem 1).

With r = min(n, d_h), the examples are split into groups G_1 of r and G_2, ..., G_H of r - 1. Head h
places its group and saturates on every earlier example:

    M_h = c·u vᵀ + Σ_{t ∈ G_h} w_t ê_tᵀ                rank at most 1 + (r - 1) = r ≤ d_h

    ê_t   dual to the group's queries:     ê_t·e_t' = 1 if t = t', else 0        (t, t' ∈ G_h)
    v     selector:    v ⊥ e_t for t ∈ G_h,   v·e_s ≠ 0 for every earlier s
    u     separator:   E⁽ˢ⁾u has a unique maximum and a unique minimum for every earlier s
    w_t   E⁽ᵗ⁾w_t = g_t, the logits that example t is to have
    c     a whole number

For t in the group, the logits are E⁽ᵗ⁾M_h e_t = g_t, for every c. For an earlier s, they are
c·(v·e_s)·E⁽ˢ⁾u + β_s with β_s = Σ_t (ê_t·e_s) E⁽ˢ⁾w_t, so as c grows, s attends to the one row L_s
of E⁽ˢ⁾ where (v·e_s)·E⁽ˢ⁾u is largest. The first head has no earlier examples and no u vᵀ.

Logits are in units of ln 2 and integral for *all* examples, so that every softmax weight is a
rational number. So u and w_t are taken from the lattice of points with integral products
with all context rows, and v and f_t ê_t from that of all queries (f_t: the smallest factor that
makes the dual vector integral; g_t is then a multiple of f_t).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from flint import fmpq, fmpq_mat

from attncert.constructions.construction import (
    BuiltLayer,
    SteeringHead,
    over_primes,
    require_independent_rows,
    theorem_groups,
    with_idle_heads,
)
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import require_positive
from attncert.constructions.layer import Head
from attncert.constructions.paper.head import PaperBuilder, PaperDraft
from attncert.constructions.progress import Progress, silent


@dataclass(frozen=True, kw_only=True, repr=False)
class PaperHead(SteeringHead):
    """The choices for one head: the duals ê_t and the steering vectors w_t of its group (d×1 over
    ℚ)."""

    duals: tuple[fmpq_mat, ...]
    steering: tuple[fmpq_mat, ...]

    def weights(self, head_width: int) -> Head:
        """Key [c·u, w_1, w_2, ...] and query [v, ê_1, ê_2, ...], then zero columns up to d_h."""
        key, query = list(self.steering), list(self.duals)
        if self.separator is not None and self.selector is not None:
            key.insert(0, self.separator * fmpq(self.c))
            query.insert(0, self.selector)
        return Head(_columns(key, head_width), _columns(query, head_width))


def build(
    data: Dataset,
    *,
    head_width: int | None = None,
    heads: int | None = None,
    saturation: int | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> BuiltLayer:
    """Key and query weights for which the features of all examples are independent.

    head_width: d_h, default n. heads: H; by default the fewest that the theorem allows (or more if
    these admit no grouping). An example of a group may attend uniformly to its context (barycentre)
    if that costs at most 3 bits of conditioning, which keeps the logits of all other examples
    short. saturation: the bits to which each head saturates; its c is the least, or larger if the
    rank needs it. Arithmetic: exact; the rank is decided mod p here, and verify/ proves it again.
    Raises InputError, and HypothesisFails with a witness if A2, the capacity or the partition
    condition fails.
    """
    width = data.n if head_width is None else head_width
    require_positive(head_width=width, heads=1 if heads is None else heads)
    r = min(data.n, width)
    require_independent_rows(data)
    groups, regrouped = theorem_groups(data, r, heads, seed)

    def attempt(prime: int) -> list[PaperHead]:
        builder = PaperBuilder(data, seed=seed, prime=prime, saturation=saturation)
        chosen: list[PaperHead] = []
        for group in groups:
            progress(len(chosen), len(groups))
            earlier = tuple(builder.placed.rows)
            chosen.append(_record(builder, group, earlier, builder.add(group)))
        return chosen

    chosen = over_primes(attempt)
    layer_heads = [head.weights(width) for head in chosen]
    layer = with_idle_heads(layer_heads, max(heads or 0, len(chosen)))
    return BuiltLayer("paper", layer, groups, tuple(chosen), r, regrouped)


def _record(
    builder: PaperBuilder, group: tuple[int, ...], earlier: tuple[int, ...], draft: PaperDraft
) -> PaperHead:
    """The record of a head, with lattice coordinates turned into vectors in the data's units."""
    key, query = builder.keys.vector, builder.queries.vector
    direction, placed = draft.direction, list(earlier)
    gap_bits = None
    if direction is not None and builder.data.n > 1:
        ordered = np.sort(draft.logits[placed], axis=1)
        gap_bits = int((ordered[:, -1] - ordered[:, -2]).min())
    return PaperHead(
        group=group,
        earlier=earlier,
        duals=tuple(query(dual.vector) / fmpq(dual.factor) for dual in draft.duals),
        steering=tuple(
            key(w) * fmpq(dual.factor) for w, dual in zip(draft.steering, draft.duals, strict=True)
        ),
        logits=tuple(tuple(int(k) for k in draft.logits[t].tolist()) for t in group),
        selector=None if direction is None else query(direction.v),
        separator=None if direction is None else key(direction.u),
        c=draft.c,
        targets=tuple(int(i) for i in draft.targets),
        gap_bits=gap_bits,
        pivots=builder.features.in_features(draft.pivots),
    )


def _columns(vectors: list[fmpq_mat], width: int) -> fmpq_mat:
    d = vectors[0].nrows()
    rows = [vector.entries() for vector in vectors] + [[0] * d] * (width - len(vectors))
    return fmpq_mat(width, d, [x for row in rows for x in row]).transpose()
