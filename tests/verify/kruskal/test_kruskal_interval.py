"""The interval around the Kruskal rank contains the true value, closes if it can, and says why it
stops."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.kruskal_cases import is_sound, planted, small_vectors, truth, vandermonde

from attncert.verify.kruskal.bounds import Interval, RankBound
from attncert.verify.kruskal.interval import close
from attncert.verify.kruskal.methods import circuits
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.questions.kruskal import Kruskal


@settings(deadline=None, max_examples=40)
@given(small_vectors())
def test_the_kruskal_rank_of_a_few_vectors_is_found(vectors: Vectors) -> None:
    true = truth(vectors)
    found = close(vectors, Kruskal(work=30.0))
    assert found.lower.value == found.upper.value == true
    assert found.decided
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
    assert found == close(vectors, Kruskal(k=k, work=work))  # the clock has no effect


def test_a_planted_circuit_bounds_from_both_sides() -> None:
    vectors, members = planted(120, 12, 4)
    found = close(vectors, Kruskal(work=20.0))
    assert (found.lower.value, found.upper.value) == (3, 3)
    assert found.upper.dependency is not None
    assert found.upper.dependency.indices == members
    assert found.stopped == "The Kruskal rank is known."


@pytest.mark.slow
def test_what_the_budget_leaves_open_says_what_it_would_cost() -> None:
    found = close(vandermonde(300, 8), Kruskal(work=0.2))
    assert not found.decided
    assert found.lower.value >= 2
    assert found.upper.value == 8
    says = r"The limit of 0.2 s stopped .* A limit of (\S+) s should suffice"
    enough = re.match(says, found.stopped)
    assert enough is not None and float(enough[1]) > 0.2
    further = close(vandermonde(300, 8), Kruskal(work=float(enough[1])))
    assert further.lower.value > found.lower.value


def test_contradicting_bounds_are_noticed() -> None:
    start = Interval.trivial(vandermonde(5, 3))
    high = start.tighten(RankBound("upper", 1, "test", ""))
    with pytest.raises(ArithmeticError, match="contradict"):
        high.tighten(RankBound("lower", 2, "test", ""))
    assert high.tighten(RankBound("upper", 2, "test", "")) is high


@pytest.mark.parametrize(("work", "sizes"), [(36.0, [1, 2, 3, 4, 5]), (75.0, [1, 2, 3, 4, 6])])
def test_six_replace_five_if_the_budget_affords_them(
    work: float, sizes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    searched = list[int]()

    def independent(vectors: Vectors, k: int, *_: Any) -> RankBound:
        searched.append(k)
        return RankBound("lower", k, "exhaustive", "")

    monkeypatch.setattr(circuits, "small_circuits", lambda *_, **__: iter(()))
    monkeypatch.setattr("attncert.verify.kruskal.interval.decide_all", independent)
    vectors = Vectors.of(np.random.default_rng(1).integers(1, 99, (1000, 12)))
    interval = close(vectors, Kruskal(work=work))
    assert searched == sizes and interval.lower.value == sizes[-1]
