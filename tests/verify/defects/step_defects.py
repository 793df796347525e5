"""Errors in the steps of the four constructions, each with the check of its own step.

A defect in `STEPS` is planted in every construction whose outline has the step. Defects of
only one construction are listed with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from defect_matrix import Defect, Family, Fired, column, failing
from flint import fmpq_mat
from support import built
from support.built import (
    HEAD,
    Built,
    affine,
    blind,
    bumped,
    changed,
    claims,
    consistent,
    generic,
    measured,
    measured_logits,
    one_end_tied,
    paper,
    rebuilt,
    record,
    stated,
    tied,
    tied_consistently,
    weights,
    width_one,
)  # fmt: skip

from attncert.constructions.construction import SteeringHead
from attncert.constructions.data.dataset import Dataset
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim
from attncert.verify.claims.ids import ClaimId, of_head
from attncert.verify.statements import registry

Spoil = Callable[[Built], Built]


def fired(run: Built) -> Fired:
    """If a claim is open because a logit is not an integer, the step about integers fires."""
    return failing(x for x in claims(run) if not waits_for_logits(x))


def waits_for_logits(claim: Claim) -> bool:
    return "not an integer" in str((claim.witness or {}).get("reason"))


# Defects for every construction that has the step.


def other_logits(run: Built) -> Built:
    return record(run, logits=((9, 0, 0), *run.head().logits[1:]))


def forgotten(run: Built, count: int) -> Built:
    """Forget some of the three earlier examples, but not all: that would make it the first head."""
    head = run.head()
    parts: dict[str, Any] = {"earlier": head.earlier[count:]}
    if isinstance(head, SteeringHead):
        parts["targets"] = head.targets[count:]
        parts["selector"] = head.selector if parts["earlier"] else None
    return record(run, **parts)


def regrouped(run: Built, change: Callable[[tuple[int, ...]], tuple[int, ...]]) -> Built:
    *groups, last = run.construction.groups
    return stated(run, groups=(*groups, change(last)))


def tie_at_the_unused_end(run: Built) -> Built:
    """A tie at rows to which no earlier example is sent: targets lead, and ranks do not change."""
    head = run.head()
    return next(
        spoilt
        for spoilt in tied_consistently(run, head.earlier)
        if one_end_tied(spoilt, head.earlier)
        and not any(len({*map(str, row)}) < len(row) for row in separated(spoilt, head.group))
    )


def separated(run: Built, examples: tuple[int, ...]) -> list[list[Any]]:
    """The entries of E⁽ᵗ⁾u for these examples."""
    return [(run.data.context(t) * run.head().separator).entries() for t in examples]


def entry(run: Built, name: str) -> Built:
    """The first entry of the key or the query is larger by one."""
    return weights(run, **{name: changed(getattr(run.layer.heads[HEAD], name), 0, 0, 1)})


def heads_exchanged(run: Built) -> Built:
    first, second, third, *rest = run.layer.heads
    return stated(run, layer=replace(run.layer, heads=(first, third, second, *rest)))


def half_the_key(run: Built) -> Built:
    return weights(run, key=run.layer.heads[HEAD].key / 2)


def gap(run: Built, by: int) -> Built:
    return record(run, gap_bits=run.head().gap_bits + by)


def other_target(run: Built) -> Built:
    first, *rest = run.head().targets
    return record(run, targets=((first + 1) % run.data.n, *rest))


def earlier_rows_turned(run: Built) -> Built:
    """Reorder the rows of an earlier example's context after the layer was built."""
    contexts = run.data.contexts.fractions()
    s = run.head(HEAD + 1).earlier[-1]
    contexts[s] = contexts[s][1:] + contexts[s][:1]
    return replace(run, data=Dataset.of(contexts, run.data.queries, run.data.labels))


GROUPS, SECOND = ids.GROUPS, partial(of_head, 2)
STEERS = ("selector", "separator")  # further steps that the construction must have

STEPS: tuple[tuple[str, ClaimId, Spoil] | tuple[str, ClaimId, Spoil, tuple[str, ...]], ...] = (
    ("group off by one", GROUPS,
     lambda b: record(b, group=(b.head().group[0], b.head().group[1] + 1))),
    ("an earlier example forgotten", GROUPS, partial(forgotten, count=1)),
    ("all earlier examples forgotten", GROUPS, partial(forgotten, count=3)),
    ("an example in no group", GROUPS, partial(regrouped, change=lambda last: last[:-1])),
    ("an example in two groups", GROUPS, partial(regrouped, change=lambda last: (0, *last[1:]))),
    ("a head without a record", GROUPS, lambda b: stated(b, heads=b.construction.heads[:2])),
    ("other logits on record", SECOND("logits"), other_logits),
    ("selector not orthogonal to the group", SECOND("selector"),
     lambda b: rebuilt(b, selector=bumped(b.head().selector, 2))),
    ("the same, all else made from it", SECOND("selector"),
     lambda b: consistent(b, selector=bumped(b.head().selector, 2))),
    ("selector vanishing on an earlier query", SECOND("selector"),
     lambda b: rebuilt(b, selector=blind(b))),
    ("the same, in the record only", SECOND("selector"), lambda b: record(b, selector=blind(b))),
    ("tie at the top of Eu", SECOND("separator"),
     lambda b: rebuilt(b, separator=tied(b, top=True))),
    ("tie at the bottom of Eu", SECOND("separator"),
     lambda b: rebuilt(b, separator=tied(b, top=False))),
    ("tie of Eu at the end that no example uses", SECOND("separator"), tie_at_the_unused_end),
    ("separator rescaled in the record", SECOND("weights"),
     lambda b: record(b, separator=b.head().separator * 3), STEERS),
    ("c off by one in the record", SECOND("weights"),
     lambda b: record(b, c=b.head().c + 1), STEERS),
    ("a key entry off by one", SECOND("weights"), partial(entry, name="key")),
    ("a query entry off by one", SECOND("weights"), partial(entry, name="query")),
    ("weights of two heads exchanged", SECOND("weights"), heads_exchanged),
    ("half the key: logits not whole", SECOND("integral"), half_the_key),
    ("selector over 7: logits not whole", SECOND("integral"),
     lambda b: rebuilt(b, selector=b.head().selector / 7), STEERS),
    ("gap overstated", SECOND("saturation"), partial(gap, by=1)),
    ("gap understated", SECOND("saturation"), partial(gap, by=-1)),
    ("gap left out", SECOND("saturation"), lambda b: record(b, gap_bits=None)),
    ("gap of another c", SECOND("saturation"), lambda b: rebuilt(b, c=b.head().c + 1)),
    ("wrong target row", SECOND("saturation"), other_target),
    ("wrong sign of the selector, hence of every target row", SECOND("saturation"),
     lambda b: rebuilt(b, selector=-b.head().selector)),
    ("rows of an earlier context turned", of_head(3, "saturation"), earlier_rows_turned),
)  # fmt: skip


def family(
    name: str, usual: str, own: tuple[Defect, ...], implied: Mapping[str, str] | None = None
) -> Family:
    """The construction's family: its own defects, and those of the steps that it shares, planted in
    its run `usual`, whose head `HEAD` places two examples after three others."""
    method = registry.method(name)
    has = {ids.GROUPS, *method.steps}
    common = [
        Defect(what, check, lambda spoil=spoil: spoil(built.run(name, usual)))
        for what, check, spoil, *asks in STEPS
        if {column(check), *(asks[0] if asks else ())} <= has
    ]
    checks = (ids.GROUPS, *(name for name in method.steps if name != "groups"))
    return Family(
        checks=checks,
        fired=fired,
        correct={kind: partial(built.run, name, kind) for kind in built.RUNS[name]},
        defects=tuple(sorted([*own, *common], key=lambda d: checks.index(column(d.check)))),
        implied=implied or {},
    )


# The paper's construction.


def first_off(run: Built, part: str, by: int = 1) -> dict[str, Any]:
    """Change one entry of the head's first dual or steering vector."""
    first, *rest = getattr(run.head(), part)
    return {part: (bumped(first, by), *rest)}


def exchanged(run: Built, part: str) -> Built:
    """Exchange queries or contexts of an example of the group and of a later one, after the build.

    Its logits change, since they depend on both its query and its context.
    """
    head, order = run.head(), list(range(run.data.T))
    a = next(t for t, row in zip(head.group, head.logits, strict=True) if len(set(row)) > 1)
    b = run.head(HEAD + 1).group[0]
    order[a], order[b] = order[b], order[a]
    parts: dict[str, Any] = {part: getattr(run.data, part)[order]}
    return replace(run, data=replace(run.data, **parts))


def extra_column() -> Built:
    """A fourth independent key column in a layer of d_h = 5: M of rank 4 > r = 3."""
    run = paper("wide")
    key, query = fmpq_mat(run.layer.heads[HEAD].key), fmpq_mat(run.layer.heads[HEAD].query)
    for i in range(run.data.d):
        key[i, 3], query[i, 3] = i * i + 1, i + 2
    return weights(run, key=key, query=query)


def greedy_choice_skipped() -> Built:
    """Step 7: each vertex alone leaves the span of the earlier rows, but both together do not."""
    w, to_e4 = fmpq_mat([[0], [0], [0], [60], [0]]), (0, 60, 0)
    return rebuilt(paper("trap"), steering=(w, w), logits=(to_e4, to_e4))


def vertices(run: Built, h: int, rows: tuple[int, ...]) -> Built:
    """Steer the group's examples to these rows, even if the rank falls: two of them may get the
    same row of a shared context, and finite c may hide that the limit is deficient."""
    steering, logits = [], []
    for t, row in zip(run.head(h).group, rows, strict=True):
        context = run.data.context(t)
        gram = (context * context.transpose()).inv()
        size = int(gram.numer_denom()[1])
        target = tuple(size * (i == row) for i in range(run.data.n))
        steering.append(context.transpose() * gram * fmpq_mat(run.data.n, 1, list(target)))
        logits.append(target)
    parts = {"steering": tuple(steering), "logits": tuple(logits)}
    return rebuilt(run, h, **parts) if h == 0 else consistent(run, h, **parts)


PAPER = family("paper", "interior", (
    Defect("a dual vector off by one, in the record", SECOND("duals"),
           lambda: record(b := paper("vertices"), **first_off(b, "duals"))),
    Defect("a dual vector off by one, and used", SECOND("duals"),
           lambda: rebuilt(b := paper("vertices"), **first_off(b, "duals", 6))),
    Defect("the dual of an example without steering: no weight shows it", SECOND("duals"),
           lambda: rebuilt(b := paper("interior"), **first_off(b, "duals"))),
    Defect("two duals exchanged", SECOND("duals"),
           lambda: record(b := paper("vertices"), duals=b.head().duals[::-1])),
    Defect("queries of two groups exchanged in the data", SECOND("duals"),
           lambda: exchanged(paper("vertices"), "queries")),
    Defect("a steering vector off by one, in the record", SECOND("steering"),
           lambda: record(b := paper("vertices"), **first_off(b, "steering"))),
    Defect("a steering vector off by one, and used", SECOND("steering"),
           lambda: consistent(b := paper("vertices"), **first_off(b, "steering"))),
    Defect("other logits on record", SECOND("steering"),
           lambda: other_logits(paper("interior"))),
    Defect("contexts of two groups exchanged in the data", SECOND("steering"),
           lambda: exchanged(paper("vertices"), "contexts")),
    Defect("rank of M above r", SECOND("weights"), extra_column),
    Defect("c one too small everywhere", SECOND("saturation"),
           lambda: measured(rebuilt(b := paper("vertices"), c=b.head().c - 1))),
    Defect("greedy choice of step 7 skipped", SECOND("independence"), greedy_choice_skipped),
    Defect("the same where finite c hides it", SECOND("independence"),
           lambda: vertices(paper("shared"), HEAD, (0, 0))),
    Defect("two examples of the only group sent to one row", of_head(1, "rank"),
           lambda: vertices(paper("one head"), 0, (0, 0, 1))),
    Defect("groups larger than r allows", GROUPS, lambda: stated(paper("interior"), r=2)),
))  # fmt: skip


# Heads of width one, and heads for contexts of any rank.


def alphas_exchanged(run: Built) -> Built:
    return record(run, 0, alphas=run.head(0).alphas[::-1])


def tie_in_the_group(run: Built) -> Built:
    """Only the curve lemma needs distinct entries for the group, whose logits are made from u."""
    head = run.head()
    ties = tied_consistently(run, head.group)
    return next(spoilt for spoilt in ties if not one_end_tied(spoilt, head.earlier))


def second_column() -> Built:
    """M of rank 2, from key and query of width 2."""
    run = width_one("distinct")
    head = run.layer.heads[HEAD]
    parts = {}
    for name, matrix in (("key", head.key), ("query", head.query)):
        rows = [[row[0], i + (name == "key")] for i, row in enumerate(matrix.tolist())]
        parts[name] = fmpq_mat(rows)
    return weights(run, **parts)


def one_alpha(run: Built, h: int) -> Built:
    """Put all examples of a group at one point of a shared context's curve, in one direction."""
    head, data = run.head(h), run.data
    rows, ones = data.queries[list(head.group)].matrix(), [1] * len(head.group)
    gram = (rows * rows.transpose()).inv()
    v1 = rows.transpose() * gram * fmpq_mat(len(ones), 1, ones)
    u = head.separator * v1.numer_denom()[1]  # keeps the logits of all examples integral
    logits = tuple(tuple(int(x) for x in (data.context(t) * u).entries()) for t in head.group)
    parts = {"separator": u, "v1": v1, "alphas": tuple(ones), "logits": logits}
    return rebuilt(run, h, **parts) if h == 0 else consistent(run, h, **parts)


def on_a_curve(run: Callable[[str], Built]) -> tuple[Defect, ...]:
    """The defects that both constructions share."""
    return (
        Defect("two of the α exchanged", of_head(1, "coefficients"),
               lambda: alphas_exchanged(run("shared"))),
        Defect("tie of Eu within the group", SECOND("curve"),
               lambda: tie_in_the_group(run("distinct"))),
        Defect("one α for a whole group", SECOND("independence"),
               lambda: one_alpha(run("shared"), 1)),
        Defect("one α for the only group", of_head(1, "rank"),
               lambda: one_alpha(run("one head"), 0)),
    )  # fmt: skip


WIDTH_ONE = family("width-one", "distinct", (
    *on_a_curve(width_one),
    Defect("v1 off by one in the record", SECOND("coefficients"),
           lambda: record(b := width_one("distinct"), v1=bumped(b.head().v1))),
    Defect("v1 off by one, and used", SECOND("coefficients"),
           lambda: consistent(b := width_one("distinct"), v1=bumped(b.head().v1))),
    Defect("other logits on record", SECOND("coefficients"),
           lambda: other_logits(width_one("distinct"))),
    Defect("queries of two groups exchanged in the data", SECOND("coefficients"),
           lambda: exchanged(width_one("several alphas"), "queries")),
    Defect("contexts of two groups exchanged in the data", SECOND("coefficients"),
           lambda: exchanged(width_one("several alphas"), "contexts")),
    Defect("M of rank two", SECOND("weights"), second_column),
))  # fmt: skip


def other_context(place: int, rows: tuple[int, ...]) -> Built:
    """After the build, the context of one member of the group consists of these rows alone."""
    run = affine("distinct")
    contexts = run.data.contexts.fractions()
    t = run.head().group[place]
    contexts[t] = [contexts[t][i] for i in rows]
    return replace(run, data=Dataset.of(contexts, run.data.queries, run.data.labels))


def turned_order() -> Built:
    """Reorder the members with their α and logits: the one of least dimension comes last."""
    run = affine("ragged")
    turned = {x: getattr(run.head(0), x)[::-1] for x in ("group", "alphas", "logits")}
    groups = (turned["group"], *run.construction.groups[1:])
    return stated(record(run, 0, **turned), groups=groups)


def repeated_as_another() -> Built:
    """Some targets have rows equal to them; the gap treats these as different rows."""
    run = affine("ragged")
    numbers = range(len(run.construction.heads))
    h = next(h for h in numbers if run.head(h).gap_bits not in (None, 0))
    return record(run, h, gap_bits=0)


AFFINE = family("affine", "distinct", (
    *on_a_curve(affine),
    Defect("a context of affine dimension 1 in the second place", SECOND("affine-dimensions"),
           lambda: other_context(1, (0, 1, 0))),
    Defect("a context of equal rows in a later group", SECOND("affine-dimensions"),
           lambda: other_context(0, (0, 0, 0))),
    Defect("the example of least dimension last in its group", of_head(1, "affine-dimensions"),
           turned_order),
    Defect("lead over an equal row as the gap", SECOND("saturation"), repeated_as_another),
))  # fmt: skip


# Generic weights: drawn, not derived step by step.


def entry_not_drawn() -> Built:
    """A defect in the weights, and in the recorded logits that they give."""
    return measured_logits(entry(generic("distinct"), "key"))


def head_twice() -> Built:
    """Repeat the weights of the first head, also in the record: nothing new is added."""
    run = generic("distinct")
    first = run.head(0)
    spoilt = record(run, key=first.key, query=first.query, bound=first.bound)
    return measured_logits(weights(spoilt, key=first.key, query=first.query))


GENERIC = family("generic", "distinct", (
    Defect("bound understated in the record", SECOND("small"),
           lambda: record(b := generic("wide"), bound=b.head().bound - 1)),
    Defect("a key entry that was not drawn", SECOND("small"), entry_not_drawn),
    Defect("a head twice", SECOND("rank"), head_twice),
), {
    "integral": "Small implies it: integers times the denominators give whole logits. Without it "
    "the logits could not be read.",
})  # fmt: skip
