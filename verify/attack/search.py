"""An attack on a construction: small data of every degenerate kind, searched for a failure.

Case number k of a seed is drawn from (seed, k) alone: it can be drawn again without the others, and
a search can be resumed at any k. For each case it is decided here, by exhausting the subsets,
whether A1 holds, and if not, whether the partition condition does; a construction with hypotheses
of its own says by itself what it promises. Then the construction must build, and the features of
the layer that it returns must have rank T, by the check of `prove`, which looks at the weights
alone, and no step may be false. A network must output the labels, and a refusal must name two
equal inputs with different ones. A failure is shrunk to a data set from which nothing can be taken
away.

That no failure is found proves nothing beyond the cases counted.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from attncert.constructions.construction import BuiltLayer
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import HypothesisFails, InputError
from attncert.constructions.foreign import error_text
from attncert.constructions.layer import Layer
from attncert.constructions.progress import StageProgress, silent
from attncert.verify.answers import answers
from attncert.verify.attack import networks
from attncert.verify.attack.cases import (
    Case,
    contexts_independent,
    draw,
    partition_holds,
    queries_independent,
)
from attncert.verify.claims import ids
from attncert.verify.claims.answer import Answer, Subject
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.trace import ProofTrace
from attncert.verify.kruskal.shards.sampled import failing_at_most
from attncert.verify.methods import registry
from attncert.verify.methods.construction import Construction
from attncert.verify.methods.judged import placed_by, views_of
from attncert.verify.methods.request import Request
from attncert.verify.methods.statements import nothing_raised, step_claims
from attncert.verify.questions.audit import Attack
from attncert.verify.steps.conclusions import full_rank

Build = Callable[[Case], Any]  # a layer, or what holds one as `layer`
Draw = Callable[[np.random.Generator], Case]
Promise = Callable[[Case], str]
Trial = Callable[[Case], tuple[str | None, str]]  # what went wrong, and what was promised
C = TypeVar("C", bound=Case)
_ERRORS = (ArithmeticError, AssertionError, LookupError, RuntimeError, TypeError, ValueError)


@dataclass(frozen=True)
class Failure:
    """A case that the construction got wrong, as drawn and shrunk, and what went wrong."""

    number: int
    reason: str
    case: Case
    smallest: Case
    smallest_reason: str

    @property
    def sentence(self) -> str:
        drawn = f"case {self.number} ({self.case.kind}): {self.reason}"
        return f"{drawn}; smallest: {self.smallest_reason}"

    def as_dict(self) -> dict[str, Any]:
        """JSON-able: as drawn, and as shrunk."""
        return {
            "reason": self.sentence,
            "drawn": self.case.as_dict(),
            "smallest": self.smallest.as_dict(),
        }


@dataclass(frozen=True, kw_only=True, repr=False)
class AttackAnswer(Answer):
    """What was tried: the cases from the question's start to `stop` - 1.

    built:    by kind, cases with A1 and A2, or promised by a theorem with hypotheses of its own,
              that were built and have rank T.
    partition: the same for A1 false and the partition condition true.
    outside:  cases where neither holds: what the construction did with them ("refused", "rank T").
    failure:  the first case that was to be built and was not, or came out with a lower rank.
    own:      whether the construction says by itself what it promises.
    """

    question: Attack
    data: Subject
    stop: int
    built: Counter[str]
    partition: Counter[str]
    outside: Counter[str]
    failure: Failure | None
    own: bool

    @property
    def counts(self) -> str:
        """How many cases were of which sort."""
        built, outside = self.built.total(), self.outside.total()
        if self.own:
            return f"Built as promised: {built:,}; where nothing is promised: {outside:,}"
        return (
            f"Built under A1: {built:,}; under the partition condition alone: "
            f"{self.partition.total():,}; where neither holds: {outside:,}"
        )


@answers(Attack)
def attack(question: Attack | None = None, progress: StageProgress = silent) -> AttackAnswer:
    """Draw the cases of the question and try the construction on each, up to the first failure.

    Arithmetic: exact. Source: what the construction's record promises. Raises InputError.

    >>> from attncert import Attack, attack
    >>> answer = attack(Attack("paper", cases=3))
    >>> answer.standing.value, answer.failure, answer.stop
    ('sampled', None, 3)
    """
    question = question or Attack()
    attacked = _attacked(question.construction)
    built, partition, outside = Counter[str](), Counter[str](), Counter[str]()
    failure, start = None, question.start
    number = start
    for number in range(start, start + question.cases):
        progress("cases", number - start, question.cases)
        case = attacked.adapt(case_number(question.seed, number, attacked.draw))
        reason, holds = attacked.trial(case)
        if reason is not None and holds:
            failure = _failure(number, reason, case, attacked)
            break
        if holds:
            (partition if holds == "partition" else built)[case.kind] += 1
        else:
            outside[reason or "rank T"] += 1
    served = built.total() + partition.total()
    cases = f"cases {start} to {number} of seed {question.seed}"
    return AttackAnswer(
        question=question,
        data=Subject(attacked.name),
        trace=ProofTrace([_claim(attacked.name, served, cases, failure)]),
        conclusion=ids.ATTACK,
        uncertified="a search has no file",
        stop=number + 1,
        built=built,
        partition=partition,
        outside=outside,
        failure=failure,
        own=attacked.own,
    )


def _claim(name: str, served: int, cases: str, failure: Failure | None) -> Claim:
    """Sampled at best; undecided where no case was promised."""
    level, witness = Level.SAMPLED, None
    numbers: dict[str, Any] = {"promised": served}
    if failure is not None:
        level = Level.REFUTED
        witness = {"reason": failure.sentence} | failure.smallest.as_dict()
    elif not served:
        reason = "the construction promises nothing of these cases, so none was tried"
        level, witness = Level.UNDECIDED, {"reason": reason}
    else:
        numbers["failing fraction, at most (95 %)"] = (
            math.ceil(10**6 * failing_at_most(0, served)) / 10**6
        )
    return Claim(
        ids.ATTACK,
        f"The construction {name} fails on no case that it promises to serve"
        + (f": no failure in {served:,} of the {cases}." if level.holds else f", {cases}."),
        level,
        numbers,
        witness,
        arithmetic="small data; hypotheses by all subsets, ranks and outputs as `prove` has them",
        source="ours; verify/attack/search.py",
    )


def _hypothesis(case: Case) -> str:
    if not contexts_independent(case):
        return ""
    if queries_independent(case):
        return "A1"
    return "partition" if partition_holds(case) else ""


_WIDTH_ONE = partial(draw, width_one=True)


@dataclass(frozen=True)
class Attacked:
    """How a case is drawn, adapted and tried, and whether the construction says by itself what it
    promises. trial: what `examine` says of a case; promised: which hypothesis holds of it."""

    name: str
    trial: Trial
    promised: Promise
    draw: Draw = _WIDTH_ONE
    adapt: Callable[[Case], Case] = lambda case: case
    own: bool = False


def _attacked(name: str) -> Attacked:
    construction = registry.method(name)
    if construction.layer is None:
        trial, owed = partial(networks.trial, construction), partial(networks.owed, construction)
        return Attacked(construction.name, trial, owed, networks.draw, own=True)
    owes = construction.layer.owes
    if owes is None and not construction.assumes_a1_a2:
        must = "one that promises to place data, such as paper or affine"
        raise InputError("construction", must, name)
    promised = _hypothesis if owes is None else lambda case: "theorem" if owes(case.dataset) else ""
    return Attacked(
        construction.name,
        partial(
            examine,
            build=partial(_built, construction),
            promised=promised,
            refuted=partial(_refuted, construction),
        ),
        promised,
        partial(draw, width_one="head_width" not in construction.options),
        lambda case: case.of(construction.adapt(case.dataset)),
        own=owes is not None,
    )


def _built(construction: Construction, case: Case) -> BuiltLayer:
    """By one of two variants: paper with or without targets inside; width one with or without short
    heads, which place as many examples as their values are wide."""
    request = Request(
        heads=case.heads if construction.assumes_a1_a2 else None,
        head_width=case.width,
        value_width=int(case.option),
        vertices=not case.option,
    )
    return placed_by(construction, case.dataset, request)


def _refuted(construction: Construction, data: Dataset, built: BuiltLayer) -> str | None:
    """The first step that is false."""
    claims = step_claims(construction.steps, views_of(built, data), nothing_raised, "")
    false = [claim for claim in claims if claim.level is Level.REFUTED]
    return f"{false[0].id}: {(false[0].witness or {}).get('relation')}" if false else None


def case_number(seed: int, number: int, drawn: Draw = _WIDTH_ONE) -> Case:
    """Case `number` of this seed alone."""
    return drawn(np.random.default_rng([seed, number]))


def examine(
    case: Case,
    build: Build,
    promised: Promise = _hypothesis,
    refuted: Callable[[Dataset, Any], str | None] = lambda data, built: None,
) -> tuple[str | None, str]:
    """What went wrong (None: nothing), and which hypothesis holds: "A1", "partition" or "" (where
    the construction itself says what it promises: "theorem" or "").

    refuted: which step is false of what was built. An exception of the construction other than
    HypothesisFails is something that went wrong, too.
    """
    holds = promised(case)
    try:
        data, built = case.dataset, build(case)
        layer: Any = getattr(built, "layer", built)
        reason = refuted(data, built) or _fault(data, layer)
    except HypothesisFails as failure:
        return (f"refused: {failure}" if holds else "refused"), holds
    except _ERRORS as e:
        return error_text(e), holds or "partition"
    return reason, holds if reason is None else holds or "partition"


def _fault(data: Dataset, layer: Layer) -> str | None:
    """A rank below T."""
    rank = full_rank(data, layer)
    if rank.level.holds:
        return None
    return f"rank {rank.numbers['rank']} instead of {rank.numbers['T']}"


def _failure(number: int, reason: str, case: Case, attacked: Attacked) -> Failure:
    """The case shrunk. If something is promised of it, then also of every smaller one."""
    within = bool(attacked.promised(case))

    def fails(less: Case) -> bool:
        wrong, holds = attacked.trial(less)
        return wrong is not None and bool(holds) and (not within or bool(attacked.promised(less)))

    smallest = shrink(case, fails)
    return Failure(number, reason, case, smallest, attacked.trial(smallest)[0] or reason)


def shrink(
    case: C, fails: Callable[[C], bool], less_of: Callable[[C], Iterator[C]] | None = None
) -> C:
    """A case that `fails`, a step of `smaller`, or of `less_of`, from none that does."""
    while (less := next(filter(fails, (less_of or smaller)(case)), None)) is not None:
        case = less
    return case


def smaller(case: C) -> Iterator[C]:
    """Fewer examples, contexts, tokens, heads, columns; smaller entries."""
    T, (count, n, d) = len(case.queries), case.contexts.shape
    for t in range(T - 1, -1, -1):
        if T > 1:
            yield case.without(t)
    if count > 1:
        yield replace(case, contexts=case.contexts[:1])
    if n > 1:
        yield from (
            less
            for i in range(n - 1, -1, -1)
            if (less := replace(case, contexts=np.delete(case.contexts, i, axis=1))).fits
        )
    if case.heads > 1 and (fewer := replace(case, heads=case.heads - 1)).fits:
        yield fewer
    for j in range(d - 1, -1, -1):
        if d > 1:
            yield replace(
                case,
                contexts=np.delete(case.contexts, j, axis=2),
                queries=np.delete(case.queries, j, axis=1),
            )
    if case.denominator > 1:
        yield replace(case, denominator=1)
    for name in case.tables:
        table = getattr(case, name)
        for place in zip(*np.nonzero(table), strict=True):
            entry = int(table[place])
            sign = entry // abs(entry)
            for nearer in dict.fromkeys((0, sign, int(entry / 2), entry - sign)):
                if abs(nearer) < abs(entry):
                    changed = table.copy()
                    changed[place] = nearer
                    yield replace(case, **{name: changed})
