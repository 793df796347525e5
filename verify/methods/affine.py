"""Heads of width one for contexts of any rank (ours; docs/width-one.md, Theorem 2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from attncert.constructions.construction import Bound, Construction
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.exact.hashing import distinct
from attncert.constructions.layer import Layer
from attncert.constructions.progress import Progress
from attncert.constructions.width_one import affine
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim
from attncert.verify.claims.proof import Outline, Voice
from attncert.verify.methods.method import Method, Target
from attncert.verify.methods.request import Request
from attncert.verify.steps.affine import grouping, head_claims


def _build(data: Dataset, request: Request, progress: Progress) -> Construction:
    return affine.build(data, heads=request.heads, seed=request.seed, progress=progress)


def _attacked(data: Dataset, heads: int, head_width: int, option: bool) -> Layer:
    return affine.build(data).layer


def _hypotheses(data: Dataset, request: Request) -> Iterator[Claim]:
    yield grouping(data, request.heads, request.seed)


def _remarks(data: Dataset, built: Construction) -> dict[str, str]:
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


def _degraded(case: Any) -> Any:
    """Contexts of rank n made worse, by a coin for each: rows repeated, a row on the line through
    two others, all rows equal."""
    contexts = case.contexts.copy()
    rng = np.random.default_rng([int(np.abs(contexts).sum()), int(np.abs(case.queries).sum())])
    for t, table in enumerate(contexts):
        kind, i, j, k = int(rng.integers(8)), *rng.integers(len(table), size=3)
        if kind < 3:
            table[i] = table[j]
        elif kind < 6:
            table[i] = 2 * table[j] - table[k]
        elif kind == 6 and t == 0:
            table[:] = table[i]
    return replace(case, contexts=contexts)


METHOD = Method(
    name="affine",
    theorem="Theorem 2 of docs/width-one.md",
    source="ours, docs/width-one.md, section 8",
    build=_build,
    steps=head_claims,
    hypotheses=_hypotheses,
    outline=Outline(
        first=(ids.DIMENSIONS, ids.COEFFICIENTS, ids.CURVE, ids.WEIGHTS, ids.INTEGRAL),
        later=(ids.SELECTOR, ids.SEPARATOR, ids.SATURATION),
        hypotheses=("value-width", "dimensions", "partition", "capacity"),
        partition=True,
    ),
    bound=Bound(),  # at most: ranks are at most n, affine dimensions n - 1
    only_width=1,
    attack=Target(_attacked, promises=_promised, adapt=_degraded),
    remarks=_remarks,
    voice=Voice(
        title="heads of width one, for contexts of any rank",
        theorem="Theorem 2 of docs/width-one.md: width one without Assumption 2 (ours)",
        source="docs/width-one.md, section 8, proved there in full",
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
    ),
)
