"""The interval around the Kruskal rank contains the true value, closes if it can, and says why it
stops; with a log a run is interrupted and resumed."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.kruskal_cases import is_sound, planted, small_vectors, truth, vandermonde

from attncert.reports.answers import report
from attncert.verify.kruskal.bounds import Interval, RankBound
from attncert.verify.kruskal.interval import close
from attncert.verify.kruskal.kruskal import kruskal
from attncert.verify.kruskal.methods import circuits
from attncert.verify.kruskal.shards import jobs
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.questions.kruskal import Kruskal
from attncert.verify.sharding.log import Log


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


GENERAL = Vectors.of(np.random.default_rng(0).integers(-50, 51, (9, 5)))
CASES = {"rank 5": (GENERAL, 5), "rank 4": (planted(10, 6, 5)[0], 4)}
QUESTION = Kruskal(work=5.0, subsets=0, device="cpu")


@pytest.fixture
def every_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep even sizes that take less than a second in logs."""
    monkeypatch.setattr(jobs, "_QUICK", 0.0)


def files(vectors: Vectors, log: Path | None) -> dict[str, bytes]:
    answer = kruskal(vectors, replace(QUESTION, log=None if log is None else str(log)))
    return {name: text for name, text in report(answer).files.items() if name != "timings.json"}


@pytest.mark.usefixtures("every_size")
@pytest.mark.parametrize("case", CASES)
def test_interrupted_between_shards_it_ends_with_the_same_bounds(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors, rank = CASES[case]
    assert truth(vectors) == rank
    whole = files(vectors, tmp_path / "whole")
    assert whole == files(vectors, None)
    interval = json.loads(whole["answer.json"])["exhibits"]["interval"]
    assert interval["lower"]["value"] == interval["upper"]["value"] == rank
    everything = contents(tmp_path / "whole")
    searched = {f"all sets of {k}" for k in range(3, min(rank + 1, vectors.d) + 1)}
    assert {kind for kind, *_ in everything} == searched
    for number in range(0, len(everything), 4):
        log = tmp_path / str(number)
        with monkeypatch.context() as patch:
            patch.setattr(Log, "add", interrupted_after(number))
            with pytest.raises(KeyboardInterrupt, match=f"{number} finished shards are kept in"):
                files(vectors, log)
        resumed = files(vectors, log)
        assert (resumed == whole) is (number == 0) and _told(resumed) == _told(whole)
        assert resumed.get("certificate.json") == whole.get("certificate.json")
        assert contents(log) == everything


def interrupted_after(number: int) -> Callable[..., None]:
    """`Log.add` that a signal ends after this many shards."""
    add, left = Log.add, iter(range(number))

    def adding(log: Log, *row: Any) -> None:
        if next(left, None) is None:
            raise KeyboardInterrupt
        add(log, *row)

    return adding


def contents(log: Path) -> list[Any]:
    """The records of a log before the first witness, without their subject."""
    with sqlite3.connect(log) as file:
        rows = file.execute("SELECT kind, start, stop, record FROM finished ORDER BY 1, 2")
        return list(takewhile(lambda row: row[3].endswith('"circuit": null}'), rows))


def _told(files: dict[str, bytes]) -> list[Any]:
    """The bounds; what is read from a log is called assumed, and everything else is the same."""
    interval = json.loads(files["answer.json"])["exhibits"]["interval"]
    for bound in (bounds := [interval["lower"], interval["upper"], *interval["trail"]]):
        assert (bound.pop("level") == "assumed") is ("from the log" in bound.pop("assumed"))
    return bounds


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
