"""Heads of width one for contexts of any rank (ours; docs/width-one.md, section 8).

The steps of the proof check each head of the layer that was built.

The steps that involve neither repeated rows nor ranks are also steps of the width-one proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from flint import fmpq_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.exact_array import ExactArray
from attncert.constructions.width_one import affine
from attncert.constructions.width_one.theorem import WidthOneHead
from attncert.verify.assumptions.hypotheses import grouping
from attncert.verify.features.tables import Table, dense
from attncert.verify.provenance.sequences import by_class
from attncert.verify.statements import width_one
from attncert.verify.statements.construction import Construction, LayerTheorem, calling
from attncert.verify.statements.known import CAPACITY, PARTITION, Known
from attncert.verify.statements.states import View
from attncert.verify.statements.steps import shared
from attncert.verify.statements.steps.heads import Relations, entries, lead, logits, moving, placing
from attncert.verify.statements.steps.shared import EXAMPLE

_SOURCE = "docs/width-one.md, section 8"
_ALONE = float("inf")  # the lead if a context has only one row


def _dimensions(at: View, head: WidthOneHead, number: int) -> Relations:
    """The j-th context has rank ≥ j (first group) or affine dimension ≥ j (later groups)."""
    ranks = []
    for t in head.group:
        rows = at.data.context(t).tolist()
        between = [[x - y for x, y in zip(row, rows[0], strict=True)] for row in rows]
        ranks.append(int(fmpq_mat(between if head.earlier else rows).rank()))
    yield ranks, ">=", list(range(1, len(ranks) + 1)), head.group
    yield {"group size": len(head.group), "least": min(ranks)}


def _curve(at: View, head: WidthOneHead, number: int) -> Relations:
    """Different rows have different entries of E⁽ᵗ⁾u: the lemma for repeated rows applies."""
    yield from _distinguished(at.data, head, head.group)
    yield {"group size": len(head.group)}


def _separator(at: View, head: WidthOneHead, number: int) -> Relations:
    """Different rows of every earlier context also have different entries, so that one row attracts
    all attention as c grows."""
    yield from _distinguished(at.data, head, head.earlier)
    yield {"earlier": len(head.earlier)}


def _distinguished(data: Dataset, head: WidthOneHead, examples: Sequence[int]) -> Relations:
    """E⁽ᵗ⁾u has as many different entries as E⁽ᵗ⁾ has different rows."""
    products = entries(data, head.separator)
    values = [len({str(x) for x in products(t)}) for t in examples]
    rows = [len({str(x) for x in data.context(t).tolist()}) for t in examples]
    yield values, "==", rows, examples


def _saturation(at: View, head: WidthOneHead, number: int) -> Relations:
    """L_s is the row where (v0·e_s)·E⁽ˢ⁾u is largest: as c grows, s attends to this row, whether it
    is repeated or not."""
    ahead = _leads(at.data, head, lead(at.data, head))
    yield [by > 0 for by in ahead], "==", True, head.earlier
    now = _leads(at.data, head, logits(at, number)[list(head.earlier)])
    least = min((int(by) for by in now if by < _ALONE), default=None)
    yield from shared.least_lead(head, least)
    yield {} if least is None else {"lead at this c, bits": least}


def _leads(data: Dataset, head: WidthOneHead, table: Table) -> list[float]:
    """For each target row, the lead of its entry over the entries of all different rows."""
    out = []
    for s, target, row in zip(head.earlier, head.targets, dense(table).tolist(), strict=True):
        context = data.context(s).tolist()
        others = [x for x, other in zip(row, context, strict=False) if other != context[target]]
        out.append(row[target] - max(others) if others else _ALONE)
    return out


STEPS = {
    "affine-dimensions": placing(
        "The context of the $j$-th member of the group has rank $j$ or more in the first group, "
        "affine dimension $j$ or more in a later one.",
        _dimensions,
        where=EXAMPLE,
        source=f"{_SOURCE} and section 3",
    ),
    "coefficients": width_one.COEFFICIENTS,
    "selector": shared.selector("v"),
    "curve": placing(
        "For $t$ in the group different rows of $E^{(t)}$ have different entries of $E^{(t)}u$. So "
        "a flat that does not hold all rows excludes at most $n-1$ values of $\\alpha_t$.",
        _curve,
        where=EXAMPLE,
    ),
    "separator": moving(
        "For every earlier $s$ different rows of $E^{(s)}$ have different entries of $E^{(s)}u$.",
        _separator,
        where=EXAMPLE,
    ),
    "weights": width_one.WEIGHTS,
    "integral": shared.INTEGRAL,
    "saturation": moving(
        "As $c\\to\\infty$ every earlier $s$ attends to the one row $L_s$, repeated or not, where "
        "$(v_0\\cdot e_s)E^{(s)}u$ is largest.",
        _saturation,
        rests_on=("selector", "separator"),
        where=EXAMPLE,
    ),
    "independence": replace(
        shared.INDEPENDENCE, rests_on=("saturation", "affine-dimensions"), source=""
    ),
    "rank": replace(shared.RANK, source=""),
    "groups": replace(shared.GROUPS, source=""),
}


# With one head for each example, groups of one example meet P' and D if and only if no query is 0,
# no two queries are parallel, and at most one context has all its rows equal. That example comes
# first, and its row must not be 0. The search for groups begins with larger ones and succeeds in
# the same cases: a group of one further example can always be appended.


def _promised(data: Dataset) -> bool:
    """Whether groups of one example suffice, from 2×2 minors, without the construction's code."""
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
    """The data with some contexts degraded at random: a row is repeated, a row lies on the line
    through two others, or all rows are equal."""
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


_HEADS = (
    "A head is $M_h=u(c\\,v_0+v_1)^\\top$ over its group, in the order of the "
    "dimension condition: the $j$-th member has a context of rank $j$ or more in the first "
    "group, of affine dimension $j$ or more in a later one. Rows may be repeated; equal rows "
    "count as one wherever rows are compared. $c$ is the least whole number at which the "
    "rank of all heads so far is certified, and $B$ the least lead, at this $c$, of the row "
    "that an earlier example attends to in the limit, in bits."
)
CONSTRUCTION = Construction(
    name="affine",
    title="heads of width one, for contexts of any rank",
    theorem="Theorem 2 of docs/width-one.md: width one without Assumption 2 (ours)",
    source="docs/width-one.md, section 8",
    build=calling(affine.build, "heads", "seed", "progress"),
    subject=lambda data, request: by_class(data.expanded()),
    hypotheses={
        "dimensions": Known(
            claims=lambda task: [grouping(task.data, task.request.heads, task.request.seed)]
        ),
        "capacity": CAPACITY,
        "partition": PARTITION,
    },
    steps=STEPS,
    adapt=_degraded,
    options=("heads", "value_width", "round", "before"),
    layer=LayerTheorem(
        r="n",  # an upper bound: ranks are at most n, affine dimensions at most n - 1
        owes=_promised,
        heads=_HEADS,
    ),
)
