"""The attack on networks correctly decides which data must be memorized, and finds faults."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from flint import fmpq_mat
from support import memory_cases
from support.memory_cases import blocks, wrong
from support.shares import share

from attncert import Attack, Dataset, Step, attack
from attncert.constructions.errors import HypothesisFails
from attncert.constructions.layer import Head
from attncert.constructions.network import relu
from attncert.constructions.network.blocks import Attention
from attncert.constructions.network.network import Network
from attncert.verify.audit.attack import networks
from attncert.verify.audit.attack.search import case_number, owed
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim
from attncert.verify.statements import goals, registry

RELU: Any = registry.method("relu")
NAMES = [method.name for method in registry.network_methods()]


@dataclass
class Built:
    network: Network


def third_party(build: Callable[[Dataset, int], Any]) -> None:
    steps = {"outputs": Step("The last step.", lambda at: [(1, "==", 1)])}
    seeded = lambda data, request: build(data, request.seed)  # noqa: E731
    registry.register(replace(RELU, name="mine", build=seeded, steps=steps))


@pytest.mark.parametrize("cases", [60, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", share(NAMES, 3))
def test_no_failure_among_the_first_cases(name: str, cases: int) -> None:
    answer = attack(Attack(name, cases=cases, seed=1))
    assert answer.failure is None
    assert set(answer.outside) == {"refused"} and 0.58 < answer.built.total() / cases < 1


def test_cases_are_of_every_kind() -> None:
    cases = [case_number(RELU, 0, number) for number in range(400)]
    data = [case.dataset for case in cases]
    assert {x.T for x in data} == {*range(1, 8)} and {x.d for x in data} == {1, 2, 3}
    assert {x.m for x in data} == {1, 3} and {x.ragged for x in data} == {True, False}
    assert {x.shared for x in data if x.T > 1} == {True, False}
    assert any(x.queries.denominator == 6 for x in data)
    assert any(not any(x.query_matrix.entries()) for x in data)
    assert {case.option for case in cases} == {True, False}


@pytest.mark.slow
def test_what_is_owed_is_decided_right() -> None:
    """The decision agrees with a comparison of the inputs in plain fractions."""
    for number in range(300):
        case = case_number(RELU, 3, number)
        data = case.dataset
        for name in ("relu", "attention-relu"):
            method: Any = registry.method(name)
            inputs = memory_cases.inputs(data, name == "attention-relu")
            if data.ragged and name == "relu":
                inputs = [query for query, _ in inputs]
            labels = data.labels.strings()
            pairs = [[s, t] for t in range(data.T) for s in range(t)
                     if inputs[s] == inputs[t] and labels[s] != labels[t]]  # fmt: skip
            assert owed(method, data) != bool(pairs)


# Planted faults.


def off(data: Dataset, seed: int) -> Built:
    """The readout is wrong if an example has the query 0."""
    *front, last = relu.build(data, seed=seed).network.blocks
    zero = any(not any(query) for query in data.query_matrix.tolist())
    return Built(
        Network((*front, replace(last, bias=last.bias + fmpq_mat([[int(zero)] * data.m]))))
    )


def refusing(data: Dataset, seed: int) -> Any:
    if data.T > 2:
        raise HypothesisFails("distinct-inputs", "they look alike", {"examples": [0, 1]})
    return relu.build(data, seed=seed)


def crashing(data: Dataset, seed: int) -> Any:
    return relu.build(data, seed=seed).networks  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("build", "reason"),
    [
        (off, "the largest error is"),
        pytest.param(refusing, "they look alike", marks=pytest.mark.slow),
        (crashing, "build of construction mine"),
    ],
)
def test_a_planted_fault_is_found_and_shrunk(build: Any, reason: str) -> None:
    third_party(build)
    answer = attack(Attack("mine", cases=300, seed=4))
    failure = answer.failure
    assert failure is not None and answer.exit_status == 1
    assert reason in failure.smallest_reason
    small = failure.smallest
    assert isinstance(small, networks.NetworkCase)
    assert len(small.queries) == (3 if build is refusing else 1)
    assert small.denominator == 1 and abs(small.queries).sum() <= 3 and abs(small.labels).sum() <= 2
    if build is off:
        data = small.dataset
        assert wrong(blocks(off(data, 0).network), data) == [0]
    witness = answer.claim.witness
    assert witness is not None and witness["labels"] == small.labels.tolist()


def test_the_checker_sees_what_flint_would_miss(monkeypatch: pytest.MonkeyPatch) -> None:
    equal = Claim.checked(ids.MEMORIZATION, "The outputs are the labels.", True)
    monkeypatch.setattr(goals, "limited", lambda *_: goals.Concluded([equal]))
    third_party(off)
    failure = attack(Attack("mine", cases=300, seed=4)).failure
    assert failure is not None


@pytest.mark.slow
def test_a_step_that_fails_is_a_failure_whatever_the_outputs() -> None:
    few = Step("Fewer than three units.", lambda at: [(at.network.units, "<", 3)])
    registry.register(replace(RELU, name="mine", steps={**RELU.steps, "few": few}))
    failure = attack(Attack("mine", cases=300, seed=4)).failure
    assert failure is not None and failure.smallest_reason == "step.few is refuted"
    assert len(failure.smallest.queries) == 3


@pytest.mark.slow
def test_what_is_undecided_is_no_failure() -> None:
    def build(data: Dataset, seed: int) -> Built:
        """After an irrational softmax, balls cannot tell an output from its label."""
        one = fmpq_mat([[int(i == j) for j in range(data.d)] for i in range(data.d)])
        front = Attention((Head(one, one, one * 0),), one, unit="1", residual=True)
        return Built(Network((front, *relu.build(data, seed=seed).network.blocks)))

    third_party(build)
    answer = attack(Attack("mine", cases=60, seed=4))
    assert answer.failure is None and answer.outside["undecided"] > 0
