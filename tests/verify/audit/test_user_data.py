"""`attncert audit DATA` as a user runs it: what is said about the data, and the exit status."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.shell import Shell

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.generators import family, signed_pairs
from attncert.constructions.data.sequences import of_sequences
from attncert.constructions.progress import silent
from attncert.reports.pages.audit import data_tables
from attncert.verify.audit import user_data
from attncert.verify.audit.user_data import Examination, claims, examine
from attncert.verify.claims.evidence import About, Claim, Level
from attncert.verify.statements import registry

EYE = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
PROVED = family(5, 3, 4, seed=1)
REGROUPED = Dataset.of(
    EYE, [[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1]], [1, 2, 3, 4, 5]
)
MEMORIZED = Dataset.of([[[1, 2]], [[2, 1]], [[3, 3]]], [[1, 0], [0, 1], [1, 1]], [1, 2, 3])
ONE_CLASS = of_sequences(["aaa"], {"a": [1]})
ON_A_LINE = Dataset.of(EYE, [[k, 2 * k, 0] for k in range(1, 6)], [1, 2, 3, 4, 5])


METHODS = [m for m in registry.methods() if m.assumes_a1_a2]


def examined(data: Dataset) -> Examination:
    return examine(data, METHODS, quick=True, seed=0, progress=silent)


def conclusion(data: Dataset) -> Claim:
    return claims(examined(data))[-1]


def test_a_witness_comes_with_what_is_not_known() -> None:
    paper, narrow, _ = claims(examined(ON_A_LINE))
    assert paper.witness and paper.witness["coefficients"] == ["2", "-1"]
    assert not narrow.level.holds and narrow.level is not Level.REFUTED
    refuted, *_ = claims(examined(signed_pairs()))
    assert refuted.witness and refuted.witness["coefficients"] == ["1", "1", "-1", "-1"]


@pytest.mark.slow
def test_of_a_large_data_set_the_first_examples_are_looked_at() -> None:
    found = examined(family(31, 3, 5, seed=2))
    assert found.data.T == user_data.QUICK_MOST and found.whole.T == 31
    assert found.part == "the first 25 of 31 examples"


def test_only_what_is_excluded_is_called_impossible() -> None:
    """One head without attention outputs these labels, but no choice serves every labelling."""
    verdict = conclusion(MEMORIZED)
    assert verdict.excludes(About.UNIVERSAL) and "every labelling" in verdict.statement
    verdict = conclusion(signed_pairs())
    assert verdict.excludes(About.THESE_LABELS) and "the given labels" in verdict.statement


def write(path: Path, data: Dataset) -> str:
    path.write_text(json.dumps(data.canonical()))
    return str(path)


def test_where_a_hypothesis_is_used_is_read_off_the_steps() -> None:
    """The short heads of width one claim no step of the proof, so they use none."""
    _, used = data_tables(examined(PROVED))
    rows = {row[:3]: row[3] for row in used.rows}
    assert "2 of n independent rows" in rows["paper", "A2", "independence"]
    assert rows["paper", "partition", "duals"] == ""
    assert not any(name == "width-one" for name, *_ in rows)


@pytest.mark.parametrize(
    ("data", "status", "line"),
    [
        (REGROUPED, 0, "Your data (all 5 examples): the paper's construction: proved; heads of"),
        (ON_A_LINE, 3, "Your data (all 5 examples): the paper's construction: "),
        (signed_pairs(), 1, "Your data (all 4 examples): impossible, no weights output exactly"),
        (MEMORIZED, 1, "Your data (all 3 examples): no one choice of keys and queries serves "),
        (ONE_CLASS, 0, "Your data (all 2 examples): the paper's construction: proved"),
    ],
)
def test_the_command(data: Dataset, status: int, line: str, tmp_path: Path, shell: Shell) -> None:
    file, out = write(tmp_path / "mine.json", data), tmp_path / "out"
    printed = shell.runs("audit", file, "--quick", "--out", out, status=status)
    assert printed.out.splitlines()[1].startswith(line) and printed.err == ""
    assert "# Audit of mine" in (out / "report.md").read_text()
    content = json.loads((out / "answer.json").read_text())
    assert content["standing"] == {0: "proved", 1: "refuted", 3: "undecided"}[status]
    assert content["exhibits"]["data"]["examples"] == data.T


@pytest.mark.slow
def test_the_whole_audit_as_a_user_runs_it(tmp_path: Path) -> None:
    """Two runs with all cases and other hash seeds give exactly the expected report."""
    write(tmp_path / "mine.json", REGROUPED)
    folders = [tmp_path / "a", tmp_path / "b"]
    for seed, folder in zip(("0", "1"), folders, strict=True):
        command = [sys.executable, "-m", "attncert", "audit", "mine.json", "--out", str(folder)]
        run = subprocess.run(
            command,
            env=os.environ | {"PYTHONHASHSEED": seed},
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert run.returncode == 0, run.stdout + run.stderr
        assert run.stdout.startswith("Proved. By the paper's construction or heads of width ")
    names = [p.relative_to(folders[0]) for p in folders[0].rglob("*") if p.is_file()]
    assert {"report.md", "answer.json"} <= {name.name for name in names}
    for name in set(names) - {Path("timings.json")}:
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes(), name
