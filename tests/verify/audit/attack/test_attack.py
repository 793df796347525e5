"""The attack on constructions of a layer: our own withstand it, and planted faults are found.

Planted faults: a builder that spoils a sound layer, or refuses, or crashes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from support.shares import random_cases, share

from attncert import Step
from attncert.constructions.construction import BuiltLayer
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import HypothesisFails
from attncert.constructions.layer import Layer
from attncert.verify.audit.attack.search import attack, case_number, owed, trial
from attncert.verify.questions.audit import Attack
from attncert.verify.statements import registry
from attncert.verify.statements.construction import Request

SOUND: Any = registry.method("width-one")


@pytest.mark.parametrize("cases", [25, random_cases(1000)])
@pytest.mark.parametrize("construction", share(["width-one", "paper", "affine"], 3))
def test_no_failure_among_the_first_cases(construction: str, cases: int) -> None:
    report = attack(Attack(construction, cases=cases, seed=1))
    assert report.failure is None and report.stop == cases
    assert report.built.total() + report.outside.total() == cases
    assert report.built.total() > 0.7 * cases and set(report.outside) <= {"refused"}


def test_a_case_can_be_drawn_again() -> None:
    one, again = case_number(SOUND, 2, 41), case_number(SOUND, 2, 41)
    assert (one.contexts == again.contexts).all() and (one.queries == again.queries).all()
    assert one.kind == again.kind


def spoilt(data: Dataset, request: Request) -> Layer:
    """A sound layer whose last head is made a copy of the first."""
    heads = SOUND.build(data, request).layer.heads
    return Layer((*heads[:-1], heads[0]))


def refusing(data: Dataset, request: Request) -> BuiltLayer:
    if data.T >= 2:
        raise HypothesisFails("one", "it does not like two examples", {"examples": [0, 1]})
    return SOUND.build(data, request)  # type: ignore[no-any-return]


def crashing(data: Dataset, request: Request) -> BuiltLayer:
    if not all(data.queries.numerators.ravel()):
        raise RuntimeError("a zero")
    return SOUND.build(data, request)  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("build", "reason"),
    share(
        [(crashing, "RuntimeError: a zero"), (spoilt, "rank"), (refusing, "it does not like")], 3
    ),
)
def test_a_planted_fault_is_found_and_shrunk(build: Callable[..., Any], reason: str) -> None:
    steps = {"none": Step("It rests on A2.", lambda at: [(1, "==", 1)], rests_on=("A2",))}
    faulty = replace(SOUND, name="mine", build=build, steps=steps)
    registry.register(faulty)
    report = attack(Attack("mine", cases=300, seed=6))
    failure = report.failure
    assert failure is not None and report.exit_status == 1
    assert report.stop == failure.number + 1
    assert reason in failure.reason and reason in failure.smallest_reason
    small = failure.smallest
    assert trial(faulty, small) == (failure.smallest_reason, True)
    assert trial(SOUND, small) == (None, True) and owed(SOUND, small.dataset)
    assert f"case {failure.number}" in report.reason and report.claim.witness is not None
    assert report.claim.witness["queries"] == small.queries.tolist()
