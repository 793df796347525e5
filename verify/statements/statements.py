"""The statements of a proof: hypotheses about the data, and steps about the network.

A statement consists of a sentence and a function that yields relations
(verify/claims/relations.py). The relations decide the level of its claim.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import groupby, product
from typing import Any, Literal

from attncert.constructions.data.dataset import Dataset
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.ids import ClaimId
from attncert.verify.claims.relations import Decision, decide
from attncert.verify.statements.states import Views

Quantifier = Literal["", "head", "group", "block"]
ErrorsOf = Callable[[str], AbstractContextManager[None]]


@dataclass(frozen=True)
class Hypothesis:
    """A statement about the data that the proof assumes.

    sentence: with LaTeX between dollar signs. relations: a function of the data that yields
    relations. where: names of the values that follow a relation, such as ("example",), for the
    witness. source: where the proof states it. Source: docs/constructions.md.

    >>> even = Hypothesis("The number of tokens is even.", lambda data: [(data.n % 2, "==", 0)])
    >>> even.claim("even", Dataset.of([[1, 0]], [[1, 2]], [3])).witness
    {'relation': '1 == 0'}
    """

    sentence: str
    relations: Callable[[Dataset], Iterable[Any]]
    where: Sequence[str] = ()
    source: str = ""

    def claim(self, name: str, data: Dataset) -> Claim:
        """The claim "hypothesis.<name>"."""
        start = time.perf_counter()
        decision = decide(_yielded(self.relations, data), self.where)
        claim = _claim(ids.hypothesis(name), self.sentence, decision, source=self.source)
        return claim.timed(time.perf_counter() - start)


@dataclass(frozen=True)
class Step:
    """A statement of the proof about the network.

    sentence, where, source: as for a `Hypothesis`. relations: a function of a `View` that yields
    relations. each: "head", "group" or "block" if the step is about each of them; the function then
    also takes its number, counted from 1. rests_on: the hypotheses and steps that it uses. applies:
    whether the step is part of the proof for this `View`. Source: docs/constructions.md.

    >>> Step("A head is small.", lambda at, h: [(h, "<", 9)], each="head").each
    'head'
    """

    sentence: str
    relations: Callable[..., Iterable[Any]]
    rests_on: Sequence[str] = ()
    each: Quantifier = ""
    where: Sequence[str] = ()
    source: str = ""
    applies: Callable[[Any], bool] = lambda at: True


def step_claims(
    steps: Mapping[str, Step], views: Views, errors_of: ErrorsOf, source: str
) -> list[Claim]:
    """The claims of all steps, decided at the precision they need, with the claims they rest on. A
    quantified step has a claim for each head, group or block for which it yields a relation, or one
    vacuous claim. Consecutive steps about each head are sorted by head."""
    said = [name for name in steps if _applies(name, steps[name], views, errors_of)]
    made: dict[str, dict[int, Claim]] = {name: {} for name in said}
    for each, run in groupby(said, key=lambda name: steps[name].each):
        names, numbers = list(run), range(1, views.count(each) + 1) if each else (0,)
        for number, name in product(numbers, names):
            claim = _judged(name, steps[name], number, views, errors_of, source)
            if not number or claim.level is not Level.VACUOUS:
                made[name][number] = claim
        for name in names:
            made[name] = made[name] or {0: _nothing(name, steps[name], source)}

    def premises(step: Step, number: int) -> Iterator[ClaimId]:
        for name in step.rests_on:
            claims = made.get(name, {})
            if name not in steps:
                yield ids.hypothesis(name)
            elif number and steps[name].each == step.each and 0 not in claims:
                yield from (claims[number].id for _ in range(number in claims))
            else:
                yield from (claim.id for claim in claims.values())

    return [
        replace(claim, rests_on=tuple(dict.fromkeys(premises(steps[name], number))))
        for name, claims in made.items()
        for number, claim in claims.items()
    ]


def _applies(name: str, step: Step, views: Views, errors_of: ErrorsOf) -> bool:
    with errors_of(f"step {name}"):
        return bool(step.applies(views.at(None)))


def _nothing(name: str, step: Step, source: str) -> Claim:
    """The claim of a quantified step that yields no relation for any head, group or block."""
    return Claim(_step_id(name), step.sentence, Level.VACUOUS, source=step.source or source)


def _judged(
    name: str, step: Step, number: int, views: Views, errors_of: ErrorsOf, source: str
) -> Claim:
    """The claim of a step. number: of the head, group or block; 0 if the step has none."""
    start = time.perf_counter()
    own = ClaimId(f"{step.each}.{number}.{name}") if number else _step_id(name)
    arguments = (number,) if number else ()
    with errors_of(f"step {own.removeprefix('step.')}"):
        decision = views.decided(
            lambda view: decide(_yielded(step.relations, view, *arguments), step.where)
        )
    claim = _claim(own, step.sentence, decision, source=step.source or source)
    return claim.timed(time.perf_counter() - start)


def _yielded(relations: Callable[..., Iterable[Any]], *arguments: Any) -> Iterator[Any]:
    """The relations. The function, which may return a list, runs when the first is requested."""
    yield from relations(*arguments)


def _step_id(name: str) -> ClaimId:
    return ClaimId(f"step.{name}")


def _claim(own: ClaimId, sentence: str, decision: Decision, **rest: Any) -> Claim:
    numbers = dict(decision.numbers)
    return Claim(
        own,
        sentence,
        decision.level,
        uses=numbers.pop("uses", {}),
        numbers=numbers,
        witness=decision.witness,
        arithmetic=decision.arithmetic,
        **rest,
    )
