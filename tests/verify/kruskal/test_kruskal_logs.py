"""Logs by someone else are refused in one line or called assumed; nothing false is proved."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.file_strategies import mutated
from support.kruskal_cases import truth
from support.rank_cases import holds
from support.shell import Shell

from attncert.constructions.errors import InputError
from attncert.verify.claims.evidence import Level
from attncert.verify.kruskal.kruskal import kruskal
from attncert.verify.kruskal.shards import jobs
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.questions.kruskal import Kruskal
from attncert.verify.sharding.log import Log

TABLE = np.random.default_rng(0).integers(-50, 51, (20, 8)).astype(np.float64)
TABLE[3::4] = TABLE[0::4] + TABLE[1::4] + TABLE[2::4]  # 0, 1, 2, 3 are dependent; 4, 5, 6, 7; ...
VECTORS = Vectors.of(TABLE)
QUESTIONS = {
    "subsets": Kruskal(k=8, work=1.0, subsets=200, device="cpu"),
    "no k": Kruskal(work=1.0, subsets=200, device="cpu"),
}
OF_FOUR = "all sets of 4"

Edit = Callable[[dict[str, Any]], object]


@pytest.fixture(autouse=True)
def every_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep even sizes that take less than a second in logs."""
    monkeypatch.setattr(jobs, "_QUICK", 0.0)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The logs of both questions about `VECTORS`."""
    folder, logs = tmp_path_factory.mktemp("logs"), dict[str, bytes]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jobs, "_QUICK", 0.0)
        for name, question in QUESTIONS.items():
            kruskal(VECTORS, replace(question, log=str(folder / name)))
            logs[name] = (folder / name).read_bytes()
    return logs


@pytest.fixture(params=QUESTIONS)
def log(
    request: pytest.FixtureRequest, tmp_path: Path, written: dict[str, bytes]
) -> tuple[Kruskal, Path]:
    (tmp_path / "log").write_bytes(written[request.param])
    return QUESTIONS[request.param], tmp_path / "log"


def kinds(path: Path) -> set[str]:
    with sqlite3.connect(path) as file:
        return {kind for (kind,) in file.execute("SELECT DISTINCT kind FROM finished")}


def edit(path: Path, kind: str, change: Edit) -> None:
    """Change every record of a kind."""
    with sqlite3.connect(path) as file:
        rows = file.execute("SELECT rowid, record FROM finished WHERE kind = ?", [kind]).fetchall()
        for row, text in rows:
            change(record := json.loads(text))
            query = "UPDATE finished SET record = ? WHERE rowid = ?"
            file.execute(query, [json.dumps(record), row])
    file.close()
    assert rows


def counts(**changes: Any) -> Edit:
    return lambda record: record["counts"].update(changes)


def circuit(*members: Any) -> Edit:
    return lambda record: record.update(circuit=list(members))


def swapped(one: str, other: str) -> Edit:
    def change(record: dict[str, Any]) -> None:
        here = record["counts"]
        here[one], here[other] = here[other], here[one]

    return change


EDITS: dict[str, tuple[str, Edit]] = {
    "index out of range": ("subsets", circuit(0, 1, 2, 20)),
    "index twice": ("subsets", circuit(0, 0, 2, 3)),
    "circuit missing": ("subsets", lambda record: record.pop("circuit")),
    "count negative": ("subsets", counts(independent=-1)),
    "another count": ("subsets", counts(**{"\x1b[31m": 0})),
    "another prime": (OF_FOUR, counts(**{"modulo 7": 1})),
    "more than kernels count": (OF_FOUR, counts(**{"looked at": 2**63})),
    "dependent without a circuit": ("subsets", counts(independent=0, dependent=64)),
    "settled in part": (OF_FOUR, counts(settled=0.5)),
    "another number": ("subsets", swapped("independent", "undecided")),
    "dependent, but not": ("subsets", circuit(0, 1, 2, 4)),
    "smaller than a circuit": ("subsets", circuit(0, 1)),
}  # fmt: skip


@pytest.mark.parametrize("name", EDITS)
@pytest.mark.parametrize("log", ["subsets"], indirect=True)
def test_an_edited_log_is_refused_in_one_line(name: str, log: tuple[Kruskal, Path]) -> None:
    question, path = log
    edit(path, *EDITS[name])
    with pytest.raises(InputError, match=r"^log: must be a log") as error:
        kruskal(VECTORS, replace(question, log=str(path)))
    assert str(error.value).isprintable()


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_whatever_a_log_says_nothing_false_is_proved(
    log: tuple[Kruskal, Path], data: st.DataObject
) -> None:
    """Records of one kind are changed in structure or in values."""
    question, path = log
    path.with_name("edited").write_bytes(path.read_bytes())
    path = path.with_name("edited")

    def change(record: dict[str, Any]) -> None:
        other = data.draw(mutated(record))
        if isinstance(other, dict):
            record.clear()
            record.update(other)

    edit(path, data.draw(st.sampled_from(sorted(kinds(path)))), change)
    try:
        interval = kruskal(VECTORS, replace(question, log=str(path))).interval
    except InputError as error:
        assert str(error).isprintable()
        return
    upper = interval.upper.dependency
    assert upper is not None and holds(upper, VECTORS.array)
    assert upper.size == interval.upper.value + 1
    assert interval.lower.value <= 3 or interval.lower.level is Level.ASSUMED


def test_a_log_that_hides_a_dependent_set_proves_nothing(tmp_path: Path, shell: Shell) -> None:
    """The records have our form and name these vectors, of which 0, 1, 2 and 3 are dependent. A run
    that finds a witness refuses the log."""
    table = np.random.default_rng(0).integers(0, 64, (24, 13))
    table[3] = table[0] + table[1] + table[2]
    data, path = tmp_path / "v.npy", tmp_path / "log"
    np.save(data, table)
    words = ["kruskal", str(data), "--k", "4", "--log", str(path), "--out", str(tmp_path / "out")]
    words += ["--device", "cpu", "--work", "1"]
    general = np.random.default_rng(1).integers(0, 64, (24, 13))
    search = jobs.AllSets.of(Vectors.of(general), 4)
    assert truth(Vectors.of(table[:8])) == 3
    shell.runs(*words, "--subsets", "0", status=1)
    with sqlite3.connect(path) as file:
        query = "SELECT DISTINCT subject FROM finished WHERE kind = ?"
        ((subject,),) = file.execute(query, [OF_FOUR])
    file.close()
    with Log(path) as log:
        for shard in search.plan(0).shards():
            log.add(subject, shard, search(shard, general))
    printed = shell.runs(*words, "--subsets", "0").out
    assert "Assuming kruskal.records: Every 4 of the 24 vectors are independent." in printed
    report = (tmp_path / "out" / "report.md").read_text()
    assert "proved from both sides" not in report and "is known" not in report
    assert "search of all sets of 4 were taken from the log; 1 of them" in report
    line = shell.refuses(*words, "--subsets", "60000")
    assert "--log: must be a log whose records are true" in line


@pytest.mark.parametrize("place", ["out/log", "out", "link/log", "out/deeper/log"])
def test_a_log_inside_the_folder_of_the_report_is_refused_at_the_start(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: Shell
) -> None:
    def work(*_: Any, **__: Any) -> None:
        raise AssertionError("the budget is being spent")

    monkeypatch.setattr("attncert.verify.kruskal.kruskal.close", work)
    (tmp_path / "out").mkdir()
    (tmp_path / "link").symlink_to("out")
    np.save(tmp_path / "v.npy", TABLE)
    words = ["kruskal", tmp_path / "v.npy", "--out", tmp_path / "out", "--log", tmp_path / place]
    assert "--log: must be a file outside the folder of the report" in shell.refuses(*words)
    assert not list((tmp_path / "out").iterdir())
