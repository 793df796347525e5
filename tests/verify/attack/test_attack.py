"""The attack: what it decides on its own is right, its cases can be had again, and it finds faults.

Planted faults: a builder that spoils a sound layer, or refuses, or crashes.
"""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.oracles import (
    kruskal_rank,
    meets_partition_condition,
    rank,
)

from attncert.constructions import width_one
from attncert.constructions.errors import HypothesisFails
from attncert.constructions.layer import Layer
from attncert.constructions.search.grouping import consecutive
from attncert.verify.attack import search
from attncert.verify.attack.cases import (
    Case,
    contexts_independent,
    partition_holds,
    queries_independent,
)
from attncert.verify.attack.search import attack, case_number, examine, shrink
from attncert.verify.questions.audit import Attack


def sound(case: Case) -> Layer:
    return width_one.build(case.dataset, heads=case.heads, short_heads=not case.option).layer


@pytest.mark.parametrize("cases", [50, pytest.param(10_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("construction", ["width-one", "paper", "affine"])
def test_no_failure_among_the_first_cases(construction: str, cases: int) -> None:
    report = attack(Attack(construction, cases=cases, seed=1))
    assert report.failure is None
    assert (report.question.start, report.stop) == (0, cases)
    total = report.built.total() + report.partition.total() + report.outside.total()
    assert total == cases and report.built.total() > 0.7 * cases
    assert set(report.outside) <= {"refused", "rank T"}


def test_a_search_can_be_resumed_and_cut() -> None:
    whole = attack(Attack("width-one", cases=30, seed=2))
    first, second = (
        attack(Attack("width-one", cases=12, seed=2)),
        attack(Attack("width-one", cases=18, seed=2, start=12)),
    )
    assert second.stop == whole.stop == 30
    for name in ("built", "partition", "outside"):
        assert getattr(first, name) + getattr(second, name) == getattr(whole, name)
    one, again = case_number(2, 41), case_number(2, 41)
    assert (one.contexts == again.contexts).all() and (one.queries == again.queries).all()
    assert one.kind == again.kind


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6))
def test_the_hypotheses_are_decided_right(number: int) -> None:
    """A1 by enumeration and the partition condition, against Gauss elimination in Fractions."""
    case = case_number(3, number)
    n, T = case.contexts.shape[1], len(case.queries)
    rows = case.queries.tolist()
    assert contexts_independent(case) == all(rank(E) == n for E in case.contexts.tolist())
    assert queries_independent(case) == (kruskal_rank(rows) >= min(n, T))
    groups = consecutive(range(T), n, n - 1)
    assert partition_holds(case) == meets_partition_condition(rows, groups)


def spoilt(case: Case) -> Layer:
    """A sound layer whose last head is made a copy of the first."""
    heads = sound(case).heads
    return Layer((*heads[:-1], heads[0]))


def refusing(case: Case) -> Layer:
    if len(case.queries) >= 2:
        raise HypothesisFails("some-partition", "it does not like two examples", {})
    return sound(case)


def crashing(case: Case) -> Layer:
    if (case.queries == 0).any():
        raise RuntimeError("a zero")
    return sound(case)


@pytest.mark.parametrize(
    ("build", "reason"),
    [(spoilt, "rank "), (refusing, "refused: it does not"), (crashing, "RuntimeError: a zero")],
)
def test_a_planted_fault_is_found_and_shrunk(build, reason: str, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    tried = search.Attacked("faulty", partial(examine, build=build), search._hypothesis)
    monkeypatch.setattr(search, "_attacked", lambda name: tried)
    report = attack(Attack(cases=300, seed=6))
    failure = report.failure
    assert failure is not None and report.exit_status == 1
    assert report.stop == failure.number + 1
    assert failure.reason.startswith(reason) and failure.smallest_reason.startswith(reason)
    small = failure.smallest
    assert examine(small, build)[0] == failure.smallest_reason
    assert examine(small, sound)[0] is None
    assert len(small.queries) <= len(failure.case.queries)
    assert examine(failure.case, sound)[1], "something is promised, so of the smallest, too"
    fails = lambda case: all(examine(case, build)) and bool(examine(case, sound)[1])  # noqa: E731
    assert fails(small) and shrink(small, fails) is small
    assert f"case {failure.number}" in report.reason and report.claim.witness is not None
    assert report.claim.witness["queries"] == small.queries.tolist()
