"""The interval's search with a log: interrupted and resumed, in parts, refused, and what it spends
its budget on."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.kruskal_cases import planted, truth
from support.shard_logs import contents, sealed

import attncert
from attncert.constructions.progress import StageProgress
from attncert.reports.kruskal.page import render
from attncert.verify.kruskal.bounds import Bound
from attncert.verify.kruskal.budget import Budget
from attncert.verify.kruskal.examine import examine
from attncert.verify.kruskal.interval import close
from attncert.verify.kruskal.methods import circuits
from attncert.verify.kruskal.records import rules
from attncert.verify.kruskal.sampling import all_sets
from attncert.verify.kruskal.sampling.all_sets import AllSets, kind_of
from attncert.verify.kruskal.sampling.jobs import Question, identity
from attncert.verify.kruskal.vectors import Vectors, load_vectors
from attncert.verify.scale.engine import run
from attncert.verify.scale.log import ShardLog, _line, read_log
from attncert.verify.scale.shards import Plan, Shard

GENERAL = Vectors.of(np.random.default_rng(0).integers(-50, 51, (9, 5)))
CASES = {"rank 5": (GENERAL, 5), "rank 4": (planted(10, 6, 5)[0], 4)}
QUESTION = Question(budget=None, work=5.0, subsets=0, device="cpu")
WORDS = ["--work", "5", "--subsets", "0", "--device", "cpu"]


@pytest.fixture
def every_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sizes that take no second are kept in logs as well."""
    monkeypatch.setattr(all_sets, "_QUICK", 0.0)


def report(vectors: Vectors, log: Path | None) -> dict[str, bytes]:
    if log is None:
        found = examine(vectors, QUESTION)
    else:
        with ShardLog(log, identity(vectors, QUESTION), rules(vectors)) as kept:
            found = examine(vectors, QUESTION, log=kept)
    return {name: text for name, text in render(found).items() if name != "timings.json"}


@pytest.mark.usefixtures("every_size")
@pytest.mark.parametrize("case", CASES)
def test_interrupted_at_every_slice_it_ends_with_the_same_bounds(case: str, tmp_path: Path) -> None:
    """Killed after each line, and in the middle of the next."""
    vectors, rank = CASES[case]
    assert truth(vectors) == rank
    log = tmp_path / "log"
    whole, said = report(vectors, log), log.read_bytes()
    assert whole == report(vectors, None)
    interval = json.loads(whole["kruskal.json"])["interval"]
    assert interval["decided"] and interval["lower"]["value"] == rank
    lines = said.splitlines(keepends=True)
    sizes = {json.loads(line)["content"]["shard"][0] for line in lines[1:]}
    assert sizes == {kind_of(k) for k in range(3, min(rank + 1, vectors.d) + 1)}
    for number in range(len(lines)):
        log.write_bytes(b"".join(lines[:number]) + lines[number][: 7 * number])
        resumed = report(vectors, log)
        assert (resumed == whole) is (number <= 1) and _told(resumed) == _told(whole)
        assert resumed.get("witness.json") == whole.get("witness.json")
        assert log.read_bytes() == said


def _told(report: dict[str, bytes]) -> list[Any]:
    """The bounds; what is read from a log is called assumed, and everything else is the same."""
    interval = json.loads(report["kruskal.json"])["interval"]
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
        return {"witness": shard.start if shard.start in (3, 5) else None}


def test_nothing_is_begun_after_a_witness_and_none_before_it_is_left_out() -> None:
    shards = Plan("sets", 0, 8, 1).shards()
    for after in (2, 8):
        work = Interrupting(after)
        try:
            found = run(shards, work, enough=lambda result: result["witness"] is not None)
        except KeyboardInterrupt:
            assert work.done == shards[:2]
        else:
            assert list(found) == work.done == shards[:4]


@pytest.mark.usefixtures("every_size")
def test_parts_make_the_same_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, logs = tmp_path / "v.npy", [str(tmp_path / f"{i}.log") for i in (1, 2)]
    np.save(data, GENERAL.array)
    words = ["kruskal", str(data), *WORDS]
    for i, log in enumerate(logs, start=1):
        assert attncert.main([*words, "--shard", f"{i}/2", "--log", log]) == 0
    assert attncert.main(["merge", logs[0]]) == 3
    assert "proves nothing before the rest is" in capsys.readouterr().out
    united = tmp_path / "united.log"
    assert attncert.main(["merge", *logs, "--data", str(data), "--out", str(united)]) == 0
    assert "so every 5 are independent, if the log is right" in capsys.readouterr().out
    before = united.read_bytes()
    out = {name: tmp_path / name for name in ("plain", "united")}
    attncert.main([*words, "--out", str(out["plain"])])
    attncert.main([*words, "--out", str(out["united"]), "--log", str(united)])
    assert united.read_bytes() == before
    plain, again = ({p.name: p.read_bytes() for p in folder.iterdir()} for folder in out.values())
    assert _told(plain) == _told(again)


@pytest.fixture
def written(every_size: None, tmp_path: Path) -> Iterator[tuple[list[str], Path, list[Any]]]:
    """The command about vectors of Kruskal rank 4, its log, and what the lines of it say."""
    data, log = tmp_path / "v.npy", tmp_path / "log"
    np.save(data, CASES["rank 4"][0].array)
    command = ["kruskal", str(data), *WORDS, "--out", str(tmp_path / "o"), "--log", str(log)]
    assert attncert.main(command) == 0
    yield command, log, contents(log.read_bytes())


def _of(lines: list[Any], k: int) -> list[dict[str, Any]]:
    return [x["result"] for x in lines[1:] if x["shard"][0] == kind_of(k)]


def _refusal(command: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert attncert.main(command) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.count("\n") == 1
    return printed.err


EDITS: dict[str, tuple[Any, str]] = {
    "settled": (lambda lines: _of(lines, 3)[0].update(settled=9), "settled as a whole"),
    "primes": (lambda lines: _of(lines, 3)[0].update(primes=[7]), "the primes of a search"),
    "a false witness": (
        lambda lines: _of(lines, 5)[-1]["witness"].update(indices=[0, 1, 2, 3, 4]),
        "a witness true of the vectors",
    ),
    "a size left out": (
        lambda lines: (lines[0]["run"]["plans"].pop(), lines[0]["run"]["settings"].popitem()),
        "or of all of",
    ),
    "another size": (
        lambda lines: lines[1]["shard"].__setitem__(0, kind_of(9)),
        "a shard that the header plans",
    ),
    "another k": (
        lambda lines: lines[0]["run"]["settings"][kind_of(3)].update(k=4),
        "what a run with its settings writes",
    ),
    "no witness": (
        lambda lines: [
            result.update(witness=None, settled=1, primes=_of(lines, 3)[0]["primes"])
            for result in _of(lines, 5)
        ],
        "a log whose results are true",
    ),
}  # fmt: skip


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_log_is_refused_in_one_line(
    edit: str, written: tuple[list[str], Path, list[Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    command, log, lines = written
    change, why = EDITS[edit]
    change(lines)
    if edit == "no witness":  # all that is left of size 5 is said to be independent as well
        done = {tuple(x["shard"]) for x in lines[1:]}
        (plan,) = (p for p in map(Plan.of, lines[0]["run"]["plans"]) if p and p.kind == kind_of(5))
        result = _of(lines, 5)[0]
        left = [s.as_list() for s in plan.shards() if tuple(s.as_list()) not in done]
        lines += [{"shard": shard, "result": result} for shard in left]
    log.write_bytes(before := sealed(lines))
    said = _refusal(command, capsys)
    if edit != "no witness":  # the counts alone
        said += _refusal(["merge", str(log), "--data", command[1]], capsys)
    assert why in said and log.read_bytes().startswith(before)


def test_a_log_of_other_vectors_or_another_seed_is_refused(
    written: tuple[list[str], Path, list[Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    command, log, _ = written
    before = log.read_bytes()
    assert "seed 0" in _refusal([*command, "--seed", "1"], capsys)
    np.save(command[1], GENERAL.array)
    assert "SHA-256 of the vectors" in _refusal(command, capsys)
    assert log.read_bytes() == before


@dataclass
class Recorded:
    """All sets of a size, said to be independent; which sizes were asked for."""

    asked: list[int] = field(default_factory=list)

    def left(self, k: int) -> float:
        return 1.0

    def decide(
        self, vectors: Vectors, k: int, budget: Budget, seed: int, progress: StageProgress
    ) -> Bound | None:
        self.asked.append(k)
        return Bound("lower", k, "exhaustive", "")


@pytest.mark.parametrize(("work", "sizes"), [(45.0, [3, 4, 5]), (75.0, [3, 4, 6])])
def test_the_budget_goes_to_what_raises_the_lower_end(
    work: float, sizes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Five are passed over where there is enough for six. What all sets need is not spent on
    circuits, and little on those of seven, which random bases do not show."""
    spent: list[float] = []

    def no_circuits(vectors: Vectors, *, budget: Budget, **_: Any) -> Iterator[Any]:
        spent.append(budget.left)
        budget.charge(budget.left)
        return iter(())

    monkeypatch.setattr(circuits, "small_circuits", no_circuits)
    vectors, sets = Vectors.of(np.random.default_rng(1).integers(1, 99, (1000, 12))), Recorded()
    found = close(vectors, budget_s=None, work=work, sets=sets)
    assert sets.asked == sizes and found.lower.value == sizes[-1]
    assert len(spent) == 2 and spent[0] <= 0.2 * work
    assert sizes[-1] == 5 or max(spent) <= 0.01 * work


def test_an_interrupt_loses_the_slice_under_way(tmp_path: Path) -> None:
    data, log = str(tmp_path / "v.npy"), str(tmp_path / "log")
    np.save(data, np.random.default_rng(0).integers(-50, 51, (110, 10)))
    words = ["kruskal", data, "--subsets", "0", "--log", log, "--budget", "1h"]
    program = (
        "import os, signal, sys, threading, time, attncert\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "def interrupt():\n"
        f"    while not (os.path.exists({log!r}) and open({log!r}).read().count('\\n') > 2):\n"
        "        time.sleep(0.02)\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "threading.Thread(target=interrupt).start()\n"
        f"sys.exit(attncert.main({[*words, '--out', str(tmp_path / 'o')]!r}))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (130, "")
    assert "finished shards are kept in" in done.stderr and "proved so far: 5 <= " in done.stderr
    kept = read_log(log, rules(load_vectors(data))).finished
    assert {shard.kind for shard in kept} == {kind_of(6)}
    assert [shard.start for shard in kept] == [6 * i for i in range(len(kept))]


@pytest.mark.slow
def test_with_the_shards_of_all_sets_of_six_the_digits_have_six_or_seven(tmp_path: Path) -> None:
    """The committed log has the same slices, under another header."""
    digits = load_vectors("digits")
    stored = Path(__file__).parents[3] / "benchmarks" / "results" / "kruskal-digits-6.jsonl"
    asked = Question(budget=None, work=425.0, subsets=0)
    log = tmp_path / "log"
    with ShardLog(log, identity(digits, asked), rules(digits)):
        pass
    shards = contents(stored.read_bytes())[1:]
    for line in shards:
        line["shard"][0] = kind_of(6)
    log.write_bytes(log.read_bytes() + b"".join(map(_line, shards)))
    with ShardLog(log, identity(digits, asked), rules(digits)) as kept:
        found = examine(digits, asked, log=kept).interval
    assert (found.lower.value, found.upper.value) == (6, 7)
    assert AllSets.of(digits, 6).plan(0).count == 19532 and "all sets of 7" in found.stopped
