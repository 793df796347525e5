"""Heads of width one for contexts of any rank (ours; docs/width-one.md, Theorem 2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np

from attncert.constructions.construction import Bound, BuiltLayer
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.exact_array import ExactArray
from attncert.constructions.exact.hashing import distinct
from attncert.constructions.width_one import affine
from attncert.verify.claims.evidence import Claim
from attncert.verify.claims.proof import Voice
from attncert.verify.methods.construction import Construction
from attncert.verify.methods.known import CAPACITY, PARTITION, Asked, Known
from attncert.verify.methods.layer_theorem import LayerTheorem
from attncert.verify.methods.request import Request
from attncert.verify.origins.sequences import by_class
from attncert.verify.steps.affine import STEPS
from attncert.verify.steps.hypotheses import grouping


def _build(data: Dataset, request: Request) -> BuiltLayer:
    heads, seed = request.heads, request.seed
    return affine.build(data, heads=heads, seed=seed, progress=request.progress)


def _dimensions(asked: Asked) -> Iterator[Claim]:
    yield grouping(asked.data, asked.request.heads, asked.request.seed)


def _remarks(data: Dataset, built: BuiltLayer) -> dict[str, str]:
    counts = {len(distinct(table)) for table in data.contexts.stored.tolist()}
    if counts == {data.n} or data.ragged:
        return {}
    return {
        "different tokens": f"{min(counts)} to {max(counts)} in a context of {data.n}; a context "
        "whose tokens are all repeated equally often is, for every head, the context without "
        "repetition"
    }


# With as many heads as there are examples, groups of one meet P' and D if and only if no two
# queries lie on one line, none is 0, and at most one context has all its rows equal: that example
# comes first, and its row is not 0. The search for groups, which begins with larger ones, ends in
# the same cases: a group of one other example can always be taken from the end.


def _promised(data: Dataset) -> bool:
    """Decided by 2x2 minors, not by the code that the construction uses."""
    queries = data.queries.numerators.astype(object)
    if not all(query.any() for query in queries):
        return False
    if any((np.outer(a, b) == np.outer(b, a)).all() for a, b in combinations(queries, 2)):
        return False
    tables = data.contexts.numerators
    equal = [table for table in tables if (table == table[0]).all()]
    equal *= data.T if data.shared else 1
    return len(equal) <= 1 and all(table.any() for table in equal)


def _degraded(data: Dataset) -> Dataset:
    """Contexts of rank n made worse, by a coin for each: rows repeated, a row on the line through
    two others, all rows equal."""
    contexts, queries = data.contexts.stored.copy(), data.queries.stored
    rng = np.random.default_rng([int(np.abs(contexts).sum()), int(np.abs(queries).sum())])
    for t, table in enumerate(contexts):
        kind, i, j, k = int(rng.integers(8)), *rng.integers(len(table), size=3)
        if kind < 3:
            table[i] = table[j]
        elif kind < 6:
            table[i] = 2 * table[j] - table[k]
        elif kind == 6 and t == 0:
            table[:] = table[i]
    return replace(data, contexts=ExactArray(contexts, data.contexts.denominator))


_VOICE = Voice(
    numbers="A head is $M_h=u(c\\,v_0+v_1)^\\top$ over its group, in the order of the "
    "dimension condition: the $j$-th member has a context of rank $j$ or more in the first "
    "group, of affine dimension $j$ or more in a later one. Rows may be repeated; equal rows "
    "count as one wherever rows are told apart. $c$ is the least whole number at which the "
    "rank of all heads so far is certified, and $B$ the least lead, at this $c$, of the row "
    "that an earlier example attends to in the limit, in bits.",
    others="which the head moves towards one row each as far as the rank needs it",
    general="Theorem 2 in general: the trace is one instance of its proof, not a check of it "
    "for all data.",
    without_a1="What the proof asks of queries and contexts is the partition condition and the "
    "dimension condition of its own groups, and both are checked",
)
CONSTRUCTION = Construction(
    name="affine",
    title="heads of width one, for contexts of any rank",
    theorem="Theorem 2 of docs/width-one.md: width one without Assumption 2 (ours)",
    source="docs/width-one.md, section 8",
    build=_build,
    subject=lambda data, request: by_class(data.expanded()),
    hypotheses={
        "dimensions": Known(claims=_dimensions),
        "capacity": CAPACITY,
        "partition": PARTITION,
    },
    steps=STEPS,
    adapt=_degraded,
    options=("heads", "value_width", "round", "before"),
    layer=LayerTheorem(
        bound=Bound(),  # at most: ranks are at most n, affine dimensions n - 1
        remarks=_remarks,
        owes=_promised,
        voice=_VOICE,
    ),
)
