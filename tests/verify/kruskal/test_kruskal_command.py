"""attncert kruskal as a user runs it: verdicts, files, statuses, refusals."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.paths import ROOT
from support.shares import share
from support.shell import Shell
from support.slow_shards import two_workers

import attncert
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Level
from attncert.verify.claims.trace import ProofTrace
from attncert.verify.kruskal.bounds import Interval, RankBound
from attncert.verify.kruskal.claims import claims
from attncert.verify.kruskal.shards.all_sets import AllSets
from attncert.verify.kruskal.shards.sampled import record
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.sharding import engine
from attncert.verify.sharding.shards import Shard

QUICK = ["--work", "1", "--subsets", "200", "--device", "cpu"]


def table(N: int = 40, d: int = 8, size: int | None = 4, seed: int = 0) -> np.ndarray:
    """Random integers with one planted dependent set: vectors 0 .. size-1."""
    found = np.random.default_rng(seed).integers(-50, 51, (N, d)).astype(np.float64)
    if size is not None:
        found[size - 1] = found[: size - 1].sum(axis=0)
    return found


@pytest.fixture
def planted(tmp_path: Path) -> str:
    """40 vectors of width 8, of which 0, 1, 2, 3 are dependent and no three are: Kruskal rank 3."""
    path = tmp_path / "planted.npz"
    np.savez(path, vectors=table())
    return str(path)


def files(folder: Path) -> dict[str, bytes]:
    found = {p.relative_to(folder).as_posix(): p for p in folder.rglob("*") if p.is_file()}
    return {name: p.read_bytes() for name, p in found.items() if name != "timings.json"}


# Verdicts.


def test_the_planted_set_is_found_and_anyone_can_check_it(
    planted: str, tmp_path: Path, shell: Shell
) -> None:
    out = tmp_path / "out"
    printed = shell.runs("kruskal", planted, "--out", out, *QUICK)
    assert printed.err == "" and "vectors 0, 1, 2 and 3 are dependent" in printed.out
    assert set(files(out)) == {
        "report.md",
        "report.html",
        "answer.json",
        "certificate.json",
        *(f"checker/{path.name}" for path in (ROOT / "verify" / "checker").glob("*.py")),
    }
    found = json.loads((out / "answer.json").read_text())
    upper = found["exhibits"]["interval"]["upper"]
    assert upper["value"] == 3 and upper["dependency"]["coefficients"] == [1, 1, 1, -1]
    assert attncert.main(["check", str(out / "certificate.json")]) == 0
    checker = [sys.executable, "-I", "-S", str(out / "checker")]
    words = [*checker, str(out / "certificate.json")]
    alone = subprocess.run(words, capture_output=True, text=True)
    assert (alone.returncode, alone.stdout) == (0, "holds: 4 of the 40 vectors are dependent\n")


@pytest.mark.parametrize(
    ("k", "status", "says"),
    [
        (2, 0, "Proved. Every 2 of the 40 vectors are independent."),
        (5, 1, "Refuted: Every 5 of the 40 vectors are independent. Vectors"),
        (8, 1, "Refuted: Every 8 of the 40 vectors are independent. Vectors"),
    ],
)
def test_a_question_about_k_has_an_exit_status(
    k: int, status: int, says: str, planted: str, tmp_path: Path, shell: Shell
) -> None:
    words = ["kruskal", planted, "--k", str(k), "--out", tmp_path / "o", *QUICK]
    assert shell.runs(*words, status=status).out.startswith(says)
    assert (tmp_path / "o" / "certificate.json").exists() or status == 0


def test_what_the_work_does_not_decide_is_undecided(tmp_path: Path, shell: Shell) -> None:
    data, out = tmp_path / "random.npz", tmp_path / "o"
    np.savez(data, vectors=table(N=300, d=40, size=None))
    words = ["kruskal", str(data), "--k", "20", "--out", str(out), "--work", "0.001"]
    printed = shell.runs(*words, "--subsets", "50", "--device", "cpu", "--json", status=3)
    found = json.loads(printed.out)
    assert found["standing"] == "undecided" and "Every 20 of the 300" in found["statement"]
    (sample,) = (claim for claim in found["claims"] if claim["id"] == "sampled.20")
    assert sample["numbers"]["independent"] == 50 and "certificate.json" not in files(out)
    report = (out / "report.md").read_text()
    assert "does **not** bound the Kruskal rank" in report


def test_a_large_table_has_a_witness_of_its_own_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("attncert.verify.kruskal.claims._MOST_NUMBERS", 100)
    data, out = tmp_path / "d.json", tmp_path / "o"
    rows = table(size=3)
    rows[[0, 7]], rows[[1, 30]] = rows[[7, 0]], rows[[30, 1]]
    data.write_text(json.dumps({"vectors": [[f"{int(x)}/3" for x in row] for row in rows]}))
    assert attncert.main(["kruskal", str(data), "--out", str(out), *QUICK]) == 0
    witness = json.loads((out / "certificate.json").read_text())
    assert witness["dims"] == {"vectors": 3, "width": 8}
    assert attncert.main(["check", str(out / "certificate.json")]) == 0
    assert "only those of the relation, in this order: 2, 7, 30" in (out / "report.md").read_text()


# Bad input.


BAD_OPTIONS = {
    "k > d": ["--k", "9"],
    "k > N": ["--k", "41"],
    "work 0": ["--work", "0"],
    "work nan": ["--work", "nan"],
    "no scheduler": ["--dask", "nonsense://"],
}


@pytest.mark.parametrize("options", BAD_OPTIONS.values(), ids=BAD_OPTIONS)
def test_bad_options_are_one_line_and_status_2(
    options: list[str], planted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: Shell
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert options[0] in shell.refuses("kruskal", planted, *options)
    assert not list(Path().iterdir())


# The result does not depend on how the search is run.


def numbers(folder: Path) -> tuple[bytes, list[object]]:
    """The certificate, and the numbers of all claims except the one about other machines."""
    claims = json.loads((folder / "answer.json").read_text())["claims"]
    counted = [claim["numbers"] for claim in claims if claim["id"] != ids.KRUSKAL_RECORDS]
    return (folder / "certificate.json").read_bytes(), counted


def page(folder: Path) -> bytes:
    return (folder / "report.md").read_bytes()


@pytest.mark.parametrize("processes", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_dask_cluster_gives_the_same_numbers(
    processes: bool, planted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    words = ["kruskal", planted, *QUICK]
    assert attncert.main([*words, "--out", str(tmp_path / "alone")]) == 0
    (tmp_path / "cluster").mkdir()
    with two_workers(tmp_path / "cluster", processes) as address:
        there = ["--out", str(tmp_path / "there"), "--dask", address]
        assert attncert.main([*words, *there]) == 0
    assert numbers(tmp_path / "there") == numbers(tmp_path / "alone")
    assert b"200 random subsets were taken from Dask workers" in page(tmp_path / "there")
    assert not (tmp_path / "dask-scratch-space").exists()  # nothing is left in the temporary folder


# Workers that return false records.


GENERAL = np.random.default_rng(1).integers(0, 64, (24, 13))
SETTLED = {"settled": 1, "looked at": 0, "false alarms": 0}
LIES: dict[str, tuple[Any, str]] = {
    "no record": (None, "whose records do not fit their shards"),
    "a circuit out of range": (record(SETTLED) | {"circuit": [0, 99]}, "do not fit their shards"),
    "counts missing": (record({"settled": 1}), "whose records do not fit their shards"),
    "another size": (record(SETTLED | {"settled": 2}), "whose records do not fit their shards"),
    "no JSON": ({1, 2}, "given up by Dask (TypeError: Object of type set is not JSON"),
    "false": (record(SETTLED | {"looked at": 1}), "one that differs"),
    "an independent circuit": (record(SETTLED) | {"circuit": [4, 5]}, "one that differs"),
}


@pytest.mark.parametrize("lie", share(list(LIES), 3))
def test_a_worker_that_lies_is_refused_in_one_line(
    lie: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: Shell
) -> None:
    def remote_only(search: AllSets, shard: Shard, vectors: np.ndarray) -> Any:
        remote = "Dask" in threading.current_thread().name
        return LIES[lie][0] if remote else honest(search, shard, vectors)

    honest = AllSets.__call__
    monkeypatch.setattr(AllSets, "__call__", remote_only)
    line = refused(tmp_path, shell, monkeypatch)
    assert LIES[lie][1] in line and ("--dask: " in line or "shards: " in line)


def test_a_worker_of_another_version_is_refused_in_one_line(
    tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote = engine.remote

    def older(*words: Any) -> str:
        return remote(*words).replace(attncert.__version__, "0.0.9\\u001b[31m")

    monkeypatch.setattr(engine, "remote", older)
    line = refused(tmp_path, shell, monkeypatch)
    assert f"have attncert {attncert.__version__} installed, not" in line
    assert "not by one of version 0.0.9" in line


def refused(folder: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> str:
    """The error from a search of all sets of 4 on a cluster, with one piece in each shard."""
    monkeypatch.setattr("attncert.verify.kruskal.shards.jobs._QUICK", 0.0)
    np.save(folder / "v.npy", GENERAL)
    words = ["kruskal", folder / "v.npy", "--k", "4", "--subsets", "0", "--out", folder / "o"]
    with two_workers(folder / "cluster") as address:
        line = shell.refuses(*words, "--device", "cpu", "--dask", address)
    assert not (folder / "o").exists()
    return line


def test_what_workers_say_is_assumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: Shell
) -> None:
    """Records from elsewhere may be true, but the answer says where they came from, and its claims
    rest on an assumption."""
    monkeypatch.setattr("attncert.verify.kruskal.shards.jobs._QUICK", 0.0)
    np.save(tmp_path / "v.npy", GENERAL)
    words = ["kruskal", tmp_path / "v.npy", "--k", "4", "--device", "cpu", "--subsets", "200"]
    with two_workers(tmp_path / "cluster") as address:
        printed = shell.runs(*words, "--out", tmp_path / "o", "--dask", address).out
    first, sampled, assumed = printed.splitlines()[:3]
    assert first == "Assuming kruskal.records: Every 4 of the 24 vectors are independent."
    assert sampled.startswith("Sampled elsewhere: 200 of 200 random subsets")
    assert "search of all sets of 4 were taken from Dask workers; 1 of them" in assumed
    assert "200 of the 200 random subsets were taken from Dask workers; 64 of" in assumed
    claims = json.loads((tmp_path / "o" / "answer.json").read_text())["claims"]
    levels = {claim["id"]: (claim["level"], claim["rests_on"]) for claim in claims}
    for name in ("kruskal.lower", "sampled.4"):
        assert levels[name] == ("assumed", ["kruskal.records"])
    assert levels["kruskal.records"] == ("assumed", [])
    assert b"byte for byte" not in page(tmp_path / "o")


# In Python.


def test_what_a_record_from_a_worker_rests_on_stands_in_the_conclusion() -> None:
    """If the lower end is only assumed, so is the conclusion, whatever level it states."""
    interval = Interval.trivial(Vectors.of(table()))
    low = RankBound("lower", 3, "exhaustive", "A worker says so.", level=Level.ASSUMED)
    trace = ProofTrace(claims(Vectors.of(table()), None, interval.tighten(low), None))
    assert trace.standing(ids.KRUSKAL_RANK) is trace.standing(ids.KRUSKAL_LOWER) is Level.ASSUMED
    assert trace.standing(ids.KRUSKAL_UPPER) is Level.PROVED
