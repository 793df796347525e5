"""The steps of Theorem 2 (docs/width-one.md, section 8), head by head, on what was built.

Steps that involve neither repeated rows nor ranks are checked as in the width-one proof.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from flint import fmpq_mat

from attncert.constructions.construction import Construction
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import HypothesisFails
from attncert.constructions.layer import Head
from attncert.constructions.search.dimensions import by_dimension
from attncert.constructions.width_one.theorem import WidthOneHead
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level, timed
from attncert.verify.claims.ids import of_head
from attncert.verify.claims.words import counted
from attncert.verify.steps import in_order, shared, width_one
from attncert.verify.steps.hypotheses import EXACT
from attncert.verify.tables import Table, dense

_SOURCE = "ours, docs/width-one.md, section 8"
_STEP_SOURCE = f"{_SOURCE} and section 3"


def grouping(data: Dataset, heads: int | None, seed: int) -> Claim:
    """Some grouping meets P' and D: found, excluded, or not found."""
    statement = (
        "The examples can be divided into groups that meet the partition condition and, in some "
        "order of each, the dimension condition."
    )
    condition = "groups" if heads is None else f"at most {counted(heads, 'group')}"
    try:
        groups = by_dimension(data, heads, seed)
    except HypothesisFails as failure:
        return Claim(
            ids.DIMENSION_CONDITION,
            statement,
            Level.REFUTED if failure.decided else Level.UNDECIDED,
            numbers={"asked": condition, "found": failure.reason},
            witness={**failure.witness, "reason": failure.reason},
            arithmetic=EXACT,
            source=_SOURCE,
        )
    sizes = ", ".join(str(len(group)) for group in groups)
    return Claim(
        ids.DIMENSION_CONDITION,
        statement,
        Level.PROVED,
        numbers={"asked": condition, "found": f"{counted(len(groups), 'group')} of {sizes}"},
        arithmetic=EXACT,
        source=_SOURCE,
    )


def _before(
    data: Dataset, built: Construction, record: WidthOneHead, weights: Head, number: int
) -> Iterator[in_order.Check]:
    yield partial(dimensions, data, record, number)
    yield partial(width_one.coefficients, data, record, number)
    if record.selector is not None:
        yield partial(shared.selector, data, record, number)
    yield partial(curve, data, record, number)
    if record.selector is not None:
        yield partial(separator, data, record, number)
    yield partial(width_one.head_weights, data, record, weights, number)


def _wording(record: WidthOneHead, check: in_order.Check) -> Claim:
    claim = timed(check)
    of = ids.head_and_step(claim.id)
    claim = replace(claim, uses={}, source=_STEP_SOURCE)
    if of and of[1] == ids.INDEPENDENCE:
        premises = (of_head(of[0], ids.SATURATION), of_head(of[0], ids.DIMENSIONS))
        claim = replace(claim, rests_on=premises)
    return claim


def dimensions(data: Dataset, head: WidthOneHead, number: int) -> Claim:
    """The j-th member has rank ≥ j (first group), affine dimension ≥ j (later groups)."""
    ranks = []
    for t in head.group:
        rows = data.context(t).tolist()
        between = [[x - y for x, y in zip(row, rows[0], strict=True)] for row in rows]
        ranks.append(int(fmpq_mat(between if head.earlier else rows).rank()))
    low = [t for j, t in enumerate(head.group, start=1) if ranks[j - 1] < j]
    what = "affine dimension" if head.earlier else "rank"
    return shared.claim(
        number,
        ids.DIMENSIONS,
        f"The context of the $j$-th member of the group has {what} $j$ or more.",
        not low,
        {"group size": len(head.group), "least": min(ranks)},
        lambda: {"examples": low, what: [ranks[head.group.index(t)] for t in low]},
    )


def curve(data: Dataset, head: WidthOneHead, number: int) -> Claim:
    """Different rows have different entries of E⁽ᵗ⁾u: the lemma for repeated rows applies."""
    tied = _tied(data, head, head.group)
    return shared.claim(
        number,
        ids.CURVE,
        "For $t$ in the group different rows of $E^{(t)}$ have different entries of $E^{(t)}u$, so "
        "that a flat without all rows forbids at most $n-1$ values of $\\alpha_t$.",
        not tied,
        {"group size": len(head.group)},
        lambda: {"examples with a tie": tied},
    )


def separator(data: Dataset, head: WidthOneHead, number: int) -> Claim:
    """The same for every earlier s: one row attracts all attention as c grows."""
    tied = _tied(data, head, head.earlier)
    return shared.claim(
        number,
        ids.SEPARATOR,
        "For every earlier $s$ different rows of $E^{(s)}$ have different entries of $E^{(s)}u$.",
        not tied,
        {"earlier": len(head.earlier)},
        lambda: {"example": tied[0]},
    )


def saturation(data: Dataset, head: WidthOneHead, table: Table, number: int) -> Claim:
    """L_s is where (v0·e_s)·E⁽ˢ⁾u is largest: what s attends to as c grows, repeated or not."""
    ahead = shared.lead(data, head)
    wrong = [s for s, by in zip(head.earlier, _leads(data, head, ahead), strict=True) if by <= 0]
    now = _leads(data, head, table[list(head.earlier)])
    least = min((int(by) for by in now if by < _ALONE), default=None)
    return width_one.in_the_limit(head, number, "$L_s$, repeated or not,", wrong, least)


_ALONE = float("inf")  # the lead of a row that has no other beside it


def _leads(data: Dataset, head: WidthOneHead, table: Table) -> list[float]:
    """By how much each target exceeds the entries of all different rows of its context."""
    out = []
    for s, target, entries in zip(head.earlier, head.targets, dense(table).tolist(), strict=True):
        context = data.context(s).tolist()
        pairs = zip(entries[: len(context)], context, strict=True)
        others = [x for x, row in pairs if row != context[target]]
        out.append(entries[target] - max(others) if others else _ALONE)
    return out


def _tied(data: Dataset, head: WidthOneHead, examples: Sequence[int]) -> list[int]:
    """Examples with two different rows whose entries of E⁽ᵗ⁾u are equal."""
    products, out = shared.entries(data, head.separator), []
    for t in examples:
        entries = {str(x) for x in products(t)}
        if len(entries) < len({str(row) for row in data.context(t).tolist()}):
            out.append(t)
    return out


head_claims = in_order.steering(_before, saturation, _wording)
