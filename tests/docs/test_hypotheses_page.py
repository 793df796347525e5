"""The purpose of each hypothesis: random instances, minimal data, planted mistakes, Remark 1."""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from support import oracles
from support.paths import ROOT

from attncert.verify.audit.attack.search import smaller
from attncert.verify.claims.evidence import Level

sys.path.append(str(ROOT / "benchmarks"))
from hypotheses.figure import UNEXPECTED
from hypotheses.instance import Instance
from hypotheses.kruskal import KINDS, Kappa, remarks
from hypotheses.page import matrix
from hypotheses.search import explore, memorized
from hypotheses.steps import STEPS
from hypotheses.study import Study, claims
from hypotheses.weakenings import WEAKENINGS, Weakening, draw

STEP = {step.id: step for step in STEPS}
BY_ID = {weakening.id: weakening for weakening in WEAKENINGS}


def some(count: int, seed: int = 0) -> list[Instance]:
    """Small instances that promise nothing."""
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(count):
        n, heads = int(rng.integers(1, 4)), int(rng.integers(1, 3))
        width = int(rng.integers(1, n + 1))
        d, T = int(rng.integers(1, 5)), int(rng.integers(1, heads * (width - 1) + 2))
        contexts = rng.integers(-1, 2, (int(rng.choice([1, T])), n, d))
        out.append(Instance(contexts, rng.integers(-1, 2, (T, d)), heads, width))
    return out


def all_independent(vectors: np.ndarray, size: int) -> bool:
    """By elimination in fractions."""
    size = min(size, len(vectors))
    return all(
        oracles.rank(vectors[list(s)].tolist()) == size
        for s in combinations(range(len(vectors)), size)
    )


def ranks_are_n(x: Instance) -> bool:
    return all(oracles.rank(rows) == x.n for rows in x.contexts.tolist())


@pytest.mark.parametrize("count", [1000, pytest.param(3000, marks=pytest.mark.slow)])
def test_no_step_fails_where_all_hypotheses_hold(count: int) -> None:
    """The proof, on every instance drawn: A1, A2, n ≤ d, T within capacity."""
    seen = 0
    for x in some(count, seed=3):
        if ranks_are_n(x) and all_independent(x.queries, x.n):
            assert not [step.id for step in STEPS if step.fails(x)]
            seen += x.T > 1
    assert seen > count // 50


@pytest.mark.parametrize("weakening", WEAKENINGS, ids=lambda w: w.id)
def test_a_weakening_breaks_what_it_says_and_its_data_are_minimal(weakening: Weakening) -> None:
    """Derived again: whatever is taken away, the step can be taken, the weakening is another, or
    (for the second data of a step) the verdict on memorization changes."""
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


@pytest.mark.parametrize("weakening", WEAKENINGS, ids=lambda w: w.id)
def test_a_weakening_keeps_the_other_hypotheses(weakening: Weakening) -> None:
    """Exactly one of them is false."""
    rng = np.random.default_rng(7)
    for _ in range(3):
        x = draw(weakening, rng)
        holds = {
            "A1": all_independent(x.queries, x.n),
            "A2": ranks_are_n(x),
            "n ≤ d": x.n <= x.d,
            "d_v ≥ m": x.values >= x.m,
            "T ≤ H(r-1)+1": x.capacity >= x.T,
        }
        if weakening.hypothesis == "n ≤ d":  # A2 includes it, and so does A1 if T ≥ n
            holds |= {"A1": True, "A2": True}
        false = [name for name, value in holds.items() if not value]
        assert false == [weakening.hypothesis]


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


@pytest.mark.parametrize("width", [2, 3])
def test_remark_one_holds_and_its_failure_would_be_found(width: int) -> None:
    asked = Kappa(3, 2, 3, 3, width, KINDS[0])
    (found,) = remarks((asked,), seed=1)
    assert found.holds and found.kruskal == 2 and asked.capacity == 4
    assert found.one_more == (Level.NOT_APPLICABLE, Level.PROVED)
    *_, failing = claims(Study(remarks=(replace(found, memorization=Level.UNDECIDED),)))
    assert failing.level is Level.REFUTED and "Remark 1" in failing.statement
    *_, fine = claims(Study(remarks=(found,)))
    assert fine.level is Level.PROVED
    assert not replace(found, kruskal=3).holds and not replace(found, a1=Level.PROVED).holds
