"""Errors in the steps of the paper's construction, each with the check of its own step."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from flint import fmpq_mat

from attncert.constructions.data.dataset import Dataset
from attncert.verify.audit.defects.defect import Defect, Family, Fired, failing
from attncert.verify.audit.defects.runs import PAPER, Built, paper
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
    with_r,
    with_records,
    with_ties,
)
from attncert.verify.claims.evidence import Claim
from attncert.verify.steps.paper import head_claims, placement


def claims(run: Built) -> list[Claim]:
    """All claims about groups and heads."""
    return [placement(run.data, run.construction), *head_claims(run.data, run.construction)]


def fired(run: Built) -> Fired:
    return failing(claims(run))


# Step 2.


def dual_on_record() -> Built:
    run = paper("vertices")
    return record(run, duals=with_first(head(run).duals, bumped(head(run).duals[0])))


def dual_used() -> Built:
    run = paper("vertices")
    return rebuilt(run, duals=with_first(head(run).duals, bumped(head(run).duals[0], 6)))


def dual_of_an_unsteered_example() -> Built:
    """Its steering vector is 0, so that the weights do not show the error."""
    run = paper("interior")
    assert not any(head(run).steering[0].entries())
    return rebuilt(run, duals=with_first(head(run).duals, bumped(head(run).duals[0])))


def duals_swapped() -> Built:
    run = paper("vertices")
    return record(run, duals=head(run).duals[::-1])


def queries_permuted() -> Built:
    """The queries of the group's example and of a later one, exchanged after the build."""
    run = paper("vertices")
    order = list(range(run.data.T))
    a, b = head(run).group[0], head(run, HEAD + 1).group[0]
    order[a], order[b] = order[b], order[a]
    return replace(run, data=replace(run.data, queries=run.data.queries[order]))


def steering_on_record() -> Built:
    run = paper("vertices")
    return record(run, steering=with_first(head(run).steering, bumped(head(run).steering[0])))


def steering_used() -> Built:
    run = paper("vertices")
    wrong = with_first(head(run).steering, bumped(head(run).steering[0]))
    return consistent(run, steering=wrong)


def other_logits() -> Built:
    run = paper("interior")
    return record(run, logits=with_first(head(run).logits, (9, 0, 0)))


def contexts_swapped() -> Built:
    """The contexts of two examples of the first group, exchanged after the build."""
    run = paper("vertices")
    order = list(range(run.data.T))
    a, b = head(run, 0).group[:2]
    order[a], order[b] = order[b], order[a]
    return replace(run, data=replace(run.data, contexts=run.data.contexts[order]))


# Steps 3 and 4.


def selector_not_orthogonal() -> Built:
    run = paper("interior")
    return rebuilt(run, selector=bumped(head(run).selector, 2))


def selector_not_orthogonal_consistently() -> Built:
    run = paper("interior")
    return consistent(run, selector=bumped(head(run).selector, 2))


def selector_blind() -> Built:
    run = paper("interior")
    return rebuilt(run, selector=blind(run))


def selector_blind_on_record() -> Built:
    run = paper("interior")
    return record(run, selector=blind(run))


def tie(top: bool) -> Built:
    run = paper("interior")
    return rebuilt(run, separator=tied(run, top))


def tie_at_the_unused_end() -> Built:
    """Where no earlier example is sent: the targets still lead, and ranks do not suffer."""
    run = paper("interior")
    for u in with_ties(run.data, head(run).earlier):
        try:
            spoilt = consistent(run, separator=u)
        except ValueError:  # a tie where an example is to go
            continue
        if one_end_tied(run, u, head(run).earlier):
            return spoilt
    raise AssertionError("no such tie")


# Step 5.


def separator_rescaled_on_record() -> Built:
    run = paper("interior")
    return record(run, separator=head(run).separator / 3)


def c_too_small_on_record() -> Built:
    run = paper("vertices")
    return record(run, c=head(run).c - 1)


def key_off_by_one() -> Built:
    run = paper("interior")
    return weights(run, key=changed(run.construction.layer.heads[HEAD].key, 0, 0, 1))


def heads_exchanged() -> Built:
    """The weights of two heads, in each other's place."""
    run = paper("vertices")
    layer = run.construction.layer
    first, second, third, *rest = layer.heads
    layer = replace(layer, heads=(first, third, second, *rest))
    return run.with_construction(replace(run.construction, layer=layer))


def extra_column() -> Built:
    """A fourth independent key column in a layer of d_h = 5: M of rank 4 > r = 3."""
    run = paper("wide")
    key, query = (fmpq_mat(x) for x in _factors_of(run))
    for i in range(run.data.d):
        key[i, 3], query[i, 3] = i * i + 1, i + 2
    return weights(run, key=key, query=query)


def _factors_of(run: Built) -> tuple[fmpq_mat, fmpq_mat]:
    found = run.construction.layer.heads[HEAD]
    return found.key, found.query


# Integral logits.


def half_the_key() -> Built:
    run = paper("shared")
    return weights(run, key=_factors_of(run)[0] / 2)


def separator_over_seven() -> Built:
    """Consistently, so that the weights are those of the formula."""
    run = paper("interior")
    return rebuilt(run, separator=head(run).separator / 7)


# Steps 6 and 8.


def c_too_small() -> Built:
    """c - 1 everywhere, the least gap measured again: only what c is for can notice."""
    run = paper("vertices")
    assert head(run).c > 1
    return measured(rebuilt(run, c=head(run).c - 1))


def gap(by: int | None, on: str) -> Built:
    run = paper(on)
    return record(run, gap_bits=None if by is None else head(run).gap_bits + by)


def other_targets() -> Built:
    run = paper("interior")
    first, *rest = head(run).targets
    return record(run, targets=((first + 1) % 3, *rest))


def wrong_sign() -> Built:
    """u negated, here and in the weights: every earlier example leaves its target row."""
    run = paper("interior")
    return rebuilt(run, separator=-head(run).separator)


def earlier_rows_turned() -> Built:
    """The rows of an earlier example's context, in another order after the build."""
    run = paper("vertices")
    contexts = run.data.contexts.fractions()
    s = head(run, HEAD + 1).earlier[-1]
    contexts[s] = contexts[s][1:] + contexts[s][:1]
    data = Dataset.of(contexts, run.data.queries, run.data.labels)
    return replace(run, data=data)


# Step 7.


def greedy_choice_skipped() -> Built:
    """Each vertex alone leaves the span of the earlier rows, both together do not."""
    run = paper("trap")
    w, to_e4 = fmpq_mat([[0], [0], [0], [60], [0]]), (0, 60, 0)
    return rebuilt(run, steering=(w, w), logits=(to_e4, to_e4))


def greedy_choice_skipped_unsaturated() -> Built:
    """One shared context, both examples sent to one row: only the limit is deficient, not yet c."""
    return _vertices(paper("shared"), HEAD, (0, 0))


def first_group_on_one_row() -> Built:
    """One shared context, and two examples of the only group sent to the same row of it."""
    return _vertices(paper("one head"), 0, (0, 0, 1))


def _vertices(run: Built, h: int, rows: tuple[int, ...]) -> Built:
    """The group's examples sent to these rows by steering vectors, whatever that does."""
    data = run.data
    steering, logits = [], []
    for t, row in zip(head(run, h).group, rows, strict=True):
        context = data.context(t)
        gram = (context * context.transpose()).inv()
        size = int(gram.numer_denom()[1])
        wanted = tuple(size * (i == row) for i in range(data.n))
        steering.append(context.transpose() * gram * fmpq_mat(data.n, 1, list(wanted)))
        logits.append(wanted)
    parts = {"steering": tuple(steering), "logits": tuple(logits)}
    return rebuilt(run, h, **parts) if h == 0 else consistent(run, h, **parts)


# Groups.


def another_group() -> Built:
    run = paper("vertices")
    first, second = head(run).group
    return record(run, group=(first, second + 1))


def earlier_forgotten() -> Built:
    run = paper("interior")
    return record(run, earlier=head(run).earlier[1:], targets=head(run).targets[1:])


def all_earlier_forgotten() -> Built:
    return record(paper("interior"), earlier=(), targets=())


def in_no_group() -> Built:
    run = paper("interior")
    *groups, last = run.construction.groups
    return with_groups(run, *groups, last[:1])


def in_two_groups() -> Built:
    run = paper("interior")
    *groups, last = run.construction.groups
    return with_groups(run, *groups, (0, *last[1:]))


DEFECTS = (
    Defect("a dual vector off by one, in the record", "head.2.duals", dual_on_record),
    Defect("a dual vector off by one, and used", "head.2.duals", dual_used),
    Defect("the dual of an example without steering", "head.2.duals",
           dual_of_an_unsteered_example),
    Defect("two duals exchanged", "head.2.duals", duals_swapped),
    Defect("queries of two groups exchanged in the data", "head.2.duals", queries_permuted),
    Defect("a steering vector off by one, in the record", "head.2.steering", steering_on_record),
    Defect("a steering vector off by one, and used", "head.2.steering", steering_used),
    Defect("other logits on record", "head.2.steering", other_logits),
    Defect("two contexts exchanged in the data", "head.1.steering", contexts_swapped),
    Defect("selector not orthogonal to the group", "head.2.selector", selector_not_orthogonal),
    Defect("the same, all else made from it", "head.2.selector",
           selector_not_orthogonal_consistently),
    Defect("selector vanishing on an earlier query", "head.2.selector", selector_blind),
    Defect("the same, in the record only", "head.2.selector", selector_blind_on_record),
    Defect("tie at the top of Eu", "head.2.separator", partial(tie, True)),
    Defect("tie at the bottom of Eu", "head.2.separator", partial(tie, False)),
    Defect("tie of Eu at the end that no example uses", "head.2.separator",
           tie_at_the_unused_end),
    Defect("separator rescaled in the record", "head.2.weights", separator_rescaled_on_record),
    Defect("c one too small in the record", "head.2.weights", c_too_small_on_record),
    Defect("a key entry off by one", "head.2.weights", key_off_by_one),
    Defect("weights of two heads exchanged", "head.2.weights", heads_exchanged),
    Defect("rank of M above r", "head.2.weights", extra_column),
    Defect("half the key: logits not whole", "head.2.integral", half_the_key),
    Defect("separator over 7: logits not whole", "head.2.integral", separator_over_seven),
    Defect("c one too small everywhere", "head.2.saturation", c_too_small),
    Defect("gap overstated", "head.2.saturation", partial(gap, 1, "interior")),
    Defect("gap understated", "head.2.saturation", partial(gap, -1, "shared")),
    Defect("gap left out", "head.2.saturation", partial(gap, None, "interior")),
    Defect("wrong target row", "head.2.saturation", other_targets),
    Defect("wrong sign of the separator, hence of every target row", "head.2.saturation",
           wrong_sign),
    Defect("rows of an earlier context turned", "head.3.saturation", earlier_rows_turned),
    Defect("greedy choice of step 7 skipped", "head.2.independence", greedy_choice_skipped),
    Defect("the same where finite c hides it", "head.2.independence",
           greedy_choice_skipped_unsaturated),
    Defect("two examples of the only group sent to one row", "head.1.rank",
           first_group_on_one_row),
    Defect("group off by one", "groups", another_group),
    Defect("an earlier example forgotten", "groups", earlier_forgotten),
    Defect("all earlier examples forgotten", "groups", all_earlier_forgotten),
    Defect("groups larger than r allows", "groups", lambda: with_r(paper("interior"), 2)),
    Defect("an example in no group", "groups", in_no_group),
    Defect("an example in two groups", "groups", in_two_groups),
    Defect("a head without a record", "groups", lambda: with_records(paper("interior"), 2)),
)  # fmt: skip

PAPER_STEPS = Family(
    name="paper",
    title="Steps of the paper's construction",
    checks=("groups", "duals", "steering", "selector", "separator", "weights", "integral",
            "saturation", "independence", "rank"),
    fired=fired,
    correct={name: partial(paper, name) for name in PAPER},
    defects=DEFECTS,
)  # fmt: skip
