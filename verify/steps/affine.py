"""The steps of Theorem 2 (docs/width-one.md, section 8), head by head, on what was built.

Steps that involve neither repeated rows nor ranks are those of the width-one proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from flint import fmpq_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.width_one.theorem import WidthOneHead
from attncert.verify.methods.states import View
from attncert.verify.steps import shared, width_one
from attncert.verify.steps.heads import Relations, entries, lead, logits, moving, placing
from attncert.verify.steps.shared import EXAMPLE
from attncert.verify.tables import Table, dense

_SOURCE = "docs/width-one.md, section 8"
_ALONE = float("inf")  # the lead of a row that has no other beside it


def _dimensions(at: View, head: WidthOneHead, number: int) -> Relations:
    """The j-th member has rank ≥ j (first group), affine dimension ≥ j (later groups)."""
    ranks = []
    for t in head.group:
        rows = at.data.context(t).tolist()
        between = [[x - y for x, y in zip(row, rows[0], strict=True)] for row in rows]
        ranks.append(int(fmpq_mat(between if head.earlier else rows).rank()))
    yield ranks, ">=", list(range(1, len(ranks) + 1)), head.group
    yield {"group size": len(head.group), "least": min(ranks)}


def _curve(at: View, head: WidthOneHead, number: int) -> Relations:
    """Different rows have different entries of E⁽ᵗ⁾u: the lemma for repeated rows applies."""
    yield from _told_apart(at.data, head, head.group)
    yield {"group size": len(head.group)}


def _separator(at: View, head: WidthOneHead, number: int) -> Relations:
    """The same for every earlier s: one row attracts all attention as c grows."""
    yield from _told_apart(at.data, head, head.earlier)
    yield {"earlier": len(head.earlier)}


def _told_apart(data: Dataset, head: WidthOneHead, examples: Sequence[int]) -> Relations:
    """As many different entries of E⁽ᵗ⁾u as there are different rows."""
    products = entries(data, head.separator)
    values = [len({str(x) for x in products(t)}) for t in examples]
    rows = [len({str(x) for x in data.context(t).tolist()}) for t in examples]
    yield values, "==", rows, examples


def _saturation(at: View, head: WidthOneHead, number: int) -> Relations:
    """L_s is where (v0·e_s)·E⁽ˢ⁾u is largest: what s attends to as c grows, repeated or not."""
    ahead = _leads(at.data, head, lead(at.data, head))
    yield [by > 0 for by in ahead], "==", True, head.earlier
    now = _leads(at.data, head, logits(at, number)[list(head.earlier)])
    least = min((int(by) for by in now if by < _ALONE), default=None)
    yield from shared.least_lead(head, least)
    yield {} if least is None else {"lead at this c, bits": least}


def _leads(data: Dataset, head: WidthOneHead, table: Table) -> list[float]:
    """By how much each target exceeds the entries of all different rows of its context."""
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
        "For $t$ in the group different rows of $E^{(t)}$ have different entries of $E^{(t)}u$, so "
        "that a flat without all rows forbids at most $n-1$ values of $\\alpha_t$.",
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
