"""Errors in the steps of a construction, each with the check of its own step.

A defect belongs to a step: those below are planted in every construction that has it. Which steps
these are, and with them the checks, is the construction's outline (verify/methods); its own file
(`paper.py`, `width_one.py`, `generic.py`) adds what no other has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from attncert.constructions.construction import SteeringHead
from attncert.constructions.data.dataset import Dataset
from attncert.verify.audit.defects import spoil
from attncert.verify.audit.defects.defect import Defect, Family, Fired, column, failing
from attncert.verify.audit.defects.runs import Built
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim
from attncert.verify.claims.ids import Step, of_head
from attncert.verify.methods import registry
from attncert.verify.methods.method import Method
from attncert.verify.steps import shared


def claims(run: Built) -> list[Claim]:
    """All claims about groups and heads, by the checks of the construction that was run."""
    method = registry.method(run.construction.name)
    heads = method.head_claims(run.data, run.construction, with_ranks=True)
    return [shared.placement(run.data, run.construction), *heads]


def fired(run: Built) -> Fired:
    return failing(claims(run))


def family(
    method: Method,
    runs: Mapping[str, Callable[[], Built]],
    usual: str,
    own: tuple[Defect, ...],
    implied: Mapping[str, str] | None = None,
) -> Family:
    """The construction's family: its own defects, and those of the steps that it shares.

    runs: correct ones, by name. usual: the one that the shared defects are planted in; its head
    `HEAD` has two examples, and three before it.
    """
    has = {ids.GROUPS, *method.outline.steps}
    common = [
        Defect(spoilt.name, spoilt.check, spoilt.planted(runs[usual]))
        for spoilt in STEPS
        if {column(spoilt.check), *spoilt.asks} <= has
    ]
    steps = (ids.GROUPS, *method.outline.steps, *(column(defect.check) for defect in own))
    checks = tuple(dict.fromkeys(steps))
    return Family(
        name=method.name,
        title=f"Steps of {method.voice.title}",
        checks=checks,
        fired=fired,
        correct=runs,
        defects=tuple(sorted([*own, *common], key=lambda d: checks.index(column(d.check)))),
        implied=implied or {},
    )


@dataclass(frozen=True)
class StepDefect:
    """A defect of a step, for every construction that has the step and what else it asks."""

    name: str
    check: str
    spoil: Callable[[Built], Built]
    asks: tuple[Step, ...] = ()

    def planted(self, run: Callable[[], Built]) -> Callable[[], Built]:
        return lambda: self.spoil(run())


# Groups.


def another_group(run: Built) -> Built:
    first, second = spoil.head(run).group
    return spoil.record(run, group=(first, second + 1))


def earlier_forgotten(run: Built, count: int) -> Built:
    """So many of the earlier examples; all three: as if this were the first head."""
    found = spoil.head(run)
    parts: dict[str, Any] = {"earlier": found.earlier[count:]}
    if isinstance(found, SteeringHead):
        parts["targets"] = found.targets[count:]
        parts["selector"] = found.selector if parts["earlier"] else None
    return spoil.record(run, **parts)


def in_no_group(run: Built) -> Built:
    *groups, last = run.construction.groups
    return spoil.said(run, groups=(*groups, last[:-1]))


def in_two_groups(run: Built) -> Built:
    *groups, last = run.construction.groups
    return spoil.said(run, groups=(*groups, (0, *last[1:])))


# Selector and separator.


def tie(run: Built, top: bool) -> Built:
    return spoil.rebuilt(run, separator=spoil.tied(run, top))


def tie_at_the_unused_end(run: Built) -> Built:
    """Where no earlier example is sent: the targets still lead, and ranks do not suffer."""
    found = spoil.head(run)
    return next(
        spoilt
        for spoilt in spoil.tied_consistently(run, found.earlier)
        if spoil.one_end_tied(run, spoil.head(spoilt).separator, found.earlier)
        and not shared.tied(run.data, spoil.head(spoilt).separator, found.group)
    )


# Weights and logits.


def factor_changed(run: Built, name: str) -> Built:
    right = getattr(run.construction.layer.heads[spoil.HEAD], name)
    return spoil.weights(run, **{name: spoil.changed(right, 0, 0, 1)})


def heads_exchanged(run: Built) -> Built:
    """The weights of two heads, in each other's place."""
    layer = run.construction.layer
    first, second, third, *rest = layer.heads
    return spoil.said(run, layer=replace(layer, heads=(first, third, second, *rest)))


def half_the_key(run: Built) -> Built:
    return spoil.weights(run, key=run.construction.layer.heads[spoil.HEAD].key / 2)


# Saturation.


def other_gap(run: Built, by: int | None) -> Built:
    return spoil.record(run, gap_bits=None if by is None else spoil.head(run).gap_bits + by)


def other_target(run: Built) -> Built:
    first, *rest = spoil.head(run).targets
    return spoil.record(run, targets=((first + 1) % run.data.n, *rest))


def earlier_rows_turned(run: Built) -> Built:
    """The rows of an earlier example's context, in another order after the build."""
    contexts = run.data.contexts.fractions()
    s = spoil.head(run, spoil.HEAD + 1).earlier[-1]
    contexts[s] = contexts[s][1:] + contexts[s][:1]
    return replace(run, data=Dataset.of(contexts, run.data.queries, run.data.labels))


_STEERS = (ids.SELECTOR, ids.SEPARATOR)

STEPS = (
    StepDefect("group off by one", ids.GROUPS, another_group),
    StepDefect("an earlier example forgotten", ids.GROUPS, partial(earlier_forgotten, count=1)),
    StepDefect("all earlier examples forgotten", ids.GROUPS, partial(earlier_forgotten, count=3)),
    StepDefect("an example in no group", ids.GROUPS, in_no_group),
    StepDefect("an example in two groups", ids.GROUPS, in_two_groups),
    StepDefect("a head without a record", ids.GROUPS,
               lambda run: spoil.said(run, heads=run.construction.heads[:2])),
    StepDefect("other logits on record", of_head(2, ids.LOGITS), spoil.other_logits),
    StepDefect("selector not orthogonal to the group", of_head(2, ids.SELECTOR),
               lambda run: spoil.rebuilt(run, selector=spoil.bumped(spoil.head(run).selector, 2))),
    StepDefect("the same, all else made from it", of_head(2, ids.SELECTOR),
               lambda run: spoil.consistent(
                   run, selector=spoil.bumped(spoil.head(run).selector, 2))),
    StepDefect("selector vanishing on an earlier query", of_head(2, ids.SELECTOR),
               lambda run: spoil.rebuilt(run, selector=spoil.blind(run))),
    StepDefect("the same, in the record only", of_head(2, ids.SELECTOR),
               lambda run: spoil.record(run, selector=spoil.blind(run))),
    StepDefect("tie at the top of Eu", of_head(2, ids.SEPARATOR), partial(tie, top=True)),
    StepDefect("tie at the bottom of Eu", of_head(2, ids.SEPARATOR), partial(tie, top=False)),
    StepDefect("tie of Eu at the end that no example uses", of_head(2, ids.SEPARATOR),
               tie_at_the_unused_end),
    StepDefect("separator rescaled in the record", of_head(2, ids.WEIGHTS),
               lambda run: spoil.record(run, separator=spoil.head(run).separator * 3), _STEERS),
    StepDefect("c off by one in the record", of_head(2, ids.WEIGHTS),
               lambda run: spoil.record(run, c=spoil.head(run).c + 1), _STEERS),
    StepDefect("a key entry off by one", of_head(2, ids.WEIGHTS),
               partial(factor_changed, name="key")),
    StepDefect("a query entry off by one", of_head(2, ids.WEIGHTS),
               partial(factor_changed, name="query")),
    StepDefect("weights of two heads exchanged", of_head(2, ids.WEIGHTS), heads_exchanged),
    StepDefect("half the key: logits not whole", of_head(2, ids.INTEGRAL), half_the_key),
    StepDefect("selector over 7: logits not whole", of_head(2, ids.INTEGRAL),
               lambda run: spoil.rebuilt(run, selector=spoil.head(run).selector / 7), _STEERS),
    StepDefect("gap overstated", of_head(2, ids.SATURATION), partial(other_gap, by=1)),
    StepDefect("gap understated", of_head(2, ids.SATURATION), partial(other_gap, by=-1)),
    StepDefect("gap left out", of_head(2, ids.SATURATION), partial(other_gap, by=None)),
    StepDefect("gap of another c", of_head(2, ids.SATURATION),
               lambda run: spoil.rebuilt(run, c=spoil.head(run).c + 1)),
    StepDefect("wrong target row", of_head(2, ids.SATURATION), other_target),
    StepDefect("wrong sign of the selector, hence of every target row", of_head(2, ids.SATURATION),
               lambda run: spoil.rebuilt(run, selector=-spoil.head(run).selector)),
    StepDefect("rows of an earlier context turned", of_head(3, ids.SATURATION),
               earlier_rows_turned),
)  # fmt: skip
