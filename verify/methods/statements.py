"""The statements of a proof: hypotheses about the data, and steps about what was built.

A statement is a sentence and a function that yields relations (verify/claims/relations.py). The
level of its claim follows from them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, Literal

from attncert.constructions.data.dataset import Dataset
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.ids import ClaimId
from attncert.verify.claims.relations import Decision, decide
from attncert.verify.methods.states import Views

Quantifier = Literal["", "head", "group", "block"]
ErrorsOf = Callable[[str], AbstractContextManager[None]]


@dataclass(frozen=True)
class Hypothesis:
    """A statement about the data that the proof assumes.

    sentence:  what it says, with LaTeX between dollar signs.
    relations: a function of the data that yields relations.
    where:     names of what follows each relation, for the witness: ("example",).
    source:    where the proof states it. Source: docs/constructions.md.

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
    """A statement about what was built, which the proof derives.

    sentence, where, source: as of a `Hypothesis`.
    relations: a function of a `View` that yields relations. If `each` is "head", "group" or
               "block", it is called with the number of each of them as well, counted from 1.
    rests_on:  names of the hypotheses and steps that it uses. Source: docs/constructions.md.

    >>> Step("No weight is negative.", lambda at: [(1, ">=", 0)]).each
    ''
    """

    sentence: str
    relations: Callable[..., Iterable[Any]]
    rests_on: Sequence[str] = ()
    each: Quantifier = ""
    where: Sequence[str] = ()
    source: str = ""


def each_head(step: Step) -> Step:
    """The step for every head: its function takes a `View` and the head's number, from 1.

    Raises nothing. Source: docs/constructions.md.

    >>> each_head(Step("A head is small.", lambda at, h: [(h, "<", 9)])).each
    'head'
    """
    return replace(step, each="head")


def each_group(step: Step) -> Step:
    """The step for every group of examples: its function takes a `View` and the group's number.

    Raises nothing. Source: docs/constructions.md.

    >>> each_group(Step("A group is small.", lambda at, g: [(g, "<", 9)])).each
    'group'
    """
    return replace(step, each="group")


def each_block(step: Step) -> Step:
    """The step for every block: its function takes a `View` and the block's number, from 1.

    Raises nothing. Source: docs/constructions.md.

    >>> each_block(Step("A block is early.", lambda at, k: [(k, "<", 9)])).each
    'block'
    """
    return replace(step, each="block")


def step_claims(
    steps: Mapping[str, Step], views: Views, errors_of: ErrorsOf, source: str
) -> list[Claim]:
    """The claims of all steps, in order, at as many bits as they need, with what each rests on.

    A quantified step has a claim for each head, group or block about which it says something; one
    that says nothing about any of them is one vacuous claim. errors_of: a context in which the
    author's function runs.
    """
    made = {name: _made(name, step, views, errors_of, source) for name, step in steps.items()}

    def premises(step: Step, number: int) -> Iterator[ClaimId]:
        for name in step.rests_on:
            claims = made.get(name)
            if claims is None:
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


def _made(
    name: str, step: Step, views: Views, errors_of: ErrorsOf, source: str
) -> dict[int, Claim]:
    """The claims of one step by the number of its head, group or block; 0 for none."""
    source = step.source or source
    if not step.each:
        return {0: _judged(_step_id(name), step, (), views, errors_of, source)}
    claims = {}
    for number in range(1, views.count(step.each) + 1):
        own = ClaimId(f"{step.each}.{number}.{name}")
        claim = _judged(own, step, (number,), views, errors_of, source)
        if claim.level is not Level.VACUOUS:
            claims[number] = claim
    return claims or {0: Claim(_step_id(name), step.sentence, Level.VACUOUS, source=source)}


def _judged(
    own: ClaimId,
    step: Step,
    quantified: tuple[int, ...],
    views: Views,
    errors_of: ErrorsOf,
    source: str,
) -> Claim:
    start = time.perf_counter()
    with errors_of(f"step {own.removeprefix('step.')}"):
        decision = views.decided(
            lambda view: decide(_yielded(step.relations, view, *quantified), step.where)
        )
    claim = _claim(own, step.sentence, decision, source=source)
    return claim.timed(time.perf_counter() - start)


def _yielded(relations: Callable[..., Iterable[Any]], *arguments: Any) -> Iterator[Any]:
    """The call itself is part of the iteration: a function may return a list."""
    yield from relations(*arguments)


def _step_id(name: str) -> ClaimId:
    return ClaimId(f"step.{name}")


def _claim(own: ClaimId, sentence: str, decision: Decision, **rest: Any) -> Claim:
    return Claim(
        own,
        sentence,
        decision.level,
        numbers=decision.numbers,
        witness=decision.witness,
        arithmetic=decision.arithmetic,
        **rest,
    )
