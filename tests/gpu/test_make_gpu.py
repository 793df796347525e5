"""`make gpu`: the dry run, what it resumes from, and how it ends. Nothing here is a measurement."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from support import stand_in
from support.paths import ROOT


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    found = importlib.import_module("gpu.__main__")
    monkeypatch.setattr(found.place, "load_stand_in", lambda: None)
    monkeypatch.setattr(found.place, "name_the_package", lambda: None)
    return found


def body(folder: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / name).read_text())
    return found


@pytest.mark.parametrize(
    ("number", "part"),
    [
        (5, "fit"),
        *(pytest.param(*p, marks=pytest.mark.slow) for p in [(3, "layers"), (4, "kruskal")]),
    ],
)
def test_a_dry_run_goes_the_same_way(
    runner: ModuleType, tmp_path: Path, number: int, part: str
) -> None:
    with stand_in.installed():
        words = ["--inside", "--dry", "--part", str(number), "--out", str(tmp_path)]
        assert runner.main([*words, "--seconds", "600"]) == 0
        found = body(tmp_path, f"{number}-{part}.json")
        names = [row.name for row in runner.parts.rows(number, True)]
    assert set(found["rows"]) == set(names) and len(names) > 1
    assert not any("error" in row for row in found["rows"].values())
    assert (
        found["dry_run"] == runner.summary.DRY and "stand-in" in found["machine"]["device"]["name"]
    )
    assert {"cupy", "driver", "driver_cuda", "runtime_cuda"} <= set(found["machine"]["device"])
    assert found["date"].endswith("UTC")
    runner.summary.write(tmp_path, True)
    assert (tmp_path / "table.md").read_text().startswith("dry run: ")


@pytest.mark.slow
def test_the_whole_dry_run(tmp_path: Path) -> None:
    path = os.pathsep.join([str(ROOT / "benchmarks"), str(ROOT), *sys.path])
    environment = dict(os.environ) | {"PYTHONPATH": path}
    command = [sys.executable, "-m", "gpu", "--dry", "--seconds", "3000", "--out", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    files = sorted(path.name for path in tmp_path.iterdir())
    assert len(files) <= 8 and "table.md" in files
    for name in files:
        assert "dry run" in (tmp_path / name).read_text()


def test_make_passes_on_what_it_is_told() -> None:
    words = ["make", "-n", "gpu", "DRY=1", "PART=2", "AGAIN=1", "OUT=there", "SITE=wheels"]
    said = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "--part 2" in said and "--again" in said and "--dry" in said and "--out there" in said
    assert ":wheels" in said and "-m gpu" in said


def test_the_page_has_the_expected_times(
    runner: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner.place, "has_torch", lambda: True)
    text, whole = (ROOT / "docs" / "gpu.md").read_text(), 0.0
    for number, part in enumerate(runner.parts.PARTS, 1):
        seconds = runner.parts.expected(number)
        line = next(line for line in text.splitlines() if line.startswith(f"| {number} {part} |"))
        assert line.endswith(f"| {seconds:.0f} s |") and seconds <= 540
        whole += seconds
    assert f"All in all {whole / 60:.0f} minutes" in text


class Jobs:
    """A part of named jobs in the place of the measured ones, run in this process."""

    def __init__(self, runner: ModuleType, patch: pytest.MonkeyPatch, folder: Path) -> None:
        self.runner, self.folder, self.ran = runner, folder, list[str]()
        self.jobs: dict[str, tuple[float, Callable[[], dict[str, Any]]]] = {}
        patch.setattr(runner.parts, "PARTS", ("first",))
        patch.setattr(runner.parts, "rows", self.rows)
        patch.setattr(runner.place, "description", lambda: {"device": "none"})
        patch.setattr(runner.subprocess, "run", self.process)

    def rows(self, number: int, dry: bool) -> list[Any]:
        return [
            self.runner.parts.Row(name, seconds, lambda n=name, j=job: self.ran.append(n) or j())
            for name, (seconds, job) in self.jobs.items()
        ]

    def process(self, command: list[str], timeout: float) -> Any:
        assert command[:3] == [sys.executable, "-m", "gpu"]
        return argparse.Namespace(returncode=self.runner.main(command[3:]))

    def run(self, *words: str) -> int:
        return int(self.runner.main(["--dry", "--out", str(self.folder), *words]))


@pytest.fixture
def jobs(runner: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Jobs:
    return Jobs(runner, monkeypatch, tmp_path)


def fails() -> dict[str, Any]:
    raise RuntimeError("an illegal address")


def test_rows_are_run_once_and_go_on_after_a_failure(jobs: Jobs) -> None:
    jobs.jobs = {"a": (0, lambda: {"x": 1}), "b": (0, fails), "c": (0, lambda: {"x": 3})}
    assert jobs.run() == 1 and jobs.ran == ["a", "b", "c"]
    rows = body(jobs.folder, "1-first.json")["rows"]
    assert rows["a"]["x"] == 1 and rows["c"]["x"] == 3
    assert rows["b"]["error"] == "RuntimeError: an illegal address"
    jobs.jobs["d"] = (0, lambda: {"x": 4})
    assert jobs.run() == 1 and jobs.ran == ["a", "b", "c", "d"]
    jobs.jobs["b"] = (0, lambda: {"x": 2})
    assert jobs.run("--again") == 0 and jobs.ran[4:] == ["a", "b", "c", "d"]


def test_a_row_without_the_time_waits(jobs: Jobs) -> None:
    jobs.jobs = {"a": (0, lambda: {}), "long": (500.0, lambda: {})}
    assert jobs.run("--seconds", "100") == 3 and jobs.ran == ["a"]
    assert jobs.run("--seconds", "1") == 3 and jobs.ran == ["a"]
    assert jobs.run() == 0 and jobs.ran == ["a", "long"]


def test_a_row_that_ends_the_process_twice_is_given_up(jobs: Jobs) -> None:
    def ends() -> dict[str, Any]:
        raise SystemExit  # as a crash would: nothing is written

    def process(command: list[str], timeout: float) -> Any:
        try:
            return Jobs.process(jobs, command, timeout)
        except SystemExit:
            return argparse.Namespace(returncode=-11)

    jobs.runner.subprocess.run = process  # undone by the fixture
    jobs.jobs = {"crash": (0, ends), "b": (0, lambda: {})}
    assert jobs.run() == 1 and jobs.ran == ["crash", "crash", "b"]
    assert "2 attempts" in body(jobs.folder, "1-first.json")["rows"]["crash"]["error"]


def test_dry_and_measured_files_do_not_mix(
    jobs: Jobs, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs.jobs = {"a": (0, lambda: {})}
    assert jobs.run() == 0
    monkeypatch.setattr(jobs.runner.place, "missing", lambda: "")
    with pytest.raises(SystemExit, match="must be of the same kind of run, not a dry run"):
        jobs.runner.main(["--out", str(jobs.folder)])
    capsys.readouterr()
    results = ROOT / "benchmarks" / "results"
    for folder in (results, results / "gpu"):
        assert jobs.runner.main(["--dry", "--out", str(folder)]) == 2
    assert capsys.readouterr().err.count("\n") == 2


def test_without_a_gpu_it_is_one_line(
    jobs: Jobs, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs.runner.place, "missing", lambda: "device: no CUDA here")
    assert jobs.runner.main(["--out", str(jobs.folder)]) == 2
    assert capsys.readouterr().err == "gpu: device: no CUDA here\n"
    assert not list(jobs.folder.iterdir())


def test_the_table_says_what_is_missing_and_compares(runner: ModuleType, tmp_path: Path) -> None:
    assert runner.summary.markdown(tmp_path).count("not measured on a GPU yet") >= 4
    rates = {"GPU": 120_000.0, "CPU": 1000.0, "torch batched": 3000.0}
    rows = {f"N=2000 k=197 {way}": {"per_second": x} for way, x in rates.items()}
    rows["N=2000 k=768 GPU"] = {"error": "RuntimeError: broken\ntrace"}
    (tmp_path / "2-subsets.json").write_text(json.dumps({"rows": rows}))
    text = runner.summary.markdown(tmp_path)
    line = next(line for line in text.splitlines() if "k=197" in line)
    assert "| 120,000 | 100,000 | 1,000 | 3,000 |" in line and line.endswith("| 120.0 | 40.0 |")
    assert "- subsets, N=2000 k=768 GPU: RuntimeError: broken" in text


def test_failed_tests_are_failed_rows(runner: ModuleType) -> None:
    counted = importlib.import_module("gpu.tests").counted
    passed = '<a><testcase name="x"/></a>'
    assert counted(passed) == {"tests": 1, "failed": {}, "skipped": 0}
    broken = '<a><testcase name="x"/><testcase name="y"><failure message="no"/></testcase></a>'
    assert counted(broken)["failed"] == {"y": "no"} and "1 of 2" in counted(broken)["error"]
    assert "error" in counted("<a/>")
