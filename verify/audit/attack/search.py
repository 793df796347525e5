"""An attack on a construction: a search for a failure on small degenerate data of every kind.

Case number k depends only on (seed, k), so it can be drawn again without the other cases. The
construction owes a result if all its hypotheses about the data hold, or if its theorem promises
one. This is decided without the builder's code. Then `prove` builds the network, decides every step
and judges the outputs (for a layer, the rank). A refusal, a false step or a false claim is a
failure. A failure is shrunk to a data set from which nothing can be removed.

A search that finds no failure proves nothing about cases that it did not try.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.progress import StageProgress, silent
from attncert.verify.audit.attack import cases, networks
from attncert.verify.audit.attack.cases import Case
from attncert.verify.checking.answers import answers
from attncert.verify.checking.judged import judged
from attncert.verify.claims import ids
from attncert.verify.claims.answer import Answer, Subject
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.trace import ProofTrace
from attncert.verify.kruskal.shards.sampled import failing_at_most
from attncert.verify.prove.prove import proved
from attncert.verify.prove.run import Run
from attncert.verify.questions.audit import Attack
from attncert.verify.questions.prove import Prove
from attncert.verify.statements import registry
from attncert.verify.statements.construction import Construction
from attncert.verify.statements.judged import levels_of_hypotheses

C = TypeVar("C", bound=Case)


@dataclass(frozen=True)
class Failure:
    """A case on which the construction fails, as drawn and after shrinking, with the reasons."""

    number: int
    reason: str
    case: Case
    smallest: Case
    smallest_reason: str

    @property
    def sentence(self) -> str:
        drawn = f"case {self.number} ({self.case.kind}): {self.reason}"
        return f"{drawn}; smallest: {self.smallest_reason}"


@dataclass(frozen=True, kw_only=True, repr=False)
class AttackAnswer(Answer):
    """The answer to an attack that tried the cases 0 to `stop` - 1.

    built:   for each kind, the number of cases in which a result was owed and was correct.
    outside: in how many other cases the result was undecided, or not owed ("refused").
    failure: the first case in which a result was owed and was wrong.
    """

    question: Attack
    data: Subject
    stop: int
    built: Counter[str]
    outside: Counter[str]
    failure: Failure | None

    @property
    def counts(self) -> str:
        built, outside = self.built.total(), self.outside.total()
        return f"Built as promised: {built:,}; nothing promised: {outside:,}"


@answers(Attack)
def attack(question: Attack | None = None, progress: StageProgress = silent) -> AttackAnswer:
    """Try the construction on each case of the question, up to the first failure.

    Arithmetic: exact. Source: what the construction's record promises. Raises InputError.

    >>> from attncert import Attack, attack
    >>> answer = attack(Attack("paper", cases=3))
    >>> answer.standing.value, answer.failure, answer.stop
    ('sampled', None, 3)
    """
    question = question or Attack()
    construction = registry.method(question.construction)
    if _promises_nothing(construction):
        must = "one that promises to place data, such as paper or affine"
        raise InputError("construction", must, question.construction)
    built, outside = Counter[str](), Counter[str]()
    failure, number = None, 0
    for number in range(question.cases):
        progress("cases", number, question.cases)
        case = case_number(construction, question.seed, number)
        fault, owed = trial(construction, case)
        if not owed:
            outside[fault or ""] += 1
        elif fault is None:
            built[case.kind] += 1
        else:
            failure = _failure(number, fault, case, construction)
            break
    return AttackAnswer(
        question=question,
        data=Subject(construction.name),
        trace=ProofTrace([_claim(question, number + 1, built.total(), failure)]),
        conclusion=ids.ATTACK,
        uncertified="a search has no file",
        stop=number + 1,
        built=built,
        outside=outside,
        failure=failure,
    )


def _claim(question: Attack, tried: int, served: int, failure: Failure | None) -> Claim:
    """The claim: sampled at best; undecided if nothing was owed in any case."""
    level, witness = Level.SAMPLED, None
    numbers: dict[str, Any] = {"promised": served}
    if failure is not None:
        level = Level.REFUTED
        witness = {"reason": failure.sentence} | failure.smallest.as_dict()
    elif not served:
        reason = "the construction promises nothing for these cases, so none was tried"
        level, witness = Level.UNDECIDED, {"reason": reason}
    else:
        numbers["upper bound on the failing fraction (95 %)"] = (
            math.ceil(10**6 * failing_at_most(0, served)) / 10**6
        )
    drawn = f"cases 0 to {tried - 1} of seed {question.seed}"
    return Claim(
        ids.ATTACK,
        f"The construction {question.construction} serves every case that it promises to serve"
        + (f": no failure in {served:,} of the {drawn}." if level.holds else f", {drawn}."),
        level,
        numbers,
        witness,
        arithmetic="small data; in each case, the arithmetic of `prove`",
        source="ours; verify/audit/attack/search.py",
    )


def _promises_nothing(construction: Construction) -> bool:
    theorem = construction.layer
    return theorem is not None and theorem.owes is None and not construction.assumes_a1_a2


def case_number(construction: Construction, seed: int, number: int) -> Case:
    """Draw case `number` of this seed for this construction."""
    rng = np.random.default_rng([seed, number])
    if construction.layer is None:
        return networks.draw(rng)
    return cases.draw(rng, width_one="head_width" not in construction.options)


def trial(construction: Construction, case: Case) -> tuple[str | None, bool]:
    """What went wrong (None if nothing did), and whether a result was owed.

    If the result is undecided, it does not count as owed. Raises InputError for an error in
    `adapt`.
    """
    data = networks.adapted(construction, case)
    if not owed(construction, data):
        return "refused", False
    try:
        proof = judged(proved(Run.of(data, _question(construction, case), construction)))
    except InputError as error:  # third-party code failed
        return str(error), True
    if fault := _fault(proof):
        return fault, True
    open_ = [x for x in (proof.proof_standing, proof.standing) if x and not x.holds]
    return ("undecided", False) if open_ else (None, True)


def owed(construction: Construction, data: Dataset) -> bool:
    if construction.layer is not None and construction.layer.owes is not None:
        return construction.layer.owes(data)
    return all(level.holds for level in levels_of_hypotheses(construction, data).values())


def _question(construction: Construction, case: Case) -> Prove:
    name, seed = construction.name, int(case.option)
    if construction.layer is None:
        return Prove(construction=name, seed=seed)
    return Prove(
        construction=name,
        heads=case.heads if construction.assumes_a1_a2 else None,
        head_width=case.width if "head_width" in construction.options else None,
        claim="full-rank",
        seed=seed,
    )


def _fault(proof: Answer) -> str | None:
    """The first refuted step or claim about the outputs, or the reason if nothing was built."""
    nothing = not (getattr(proof, "network", None) or getattr(proof, "layer", None))
    again = proof.trace.get(ids.NETWORK_RECOMPUTED)
    parts = (proof.proof_claim, again, proof.claim, *proof.further)
    for claim in filter(None, parts):
        if claim.level is Level.REFUTED or (nothing and not claim.level.holds):
            return str((claim.witness or {}).get("reason", claim.statement))
    return None


def _failure(number: int, reason: str, case: Case, construction: Construction) -> Failure:
    """The failure: the case, and the smallest case that also fails."""

    def fails(less: Case) -> bool:
        fault, owed = trial(construction, less)
        return fault is not None and owed

    smallest = shrink(case, fails)
    return Failure(number, reason, case, smallest, trial(construction, smallest)[0] or reason)


def shrink(
    case: C, fails: Callable[[C], bool], less_of: Callable[[C], Iterator[C]] | None = None
) -> C:
    """A smaller case that `fails`, such that no smaller case from `smaller` or `less_of` fails."""
    while (less := next(filter(fails, (less_of or smaller)(case)), None)) is not None:
        case = less
    return case


def smaller(case: C) -> Iterator[C]:
    """Cases with fewer examples, contexts, tokens, heads or columns, or with smaller entries."""
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
