"""The interval's search with a log: interrupted and resumed; and what it spends its budget on."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.kruskal_cases import planted, truth

from attncert.constructions.progress import StageProgress
from attncert.reports.answers import report
from attncert.verify.kruskal.bounds import RankBound
from attncert.verify.kruskal.budget import Budget
from attncert.verify.kruskal.interval import close
from attncert.verify.kruskal.kruskal import kruskal
from attncert.verify.kruskal.methods import circuits
from attncert.verify.kruskal.shards import jobs
from attncert.verify.kruskal.shards.jobs import SetSearch
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.questions.kruskal import Kruskal
from attncert.verify.scale.engine import run
from attncert.verify.scale.log import Log
from attncert.verify.scale.shards import Plan, Shard

GENERAL = Vectors.of(np.random.default_rng(0).integers(-50, 51, (9, 5)))
CASES = {"rank 5": (GENERAL, 5), "rank 4": (planted(10, 6, 5)[0], 4)}
QUESTION = Kruskal(work=5.0, subsets=0, device="cpu")


@pytest.fixture
def every_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sizes that take no second are kept in logs as well."""
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
    assert interval["decided"] and interval["lower"]["value"] == rank
    everything = contents(tmp_path / "whole")
    searched = {f"all sets of {k}" for k in range(3, min(rank + 1, vectors.d) + 1)}
    assert {kind for kind, *_ in everything} == searched
    for number in range(0, len(everything), 4):
        log = tmp_path / str(number)
        with monkeypatch.context() as patch:
            patch.setattr(Log, "add", interrupted_after(number))
            with pytest.raises(KeyboardInterrupt):
                files(vectors, log)
        resumed = files(vectors, log)
        assert (resumed == whole) is (number == 0) and _told(resumed) == _told(whole)
        assert resumed.get("certificate.json") == whole.get("certificate.json")
        assert contents(log) == everything


def interrupted_after(number: int) -> Callable[..., None]:
    """`Log.add` that a signal ends after so many shards."""
    add, left = Log.add, iter(range(number))

    def adding(log: Log, *row: Any) -> None:
        if next(left, None) is None:
            raise KeyboardInterrupt
        add(log, *row)

    return adding


def contents(log: Path) -> list[Any]:
    """What a log says, but for its subject."""
    with sqlite3.connect(log) as file:
        return file.execute(
            "SELECT kind, start, stop, record FROM finished ORDER BY 1, 2"
        ).fetchall()


def _told(files: dict[str, bytes]) -> list[Any]:
    """The bounds; what is read from a log is called assumed, and everything else is the same."""
    interval = json.loads(files["answer.json"])["exhibits"]["interval"]
    for bound in (bounds := [interval["lower"], interval["upper"], *interval["trail"]]):
        bound["statement"], found, _ = bound["statement"].partition(" The log has")
        assert (bound.pop("level") == "assumed") is bool(found)
    return bounds


@dataclass
class Interrupting:
    """The work of shards that a signal ends after some."""

    after: int
    done: list[Shard] = field(default_factory=list)

    def __call__(self, shard: Shard) -> dict[str, Any]:
        if len(self.done) == self.after:
            raise KeyboardInterrupt
        self.done.append(shard)
        return {"circuit": shard.start if shard.start in (3, 5) else None}


def test_nothing_is_begun_after_a_witness_and_none_before_it_is_left_out() -> None:
    shards = Plan("sets", 0, 8, 1).shards()
    for after in (2, 8):
        work = Interrupting(after)
        try:
            found = run(shards, work, enough=lambda record: record["circuit"] is not None)
        except KeyboardInterrupt:
            assert work.done == shards[:2]
        else:
            assert list(found) == work.done == shards[:4]


@pytest.mark.parametrize(("work", "sizes"), [(45.0, [3, 4, 5]), (75.0, [3, 4, 6])])
def test_the_budget_goes_to_what_raises_the_lower_end(
    work: float, sizes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Five are passed over where there is enough for six. What all sets need is not spent on
    circuits, and little on those of seven, which random bases do not show."""
    spent, searched = list[float](), list[int]()

    def independent(sets: SetSearch, k: int, budget: Budget, progress: StageProgress) -> RankBound:
        searched.append(k)
        return RankBound("lower", k, "exhaustive", "")

    def no_circuits(vectors: Vectors, *, budget: Budget, **_: Any) -> Iterator[Any]:
        spent.append(budget.remaining)
        budget.charge(budget.remaining)
        return iter(())

    monkeypatch.setattr(circuits, "small_circuits", no_circuits)
    monkeypatch.setattr(SetSearch, "decide", independent)
    vectors = Vectors.of(np.random.default_rng(1).integers(1, 99, (1000, 12)))
    interval = close(vectors, Kruskal(work=work))
    assert searched == sizes and interval.lower.value == sizes[-1]
    assert len(spent) == 2 and spent[0] <= 0.2 * work
    assert sizes[-1] == 5 or max(spent) <= 0.01 * work


def test_an_interrupt_loses_the_shard_under_way(tmp_path: Path) -> None:
    data, log = str(tmp_path / "v.npy"), str(tmp_path / "log")
    np.save(data, np.random.default_rng(0).integers(-50, 51, (110, 10)))
    words = ["kruskal", data, "--subsets", "0", "--log", log, "--time-limit", "1h"]
    program = (
        "import os, signal, sys, attncert\n"
        "from attncert.verify.scale.log import Log\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "add = Log.add\n"
        "def adding(log, *row):\n"
        "    add(log, *row)\n"
        "    if log.count == 2: os.kill(os.getpid(), signal.SIGINT)\n"
        "Log.add = adding\n"
        f"sys.exit(attncert.main({[*words, '--out', str(tmp_path / 'o')]!r}))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (130, "")
    assert "no report was written; 2 finished shards are kept in" in done.stderr
    assert "proved so far: 5 <= " in done.stderr
    assert not (tmp_path / "o").exists()
    assert [row[:3] for row in contents(Path(log))] == [
        ("all sets of 6", 0, 6),
        ("all sets of 6", 6, 12),
    ]
