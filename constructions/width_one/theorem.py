"""Width one is enough (ours; the written proof is docs/width-one.md).

Under A1 and A2, H(n-1) + 1 examples are memorized universally by H heads of width d_h = 1, with
H(2d + d·d_v + d_v·m) parameters. At this width, the paper's r = min(n, d_h) is 1, which allows one
example.

The examples are split into groups G_1 of n and G_2, ..., G_H of n - 1. Head h has the matrix

    M_h = u (c v0 + v1)ᵀ                                                        rank one

    v0    selector:   v0 ⊥ e_t for t ∈ G_h,   v0·e_s ≠ 0 for every earlier s
    v1    v1·e_t = α_t for t ∈ G_h
    u     the entries of E⁽ᵗ⁾u are distinct for t ∈ G_h; for every earlier s those of E⁽ˢ⁾u have one
          maximum and one minimum
    c     a whole number

For t ∈ G_h, the logits are α_t·E⁽ᵗ⁾u, for every c. As c grows, an earlier s attends to the one row
L_s of E⁽ˢ⁾ where (v0·e_s)·E⁽ˢ⁾u is largest.

*Curve lemma.* Let E (n×d) have rank n, let g ∈ R^n have distinct entries, and x(α) = Eᵀσ(αg). Then
x takes independent values at any n distinct real α.
  Proof. x(α) = Σ_i (e^(α g_i)/S(α)) E_i with S(α) > 0, and the rows E_i are independent. So a
  relation among x(α_1), ..., x(α_n) is a relation among the rows of the matrix (e^(α_k g_i))_ki,
  the generalized Vandermonde matrix, which is invertible: otherwise some f(α) = Σ_i b_i e^(α g_i),
  b ≠ 0, has n distinct zeros. But such a sum of n exponentials has at most n - 1 real zeros. This
  is clear for n = 1. For more, divide by e^(α g_1), which changes no zero. By Rolle's theorem, the
  derivative Σ_{i>1} b_i (g_i - g_1) e^(α (g_i - g_1)) has at least n - 1 distinct zeros; by
  induction its coefficients are all 0, so b_i = 0 for i > 1, and then b_1 = 0.  ∎

So a linear subspace of dimension at most n - 1 contains x(α) for at most n - 1 real α, and so does
an affine flat of dimension at most n - 2, which lies in such a subspace. The values of x_t that the
examples placed so far forbid form such a flat (constructions/search/placement.py): among any n
values of α_t, one is allowed. α_t = 0 may be chosen, and two examples of a group may share a value.

A group's own rows are never saturated: a saturated head of width one reaches only two vertices of
each hull, the rows where E⁽ᵗ⁾u is largest and smallest.

How large c must be is found by search: 0, 1, 2, ..., until the rank is full at that c. In most
data, the very shortest pairs (u, v) suffice without v0 and c, so they are tried first
(constructions/width_one/short.py). Logits are integers in units of ln 2, as in
constructions/paper/theorem.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from flint import fmpq, fmpq_mat

from attncert.constructions.arrays import IntegerArray
from attncert.constructions.construction import (
    BuiltLayer,
    Groups,
    SteeringHead,
    over_primes,
    require_independent_rows,
    theorem_groups,
    with_idle_heads,
)
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import require_positive
from attncert.constructions.exact import integers
from attncert.constructions.layer import Head
from attncert.constructions.progress import Progress, silent
from attncert.constructions.search.grouping import consecutive, violation
from attncert.constructions.width_one.head import WidthOneBuilder, WidthOneDraft
from attncert.constructions.width_one.short import ShortHeads


@dataclass(frozen=True, kw_only=True, repr=False)
class WidthOneHead(SteeringHead):
    """The choices for one head, M = u (c v0 + v1)ᵀ: separator u, selector v0, α_t = v1·e_t (vectors
    d×1 over ℚ). gap_bits may be negative, since c is as small as the rank allows. A short head is
    not a head of the proof: only the rank certifies it, and no step is claimed."""

    separator: fmpq_mat
    v1: fmpq_mat
    alphas: tuple[int, ...]
    short: bool = False

    @property
    def query(self) -> fmpq_mat:
        """c v0 + v1, d×1."""
        return self.v1 if self.selector is None else self.selector * fmpq(self.c) + self.v1

    def weights(self, head_width: int = 1) -> Head:
        """Key u and query c v0 + v1."""
        return Head(self.separator, self.query)


def build(
    data: Dataset,
    *,
    heads: int | None = None,
    short_heads: bool = True,
    saturation: int | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> BuiltLayer:
    """Key and query weights of width one for which the features of all examples are independent.

    heads: H; by default the fewest that the theorem allows (or more if these admit no grouping).
    short_heads: whether short heads (c = 0), which may place more than n - 1 examples each, come
    first, and the proof's heads place the rest; if False, all heads are the proof's, with groups of
    n, n - 1, .... saturation: bits; if given, all heads are the proof's, each with the least c that
    saturates it (or a larger one if the rank needs it). Arithmetic: exact; the rank is decided mod
    p here, and verify/ proves it again. Raises InputError, and HypothesisFails with a witness if
    A2, the capacity or the partition condition fails.
    """
    require_positive(heads=1 if heads is None else heads)
    require_independent_rows(data)
    partition, regrouped = theorem_groups(data, data.n, heads, seed)

    def attempt(prime: int) -> list[WidthOneHead]:
        chosen = None
        if short_heads and saturation is None:
            builder = WidthOneBuilder(data, seed=seed, prime=prime)
            chosen = _short_then_proof(builder, partition, progress)
        if chosen is None:
            builder = WidthOneBuilder(data, seed=seed, prime=prime, saturation=saturation)
            chosen = proof_heads(builder, partition, progress)
        return chosen

    chosen = over_primes(attempt)
    layer_heads = [head.weights() for head in chosen]
    layer = with_idle_heads(layer_heads, max(heads or 0, len(partition)))
    return BuiltLayer(
        name="width-one",
        layer=layer,
        groups=tuple(head.group for head in chosen),
        heads=tuple(chosen),
        r=data.n,
        regrouped=regrouped,
        partition=partition,
    )


def proof_heads(
    builder: WidthOneBuilder, groups: Groups, progress: Progress, short: bool = False
) -> list[WidthOneHead]:
    """The proof's heads for these groups or, in a large layer, short heads that place a group."""
    chosen: list[WidthOneHead] = []
    for group in groups:
        earlier = tuple(builder.placed.rows)
        progress(len(earlier), builder.data.T)
        draft = builder.add(group, short)
        head = record(builder, group, earlier, draft)
        chosen.append(replace(head, short=bool(earlier) and draft.v0 is None))
    return chosen


def _short_then_proof(
    builder: WidthOneBuilder, partition: Groups, progress: Progress
) -> list[WidthOneHead] | None:
    """Short heads as long as any are found, then `proof_heads`; None if the remaining examples have
    no grouping.

    Every short head places as many examples as the proof's would, so the heads suffice.
    """
    data, chosen = builder.data, list[WidthOneHead]()
    short = ShortHeads(builder)
    while len(builder.placed.rows) < data.T:
        progress(len(builder.placed.rows), data.T)
        earlier = tuple(builder.placed.rows)
        head = short.place()
        if head is None:
            break
        chosen.append(replace(record(builder, head[0], earlier, head[1]), short=True))
    placed = set(builder.placed.rows)
    unplaced = [t for group in partition for t in group if t not in placed]
    if not unplaced:
        return chosen
    groups = consecutive(unplaced, data.n - (1 if placed else 0), data.n - 1)
    if groups != partition and violation(data, groups, builder.placed.rows) is not None:
        return None
    return chosen + proof_heads(builder, groups, progress, short=True)


def record(
    builder: WidthOneBuilder, group: Sequence[int], earlier: tuple[int, ...], draft: WidthOneDraft
) -> WidthOneHead:
    """The record of a head, with coefficients turned into vectors in the data's units."""
    gap = None
    if draft.targets is not None:
        gap = _least_lead(draft.row(earlier), draft.products[list(earlier)], draft.targets)
    return WidthOneHead(
        group=tuple(group),
        earlier=earlier,
        separator=builder.key_coordinates.vector(draft.u),
        selector=None if draft.v0 is None else builder.query_coordinates.vector(draft.v0),
        v1=builder.query_coordinates.vector(draft.v1),
        c=draft.c,
        alphas=tuple(int(draft.products[t]) for t in group),
        logits=tuple(
            tuple(row[: builder.data.tokens(t)])
            for t, row in zip(group, draft.logits(group).tolist(), strict=True)
        ),
        targets=() if draft.targets is None else tuple(draft.targets.tolist()),
        gap_bits=gap,
        pivots=builder.blocks.in_features(draft.pivots),
    )


def _least_lead(rows: IntegerArray, products: IntegerArray, targets: IntegerArray) -> int | None:
    """The least product·(entry at the target - any different entry) over the rows (N or 1, n), or
    None."""
    rows = np.broadcast_to(rows, (len(targets), rows.shape[1]))
    steps = integers.subtract(np.take_along_axis(rows, targets[:, None], axis=1), rows)
    leads = integers.multiply(products[:, None], steps)[steps != 0]
    return int(leads.min()) if leads.size else None
