"""An audit of a user's network says what it does, and nothing about all weights."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest
from flint import fmpq_mat

from attncert import Audit, Construction, Dataset, Exact, Nearest, Network, Request, audit
from attncert.constructions.network.blocks import FeedForward
from attncert.reports.answers import sentences_of
from attncert.verify.claims.evidence import Level

NEARER = "the output is nearer to its own label than to any other"
DATA = Dataset.of([[1]], [[0], [1], [2]], [0, 2, 5])


def times(factor: int) -> Construction:
    """The outputs are a multiple of the first number of the query. The claim is that they are
    nearest, or for 0 that they are exact."""

    def build(data: Dataset, request: Request) -> Network:
        weights = [[factor * (i == 0)] * data.m for i in range(data.d)]
        return Network((FeedForward(fmpq_mat(weights), fmpq_mat(1, data.m)),))

    claims = [Nearest()] if factor else [Exact()]
    return Construction(name="own", title="own", source="ours", build=build, claims=claims)


@pytest.fixture
def named(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = ModuleType("own_constructions")
    module.zero, module.one, module.double = times(0), times(1), times(2)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return module


def test_outputs_that_are_wrong_are_not_laid_to_all_weights(named: ModuleType) -> None:
    """For a network that outputs 0 an audit once "proved" that no weights serve all labels."""
    answer = audit(DATA, Audit(construction="own_constructions:zero", quick=True))
    assert answer.standing is Level.REFUTED
    assert "no one choice" not in sentences_of(answer)
    assert "own: refuted" in sentences_of(answer)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("double", "own: proved (On all 3 examples {}; the least margin is 1.5, of example 2"),
        ("one", "own: refuted (On all 3 examples {}; not on 1, 2; the least margin is -4.5, of "),
    ],
)
def test_the_margin_is_told(named: ModuleType, name: str, said: str) -> None:
    answer = audit(DATA, Audit(construction=f"own_constructions:{name}", quick=True))
    assert said.format(NEARER) in sentences_of(answer)
    assert "The claims of own about outputs are true of all 3 examples" in answer.statement
    assert "memorized" not in answer.statement
