"""Steps that several proofs share: groups, selector, separator, limit, rank and logits.

Derivations: docs/audit-of-theorem-1.md, docs/width-one.md, docs/mathematics.md, section 3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from flint import fmpq

from attncert.constructions.construction import PlacedHead, SteeringHead
from attncert.constructions.numerals import numeral
from attncert.verify.claims.relations import AtLeast
from attncert.verify.claims.words import counted
from attncert.verify.features import features
from attncert.verify.features.tables import dense, ranges
from attncert.verify.statements.statements import Step
from attncert.verify.statements.states import View
from attncert.verify.statements.steps.heads import (
    Relations,
    entries,
    few_examples,
    group_rows,
    logits,
    moving,
    placing,
    softmax_residues,
    tables,
)

PAPER = "paper, proof of Theorem 1"
EXAMPLE = ("example",)
EXAMPLE_ENTRY = ("example", "entry")


def _placed(at: View) -> Relations:
    """Every example is in one group. The first has at most r examples, the others at most r - 1."""
    groups, r, records = at.built.groups, at.built.r, at.built.heads
    heads = Counter(t for group in groups for t in group)
    yield len(records), "==", len(groups)
    yield len(groups), "<=", len(at.built.layer.heads)
    yield from ((heads[t], "==", 1, f"example {t}") for t in range(at.data.T))
    before: tuple[int, ...] = ()
    for h, (record, group) in enumerate(zip(records, groups, strict=False), 1):
        yield len(group), ">", 0, f"head {h}"
        yield (record.group, record.earlier) == (group, before), "==", True, f"head {h}"
        if at.built.partition is None and r:
            yield len(group), "<=", r if h == 1 else r - 1, f"head {h}"
        before += group
    yield {"groups": len(groups), "examples": at.data.T}


GROUPS = Step(
    "Exactly one head places each example, and the earlier examples are those of earlier heads. "
    "The first group of a partition has at most $r$ examples, each later one at most $r-1$.",
    _placed,
    where=("place",),
    source=PAPER,
)


def _selector(at: View, head: SteeringHead, number: int) -> Relations:
    """Step 3: v ⊥ e_t for t in the group, and v·e_s ≠ 0 for every earlier s."""
    table, scale = features.query_products(at.data, head.selector)
    products = [fmpq(x, scale) for x in table[:, 0].tolist()]
    earlier = [products[s] for s in head.earlier]
    yield [products[t] for t in head.group], "==", 0, head.group
    yield earlier, "!=", 0, head.earlier
    sizes = [abs(x) for x in earlier]
    yield {
        "least product": numeral(min(sizes)),
        "largest product": numeral(max(sizes)),
        "uses": {"A1": f"no earlier query in the span of the group: {len(head.group) + 1} at a "
                       "time"},
    }  # fmt: skip


def selector(symbol: str, **rest: str) -> Step:
    """The step about the selector. symbol: its name in LaTeX."""
    return moving(
        f"The selector ${symbol}$ is orthogonal to the group's queries and to no earlier query.",
        _selector,
        rests_on=("partition",),
        where=EXAMPLE,
        **rest,
    )


def _separator(at: View, head: SteeringHead, number: int) -> Relations:
    """Step 4: E⁽ˢ⁾u has a unique maximum and a unique minimum for every earlier s."""
    products, looked_at = entries(at.data, head.separator), head.earlier
    looked_at = looked_at[:1] if at.data.shared else looked_at
    rows = [sorted(products(s)) for s in looked_at]
    yield [row[-1] for row in rows], ">", [_next(row, -2) for row in rows], looked_at
    yield [row[0] for row in rows], "<", [_next(row, 1) for row in rows], looked_at
    yield {
        "largest range": numeral(max(row[-1] - row[0] for row in rows)),
        "uses": {"A2": "rows of one context are distinct"},
    }


def _next(row: list[fmpq], place: int) -> fmpq:
    """The entry at `place`; for a single entry, a number with which the comparison holds."""
    return row[place] if len(row) > 1 else row[0] + (1 if place > 0 else -1)


SEPARATOR = moving(
    "For every earlier $s$ the entries of $E^{(s)}u$ have a unique maximum and minimum.",
    _separator,
    rests_on=("A2",),
    where=EXAMPLE,
    source=f"{PAPER}, step 4",
)


def _limit(at: View, head: SteeringHead, number: int) -> Relations:
    """Step 7: in the limit c → ∞ the rows of all examples placed so far are independent."""
    residues, rows = tables(at).first(number - 1), [*head.earlier, *head.group]
    weights = softmax_residues(dense(logits(at, number)[rows]), residues, rows)
    for k, target in enumerate(head.targets):
        weights[k] = 0
        weights[k, target] = 1
    limit = features.mix_mod(weights, residues.contexts(rows), residues.prime)
    yield from _full(residues.rank(rows, limit), rows, residues.prime)
    size = len(head.group)
    need = f"each example of the group ({size}) needs one of n independent rows outside a flat"
    yield {"uses": {"A2": need}}


def _full(rank: int, rows: Sequence[int], prime: int) -> Relations:
    yield AtLeast(rank), ">=", len(rows)
    yield {"rank": rank, "rows": len(rows), "prime": prime}


INDEPENDENCE = moving(
    "With $L_s$ in place of every earlier feature, the rows of all examples placed so far are "
    "independent: each new row is outside the span of the rows before it.",
    _limit,
    rests_on=("saturation", "A2"),
    applies=few_examples,
    source=f"{PAPER}, step 7 (targets chosen one at a time: ours)",
)


def _finite(at: View, head: PlacedHead, number: int) -> Relations:
    """Step 8: the rows placed so far are independent at the c that was chosen."""
    rows = [*head.earlier, *head.group]
    residues = tables(at).first(number)
    yield from _full(residues.rank(rows), rows, residues.prime)


RANK = placing(
    "The features of this head and those before it, at their finite weights, are independent on "
    "all examples placed so far.",
    _finite,
    applies=few_examples,
    source=f"{PAPER}, step 8",
)


def _integral(at: View, head: PlacedHead, number: int) -> Relations:
    try:
        spread = int(ranges(logits(at, number)).max())
    except features.NotIntegral as error:
        logit = fmpq(*map(int, error.value.split("/")))
        yield logit.floor(), "==", logit, error.example, error.row
        return
    yield spread, ">=", 0
    yield {"largest logit range": spread if spread < 2**53 else f"2^{spread.bit_length()}"}


INTEGRAL = placing(
    "Every logit of every example is an integral multiple of $\\ln 2$, so that every softmax "
    "weight is a rational number.",
    _integral,
    where=("example", "token"),
    source="docs/mathematics.md, section 3",
)


def _logits(at: View, head: PlacedHead, number: int) -> Relations:
    """The recorded logits, from which the readout is computed, agree with the layer's weights."""
    for t, row, own in zip(head.group, head.logits, group_rows(at, head, number), strict=True):
        yield list(row), "==", own, t
    yield {"group size": len(head.group)}


LOGITS = placing(
    "The recorded logits of the group are those of the layer's weights.",
    _logits,
    rests_on=("integral",),
    where=EXAMPLE_ENTRY,
)


def least_lead(head: SteeringHead, least: int | None) -> Relations:
    """The least lead at this c is the recorded lead, or None if there is no other row."""
    yield {"c": head.c}
    yield (least is None) == (head.gap_bits is None), "==", True
    if least is not None and head.gap_bits is not None:
        yield least, "==", head.gap_bits


def one_group(head: PlacedHead) -> str:
    return f"independence of {counted(len(head.group), 'query')} of one group"
