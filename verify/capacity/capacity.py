"""The capacity law on one data set: the rank of the Jacobian, certified from both sides (ours).

F maps all weights of H heads to the T·m outputs; J is its Jacobian. Its largest rank over all
weights says how many labels these examples can carry (docs/given-labels.md, Theorems 7, 9, 11):

    largest rank = T·m    the reachable labellings contain an open set, and 2H heads memorize every
                          labelling;
    largest rank < T·m    almost no labelling is reachable (Sard).

*From below*: the rank of J at random integers, modulo a prime, is a lower bound; no luck is needed
for its truth. *From above*: for every set S of examples

    rank J ≤ N(S) + m (T - |S|),      N(S) from the spans of S alone (`law.py`),

and for m > 1 the bounds (R), (L), (L') of the page; and a relation between examples that holds for
all weights (`verify/tightness/relations/rows.py`) is one between rows of J, for each label. Of all
sets S few matter: none of the examples, all of them, and the one set that the matrix itself names.
Let S be the examples with a row that takes part in a relation between rows of J, at weights where
every set of rows has its largest rank.
Then the other rows are independent of one another and of those of S, so that rank J = rank J_S +
m (T - |S|): if any set attains its bound, S does (Lemma 2 of the page). So S comes from the left
kernel modulo the prime, whatever contexts are shared by whom; and what it proves, N(S), is computed
from the data alone.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from flint import nmod_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.given.law import spans
from attncert.constructions.given.zeros import draw_layer
from attncert.constructions.layer import Layer, parameter_count
from attncert.constructions.progress import StageProgress, silent
from attncert.verify.capacity.claims import claims_of
from attncert.verify.capacity.records import DataCapacity, DataCapacitySettings, Upper
from attncert.verify.claims.evidence import counted
from attncert.verify.labelling.labelled import LabellingSettings, label_all
from attncert.verify.rank.residues import to_host
from attncert.verify.rank.whole_layer.jacobian_rows import (
    JacobianRank,
    JacobianRows,
    jacobian_rank,
    require_small,
)
from attncert.verify.tightness.relations.rows import few_tied, row_relations
from attncert.verify.tightness.universal import bound_from_above

__all__ = ["DataCapacity", "DataCapacitySettings", "data_capacity"]

MOST_KERNEL = 3000  # rows up to which the left kernel is computed
_DRAWS = 3


def data_capacity(
    data: Dataset,
    settings: DataCapacitySettings | None = None,
    progress: StageProgress = silent,
) -> DataCapacity:
    """The law for these contexts and queries, the rank, and what each implies. The labels of `data`
    count by their width alone. Exact. Raises InputError where the Jacobian is too large.
    """
    settings = settings or DataCapacitySettings()
    found, width = spans(data), settings.value_width or data.m
    heads = settings.heads
    if heads is None:
        heads = found.fewest_heads(data.T, settings.head_width, width) or 1
    wanted = data.T * data.m
    columns = parameter_count(data.d, data.m, heads, settings.head_width, width)
    require_small(wanted, columns)
    uppers = [Upper("the number of labels", wanted), *_uppers(data, settings, heads, range(data.T))]
    few = few_tied(data)
    relations = len(row_relations(data)) if few else 0
    if relations:
        uppers.append(Upper("relations for all weights", data.m * (data.T - relations)))
    least = min(upper.bound for upper in uppers)
    rank, layer = _rank(data, settings, heads, least, progress)
    if rank.rank < least and wanted <= MOST_KERNEL:
        members = _related(data, layer, rank.prime)
        if 0 < len(members) < data.T:
            uppers += _uppers(data, settings, heads, members)
    uppers.sort(key=lambda upper: upper.bound)
    every = label_all(
        data,
        LabellingSettings(
            heads, settings.head_width, settings.value_width, "groups", settings.seed
        ),
        progress,
    )
    universal = bound_from_above(data, heads).rank if few else min(data.T, heads * data.d)
    made = DataCapacity(data, settings, heads, found, rank, tuple(uppers), every, universal, ())
    return replace(made, claims=claims_of(made))


def _uppers(data: Dataset, settings: DataCapacitySettings, heads: int, members: Any) -> list[Upper]:
    """Bounds on rank J for all weights, from this set of examples."""
    some, w, width = data.take(list(members)), settings.head_width, settings.value_width or data.m
    found, m, every = spans(some), data.m, len(members) == data.T
    N = found.bound(heads, w, width)
    name = "all examples" if every else "the examples in relations"
    uppers = [Upper(name, N + m * (data.T - len(members)), len(members), found, N)]
    if m == 1 or not every:
        return uppers
    a, b, d, T = found.differences, found.common, data.d, data.T

    def matrices(k: int, rows: int) -> int:
        """Dimension of the T×m matrices of rank at most k."""
        k = min(k, m, rows)
        return k * (rows + m - k)

    rank_bound = matrices(heads * min(width, d), T)
    uppers.append(Upper("(R)", rank_bound))
    if b <= T:
        uppers.append(Upper("(R)", b * m + matrices(heads * min(width, a), T - b)))
    values = found.bound(heads, 0, width)
    moved = T * min(m, heads * min(data.n - 1, width, d))
    uppers.append(Upper("(L)", min(values, rank_bound) + moved))
    if a == d and heads <= d * m:
        free = min(heads - 1, max(d - width, 0) * max(m - width, 0))
        uppers.append(Upper("(L')", values - heads * (heads - 1 - free) + moved))
    return uppers


def _rank(
    data: Dataset, settings: DataCapacitySettings, heads: int, enough: int, progress: StageProgress
) -> tuple[JacobianRank, Layer]:
    """The largest rank of a few draws, and the weights."""
    best: tuple[JacobianRank, Layer] | None = None
    for draw in range(_DRAWS):
        layer = draw_layer(
            data, heads, settings.head_width, settings.value_width, seed=[settings.seed, draw]
        )
        stage = f"Jacobian, {counted(heads, 'head')}"
        found = jacobian_rank(data, layer, enough=enough, progress=partial(progress, stage))
        if best is None or found.rank > best[0].rank:
            best = found, layer
        if best[0].rank >= enough:
            break
    assert best is not None
    return best


def _related(data: Dataset, layer: Layer, p: int) -> list[int]:
    """Examples with a row of J in some relation between rows, modulo p."""
    made, rows = JacobianRows(data, layer, p), []
    for start in range(0, data.T, 64):
        block = to_host(made.rows(start, min(start + 64, data.T))).astype(np.int64) % p
        rows.append(block)
    table = np.vstack(rows).T
    matrix = nmod_mat(*table.shape, table.ravel().tolist(), p)
    kernel, nullity = matrix.nullspace()
    basis = np.array([int(x) for x in kernel.entries()]).reshape(table.shape[1], -1)[:, :nullity]
    related = basis.any(axis=1).reshape(data.T, data.m).any(axis=1)
    return [int(t) for t in np.flatnonzero(related)]
