"""The interval around the Kruskal rank: it contains the truth, closes where it can, and says why
it stops."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.circuits import is_circuit
from support.kruskal_cases import is_sound, planted, small_vectors, truth, vandermonde

from attncert.verify.kruskal.bounds import Interval, RankBound
from attncert.verify.kruskal.interval import close
from attncert.verify.kruskal.methods.exhaustive import decide
from attncert.verify.kruskal.vectors import Vectors, load_vectors
from attncert.verify.questions.kruskal import Kruskal
from attncert.verify.rank.rational import Relation


@settings(deadline=None, max_examples=40)
@given(small_vectors())
def test_the_kruskal_rank_of_a_few_vectors_is_found(vectors: Vectors) -> None:
    true = truth(vectors)
    found = close(vectors, Kruskal(work=30.0))
    assert found.lower.value == found.upper.value == true
    assert found.decided
    assert not found.timed
    steps = [b for b in found.trail if b.method != "definition"]
    assert all(is_sound(b, vectors, true) for b in steps if b.dependency or b.end == "lower")


@settings(deadline=None, max_examples=40)
@given(small_vectors(), st.integers(1, 5), st.floats(1e-6, 0.01))
def test_with_little_work_the_interval_still_contains_the_truth(
    vectors: Vectors, k: int, work: float
) -> None:
    true = truth(vectors)
    k = min(k, vectors.N, vectors.d)
    found = close(vectors, Kruskal(k=k, work=work))
    assert found.lower.value <= true <= found.upper.value
    assert found.answers(k) in (None, true >= k)
    assert found == close(vectors, Kruskal(k=k, work=work))  # the clock has no say


def test_a_planted_circuit_bounds_from_both_sides() -> None:
    vectors, members = planted(120, 12, 4)
    narrower: list[Interval] = []
    found = close(vectors, Kruskal(work=20.0), watch=narrower.append)
    assert (found.lower.value, found.upper.value) == (3, 3)
    assert found.upper.dependency is not None
    assert found.upper.dependency.indices == members
    assert found.stopped == "The Kruskal rank is known."
    assert len(narrower) == len(found.trail) - 2
    lengths = [i.upper.value - i.lower.value for i in narrower]
    assert lengths == sorted(lengths, reverse=True)


@pytest.mark.parametrize(("k", "answer"), [(3, True), (4, False), (5, False)])
def test_one_k_is_answered(k: int, answer: bool) -> None:
    vectors, _ = planted(120, 12, 4)
    found = close(vectors, Kruskal(k=k, work=20.0))
    assert found.answers(k) is answer


@pytest.mark.slow
def test_what_the_budget_leaves_open_says_what_it_would_cost() -> None:
    found = close(vandermonde(300, 8), Kruskal(work=0.2))
    assert not found.decided
    assert found.lower.value >= 2
    assert found.upper.value == 8
    says = r"and (\S+) s were left \(of 0.2 s, (\S+) s went to .*\). A limit of (\S+) s should "
    numbers = re.search(says, found.stopped)
    assert numbers is not None
    left, spent, enough = map(float, numbers.groups())
    assert left + spent == pytest.approx(0.2, abs=0.01) and enough > 0.2
    further = close(vandermonde(300, 8), Kruskal(work=enough))
    assert further.lower.value > found.lower.value
    assert not found.timed
    assert close(vandermonde(300, 8), Kruskal(time_limit=0.2)).timed


def test_contradicting_bounds_are_noticed() -> None:
    start = Interval.trivial(vandermonde(5, 3))
    high = start.tighten(RankBound("upper", 1, "test", ""))
    with pytest.raises(ArithmeticError, match="contradict"):
        high.tighten(RankBound("lower", 2, "test", ""))
    assert high.tighten(RankBound("upper", 2, "test", "")) is high
    assert replace(high, stopped="x").as_dict()["stopped"] == "x"


def test_eight_of_the_digits_queries_are_dependent_and_no_three() -> None:
    """The eight vanish on the same eight of sixteen coordinates; the search is the slow test."""
    digits = load_vectors("digits")
    members = (121, 347, 819, 1092, 1107, 1222, 1232, 1388)
    circuit = Relation(members, (188, 376, -88, -602, -280, -562, 625, 490))
    assert is_circuit(circuit, digits)
    assert np.count_nonzero(~np.any(digits.array[list(members)], axis=0)) == 8
    assert decide(digits, 3).independent


@pytest.mark.slow
def test_the_digits_lie_between_four_and_seven() -> None:
    digits = load_vectors("digits")
    found = close(digits, Kruskal(work=40.0))
    assert (found.lower.value, found.upper.value) == (4, 7)
    assert found.upper.method == "supports"
    assert found.upper.dependency is not None
    assert is_circuit(found.upper.dependency, digits)
