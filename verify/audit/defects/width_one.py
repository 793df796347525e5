"""Errors in the steps of the width-one construction, each with the check of its own step."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial

from flint import fmpq_mat

from attncert.verify.audit.defects.defect import Defect, Family, Fired, failing
from attncert.verify.audit.defects.runs import WIDTH_ONE, Built, width_one
from attncert.verify.audit.defects.spoil import (
    HEAD,
    blind,
    bumped,
    changed,
    consistent,
    head,
    measured,
    one_end_tied,
    rebuilt,
    record,
    tied,
    weights,
    with_first,
    with_groups,
    with_records,
    with_ties,
)
from attncert.verify.claims.evidence import Claim
from attncert.verify.steps.shared import placement
from attncert.verify.steps.width_one import head_claims


def claims(run: Built) -> list[Claim]:
    """All claims about groups and heads."""
    return [placement(run.data, run.construction), *head_claims(run.data, run.construction)]


def fired(run: Built) -> Fired:
    return failing(claims(run))


# The head: v1, u, the group's logits.


def v1_on_record() -> Built:
    run = width_one("distinct")
    return record(run, v1=bumped(head(run).v1))


def v1_used() -> Built:
    run = width_one("distinct")
    return consistent(run, v1=bumped(head(run).v1))


def alphas_exchanged() -> Built:
    run = width_one("shared")
    assert len(set(head(run, 0).alphas)) > 1
    return record(run, 0, alphas=head(run, 0).alphas[::-1])


def other_logits() -> Built:
    run = width_one("distinct")
    return record(run, logits=with_first(head(run).logits, (9, 0, 0)))


def queries_permuted() -> Built:
    """The query of an example with α ≠ 0 and of a later one, exchanged after the build."""
    run = width_one("several alphas")
    order = list(range(run.data.T))
    a, b = _moved(run), head(run, HEAD + 1).group[0]
    order[a], order[b] = order[b], order[a]
    return replace(run, data=replace(run.data, queries=run.data.queries[order]))


def contexts_swapped() -> Built:
    """Its context, likewise."""
    run = width_one("several alphas")
    order = list(range(run.data.T))
    a, b = _moved(run), head(run, HEAD + 1).group[0]
    order[a], order[b] = order[b], order[a]
    return replace(run, data=replace(run.data, contexts=run.data.contexts[order]))


def _moved(run: Built) -> int:
    """An example of the group whose α is not 0: its logits depend on query and context."""
    return next(t for t, alpha in zip(head(run).group, head(run).alphas, strict=True) if alpha)


def tie_in_the_group() -> Built:
    """Only the curve lemma asks for distinct entries of the group; its logits are made from u."""
    run = width_one("distinct")
    for spoilt in _with_tie(run, head(run).group):
        if not one_end_tied(run, head(spoilt).separator, head(run).earlier):
            return spoilt
    raise AssertionError("no such tie")


def _with_tie(run: Built, examples: tuple[int, ...]) -> Iterator[Built]:
    """Heads with two equal entries in E⁽ᵗ⁾u for one of the examples, where every target leads."""
    found, data = head(run), run.data
    for u in with_ties(data, examples):
        logits = tuple(
            tuple(int(x * alpha) for x in (data.context(t) * u).entries())
            for t, alpha in zip(found.group, found.alphas, strict=True)
        )
        with suppress(ValueError):
            yield consistent(run, separator=u, logits=logits)


# Selector and separator.


def selector_not_orthogonal() -> Built:
    run = width_one("distinct")
    return consistent(run, selector=bumped(head(run).selector))


def selector_blind() -> Built:
    run = width_one("distinct")
    return rebuilt(run, selector=blind(run))


def tie(top: bool) -> Built:
    run = width_one("distinct")
    return rebuilt(run, separator=tied(run, top))


def tie_at_the_unused_end() -> Built:
    """Where no earlier example is sent: the targets still lead."""
    run = width_one("distinct")
    for spoilt in _with_tie(run, head(run).earlier):
        if one_end_tied(run, head(spoilt).separator, head(run).earlier) and _distinct_in_the_group(
            spoilt
        ):
            return spoilt
    raise AssertionError("no such tie")


def _distinct_in_the_group(run: Built) -> bool:
    tables = [(run.data.context(t) * head(run).separator).entries() for t in head(run).group]
    return all(row.count(x) == 1 for row in tables for x in row)


# Weights and logits.


def u_rescaled_on_record() -> Built:
    """By 3, with the group's logits: key and query still have the old length."""
    run = width_one("distinct")
    logits = tuple(tuple(3 * k for k in row) for row in head(run).logits)
    return record(run, separator=head(run).separator * 3, logits=logits)


def c_off_on_record() -> Built:
    run = width_one("distinct")
    return record(run, c=head(run).c + 1)


def query_off_by_one() -> Built:
    run = width_one("distinct")
    return weights(run, query=changed(run.construction.layer.heads[HEAD].query, 0, 0, 1))


def second_column() -> Built:
    """M of rank 2, from key and query of width 2."""
    run = width_one("distinct")
    old = run.construction.layer.heads[HEAD]
    parts = {}
    for name, matrix in (("key", old.key), ("query", old.query)):
        rows = [[row[0], i + (name == "key")] for i, row in enumerate(matrix.tolist())]
        parts[name] = fmpq_mat(len(rows), 2, [x for row in rows for x in row])
    return weights(run, **parts)


def selector_over_seven() -> Built:
    """The group's logits stay whole, those of earlier examples do not."""
    run = width_one("distinct")
    return rebuilt(run, selector=head(run).selector / 7)


# Saturation, ranks, groups.


def gap(by: int | None) -> Built:
    run = width_one("distinct")
    return record(run, gap_bits=None if by is None else head(run).gap_bits + by)


def other_targets() -> Built:
    run = width_one("distinct")
    first, *rest = head(run).targets
    return record(run, targets=((first + 1) % 3, *rest))


def wrong_sign() -> Built:
    """v0 negated, here and in the weights: every earlier example leaves its target row."""
    run = width_one("distinct")
    return rebuilt(run, selector=-head(run).selector)


def one_alpha(name: str, h: int) -> Built:
    """All of a group at one point of the curve of a shared context: one direction for all."""
    run = width_one(name)
    found, data = head(run, h), run.data
    rows = data.queries[list(found.group)].matrix()
    gram = (rows * rows.transpose()).inv()
    ones = fmpq_mat(len(found.group), 1, [1] * len(found.group))
    v1 = rows.transpose() * gram * ones
    u = found.separator * v1.numer_denom()[1]  # whole logits for all examples
    logits = [tuple(int(x) for x in (data.context(t) * u).entries()) for t in found.group]
    parts = {"separator": u, "v1": v1, "alphas": (1,) * len(found.group), "logits": tuple(logits)}
    return rebuilt(run, h, **parts) if h == 0 else consistent(run, h, **parts)


def another_group() -> Built:
    run = width_one("distinct")
    first, second = head(run).group
    return record(run, group=(first, second + 1))


def all_earlier_forgotten() -> Built:
    return record(width_one("distinct"), earlier=(), targets=(), selector=None)


def in_two_groups() -> Built:
    run = width_one("distinct")
    *groups, last = run.construction.groups
    return with_groups(run, *groups, (0, *last[1:]))


def small_gap_after_c() -> Built:
    """c larger by one in record and weights, the lead of the old c still on record."""
    run = width_one("distinct")
    spoilt = rebuilt(run, c=head(run).c + 1)
    assert head(measured(spoilt)).gap_bits != head(run).gap_bits
    return spoilt


DEFECTS = (
    Defect("v1 off by one in the record", "head.2.coefficients", v1_on_record),
    Defect("v1 off by one, and used", "head.2.coefficients", v1_used),
    Defect("two of the α exchanged", "head.1.coefficients", alphas_exchanged),
    Defect("other logits on record", "head.2.coefficients", other_logits),
    Defect("queries of two groups exchanged in the data", "head.2.coefficients",
           queries_permuted),
    Defect("contexts of two groups exchanged in the data", "head.2.coefficients",
           contexts_swapped),
    Defect("tie of Eu within the group", "head.2.curve", tie_in_the_group),
    Defect("selector not orthogonal to the group", "head.2.selector", selector_not_orthogonal),
    Defect("selector vanishing on an earlier query", "head.2.selector", selector_blind),
    Defect("tie at the top of Eu", "head.2.separator", partial(tie, True)),
    Defect("tie at the bottom of Eu", "head.2.separator", partial(tie, False)),
    Defect("tie of Eu at the end that no example uses", "head.2.separator",
           tie_at_the_unused_end),
    Defect("u three times too long in the record", "head.2.weights", u_rescaled_on_record),
    Defect("c off by one in the record", "head.2.weights", c_off_on_record),
    Defect("a query entry off by one", "head.2.weights", query_off_by_one),
    Defect("M of rank two", "head.2.weights", second_column),
    Defect("selector over 7: logits not whole", "head.2.integral", selector_over_seven),
    Defect("lead overstated", "head.2.saturation", partial(gap, 1)),
    Defect("lead left out", "head.2.saturation", partial(gap, None)),
    Defect("lead of another c", "head.2.saturation", small_gap_after_c),
    Defect("wrong target row", "head.2.saturation", other_targets),
    Defect("wrong sign of the selector, hence of every target row", "head.2.saturation",
           wrong_sign),
    Defect("one α for a whole group", "head.2.independence", partial(one_alpha, "shared", 1)),
    Defect("one α for the only group", "head.1.rank", partial(one_alpha, "one head", 0)),
    Defect("group off by one", "groups", another_group),
    Defect("all earlier examples forgotten", "groups", all_earlier_forgotten),
    Defect("an example in two groups", "groups", in_two_groups),
    Defect("a head without a record", "groups", lambda: with_records(width_one("distinct"), 2)),
)  # fmt: skip

WIDTH_ONE_STEPS = Family(
    name="width-one",
    title="Steps of the width-one construction",
    checks=("groups", "coefficients", "curve", "selector", "separator", "weights", "integral",
            "saturation", "independence", "rank"),
    fired=fired,
    correct={name: partial(width_one, name) for name in WIDTH_ONE},
    defects=DEFECTS,
)  # fmt: skip
