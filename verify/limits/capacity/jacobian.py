"""The capacity law on one data set: bounds from both sides on the rank of the Jacobian (ours).

F maps all weights of H heads to the T·m outputs; J is its Jacobian. The largest rank of J over all
weights says how many labels can be memorized (docs/given-labels.md, Theorems 7, 9, 11):

    largest rank = T·m    the reachable labellings contain an open set, and 2H heads memorize every
                          labelling;
    largest rank < T·m    almost no labelling is reachable (Sard).

*From below*: the rank of J at random integers modulo a prime is a lower bound.
*From above*: for every set S of examples

    rank J ≤ N(S) + m (T - |S|),      N(S) from the spans of S alone (`law.py`),

and for m > 1 the bounds (R), (L), (L') on that page hold. Further, a relation between examples that
holds for all weights (`tightness/relations/rows.py`) gives a relation between rows of J for each of
the m outputs. Only three sets S matter: the empty set, all examples, and one set that is determined
by J. At weights for which every set of rows has its largest rank, let S be the examples that have a
row in some relation between rows of J. Then the other rows are independent of one another and of
the rows of S, so that rank J = rank J_S + m (T - |S|). If any set attains its bound, S does (Lemma
2 of that page). So S is found from the left null space modulo the prime, however contexts are
shared. N(S), which proves the bound, is computed from the data alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.given.law import Spans, spans
from attncert.constructions.given.zeros import draw_layer
from attncert.constructions.layer import Layer, parameter_count
from attncert.constructions.progress import StageProgress, silent
from attncert.verify.claims.words import counted
from attncert.verify.features.features import related_rows
from attncert.verify.limits.tightness.relations.rows import row_relations
from attncert.verify.questions.fit import Capacity
from attncert.verify.rank.engines.devices import choose_device
from attncert.verify.rank.residues import to_host
from attncert.verify.rank.whole_layer.jacobian_rows import (
    JacobianRank,
    JacobianRows,
    is_spread,
    jacobian_rank,
    require_small,
)
from attncert.verify.sharding.engine import Cluster

MOST_NULL_ROWS = 3000  # maximum number of rows for which the left null space is computed
_DRAWS = 3
Sizes = tuple[int, int, int]  # H, d_h, d_v


@dataclass(frozen=True)
class Upper:
    """An upper bound: rank J ≤ bound for all weights. examples: |S|, the size of the set whose a,
    b, d' and N are used; None for other kinds of bounds. name: the name of the bound in reports."""

    name: str
    bound: int
    examples: int | None = None
    spans: Spans | None = None
    law: int | None = None


@dataclass(frozen=True)
class Jacobian:
    """Bounds from both sides on the largest rank of J for this number of heads.

    rank: a lower bound. uppers: upper bounds, smallest first. fewest: with fewer heads than this,
    almost no labelling is output; None if no number of heads suffices. spread: whether the rank was
    taken from workers of a cluster.
    """

    heads: int
    head_width: int
    value_width: int
    spans: Spans
    rank: JacobianRank
    uppers: tuple[Upper, ...]
    fewest: int | None
    spread: bool = False

    @property
    def law(self) -> int:
        """N for the set of all examples."""
        return self.spans.bound(self.heads, self.head_width, self.value_width)

    @property
    def least(self) -> int:
        return self.rank.rank

    @property
    def most(self) -> int:
        return self.uppers[0].bound

    @property
    def decided(self) -> bool:
        """Whether the largest rank of J is known."""
        return self.least == self.most


def jacobian(
    data: Dataset,
    question: Capacity,
    cluster: Cluster | None = None,
    progress: StageProgress = silent,
) -> Jacobian:
    """The bounds for these contexts and queries. Only the width of the labels matters.

    Exact. cluster: computes a large rank, which is then assumed. Raises InputError if the Jacobian
    is too large or the device is missing.
    """
    whole, w, width = spans(data), question.head_width, question.value_width or data.m
    fewest = whole.fewest_heads(data.T, w, width)
    heads = question.heads or fewest or 1
    labels = data.T * data.m
    if cluster is None:
        require_small(labels, parameter_count(data.d, data.m, heads, w, width))
    sizes = heads, w, width
    bounds = [Upper("the number of labels", labels), *uppers(data, sizes, range(data.T))]
    relations = len(row_relations(data))
    if relations:
        bounds.append(Upper("relations for all weights", data.m * (data.T - relations)))
        fewest = None
    least = min(upper.bound for upper in bounds)
    rank, layer = _rank(data, sizes, question, least, cluster, progress)
    if rank.rank < least and labels <= MOST_NULL_ROWS:
        members = _related(data, layer, rank.prime)
        if 0 < len(members) < data.T:
            bounds += uppers(data, sizes, members)
    bounds.sort(key=lambda upper: upper.bound)
    if fewest is not None and bounds[0].bound < labels:
        fewest = max(fewest, heads + 1)
    return Jacobian(*sizes, whole, rank, tuple(bounds), fewest, is_spread(labels, cluster))


def uppers(data: Dataset, sizes: Sizes, members: Sequence[int]) -> list[Upper]:
    """Upper bounds on rank J for all weights, from the spans of this set of examples."""
    some, (heads, w, width) = data.take(list(members)), sizes
    span, m, whole = spans(some), data.m, len(members) == data.T
    N = span.bound(heads, w, width)
    name = "all examples" if whole else "the examples in relations"
    bounds = [Upper(name, N + m * (data.T - len(members)), len(members), span, N)]
    if m == 1 or not whole:
        return bounds
    a, b, d, T = span.differences, span.common, data.d, data.T

    def matrices(k: int, rows: int) -> int:
        """The dimension of the set of T×m matrices of rank at most k."""
        k = min(k, m, rows)
        return k * (rows + m - k)

    rank_bound = matrices(heads * min(width, d), T)
    bounds.append(Upper("(R)", rank_bound))
    if b <= T:
        bounds.append(Upper("(R)", b * m + matrices(heads * min(width, a), T - b)))
    values = span.bound(heads, 0, width)
    freedom = T * min(m, heads * min(data.n - 1, width, d))
    bounds.append(Upper("(L)", min(values, rank_bound) + freedom))
    if a == d and heads <= d * m:
        free = min(heads - 1, max(d - width, 0) * max(m - width, 0))
        bounds.append(Upper("(L')", values - heads * (heads - 1 - free) + freedom))
    return bounds


def _rank(
    data: Dataset,
    sizes: Sizes,
    question: Capacity,
    enough: int,
    cluster: Cluster | None,
    progress: StageProgress,
) -> tuple[JacobianRank, Layer]:
    best: tuple[JacobianRank, Layer] | None = None
    xp = choose_device(question.device).namespace
    for draw in range(_DRAWS):
        layer = draw_layer(data, *sizes, seed=[question.seed, draw])
        stage = f"Jacobian, {counted(sizes[0], 'head')}"
        told = partial(progress, stage)
        rank = jacobian_rank(data, layer, enough=enough, xp=xp, cluster=cluster, progress=told)
        if best is None or rank.rank > best[0].rank:
            best = rank, layer
        if best[0].rank >= enough:
            break
    assert best is not None
    return best


def _related(data: Dataset, layer: Layer, p: int) -> list[int]:
    """The examples that have a row in some relation between rows of J modulo p."""
    table, rows = JacobianRows(data, layer, p), []
    for start in range(0, data.T, 64):
        block = to_host(table.rows(start, min(start + 64, data.T))).astype(np.int64) % p
        rows.append(block)
    return sorted({row // data.m for row in related_rows(np.vstack(rows), p)[1]})
