"""What each hypothesis is needed for: minimal data, and a planted mistake."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest
from support.paths import ROOT

from attncert.verify.audit.attack.search import smaller
from attncert.verify.claims.evidence import Level

sys.path.append(str(ROOT / "benchmarks"))
from hypotheses.figure import UNEXPECTED
from hypotheses.page import matrix
from hypotheses.search import explore, memorized
from hypotheses.steps import STEPS
from hypotheses.study import Study, claims
from hypotheses.weakenings import WEAKENINGS, Weakening

STEP = {step.id: step for step in STEPS}
BY_ID = {weakening.id: weakening for weakening in WEAKENINGS}


@pytest.mark.parametrize("weakening", WEAKENINGS, ids=lambda w: w.id)
def test_a_weakening_breaks_what_it_says_and_its_data_are_minimal(weakening: Weakening) -> None:
    """If anything is removed from the data, the step succeeds, another hypothesis is weakened,
    or (for the second data set of a step) the verdict on memorization changes."""
    found = explore(weakening, 5, seed=1)
    assert not found.unexpected and not found.unmet
    for step, broken in found.broken.items():
        first = next(iter(broken.minimal.values()))
        for level, minimal in broken.minimal.items():
            x = minimal.instance
            assert weakening.met(x) and STEP[step].fails(x) == minimal.witness
            assert minimal.memorization.level is level is memorized(x).level
            for less in smaller(x):
                if weakening.met(less) and STEP[step].fails(less):
                    assert minimal is not first and memorized(less).level is not level


def test_a_step_that_should_not_fail_is_refuted() -> None:
    innocent = replace(BY_ID["A1-below-r-2"], breaks=frozenset({"duals"}))
    found = explore(innocent, 30, seed=0)
    assert found.unexpected == {"selector"}
    steps, *others = claims(Study((found,)))
    assert steps.level is Level.REFUTED and all(claim.level.holds for claim in others)
    assert steps.witness and "selector fails, which it should not" in steps.witness["reason"]
    assert steps.witness["contexts"]
    (row,) = matrix([found]).rows
    assert row[0] == "A1: every $r-1$ queries independent, $r=2$" and UNEXPECTED in row
