"""`attncert audit DATA` as a user runs it: what is said of the data, and the exit status."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.shares import share

import attncert
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.generators import family, signed_pairs
from attncert.reports.audit.page import one_line, render
from attncert.verify.audit import sections as audit_sections
from attncert.verify.audit import user_data
from attncert.verify.audit.edge_cases import CASES
from attncert.verify.audit.records import AuditSection, Finding, Scope, Standing, audit
from attncert.verify.claims.evidence import Level
from attncert.verify.methods import registry
from attncert.verify.prove import prove
from attncert.verify.questions.prove import Prove

EYE = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
PROVED = family(5, 3, 4, seed=1)
REGROUPED = Dataset.of(
    EYE, [[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1]], [1, 2, 3, 4, 5]
)
ON_A_LINE = Dataset.of(EYE, [[k, 2 * k, 0] for k in range(1, 6)], [1, 2, 3, 4, 5])


@pytest.mark.parametrize(
    ("data", "status"),
    [(PROVED, 0), (REGROUPED, 0), (ON_A_LINE, 3), (signed_pairs(), 1)],
    ids=["proved", "A1 false, regrouped", "undecided", "impossible"],
)
def test_the_exit_status_says_what_is_known(data: Dataset, status: int) -> None:
    found = audit(Scope(data, quick=True), [user_data.section])
    assert found.exit_status == status
    assert (found["data"].findings[0].standing is Standing.OK) == (status == 0)


def test_where_the_theorem_does_not_apply_it_says_so() -> None:
    found = user_data.section(Scope(REGROUPED, quick=True))
    assert all("hypothesis.A1" in finding.statement for finding in found.findings)
    rows = {(row[0], row[1][:18]): row[-1] for row in found.tables[0].rows}
    assert rows["paper", "The hypotheses of "] == "not applicable"
    assert len(found.tables) == 3  # both constructions were built


def test_a_witness_comes_with_what_is_not_known() -> None:
    (paper, narrow) = user_data.section(Scope(ON_A_LINE, quick=True)).findings
    assert paper.witness and paper.witness["coefficients"] == ["2", "-1"]
    assert narrow.standing is Standing.UNDECIDED
    (refuted, _) = user_data.section(Scope(signed_pairs(), quick=True)).findings
    assert refuted.witness and refuted.witness["coefficients"] == ["1", "1", "-1", "-1"]


def test_of_a_large_data_set_the_first_examples_are_looked_at() -> None:
    data = family(31, 3, 5, seed=2)
    found = user_data.section(Scope(data, quick=True))
    assert found.numbers["examples"] == user_data.QUICK_MOST and found.numbers["of"] == 31
    assert "the first 25 of 31 examples" in found.text[0]


@pytest.mark.parametrize("name", share(list(CASES)[::3], 3))
def test_no_data_set_is_too_degenerate_for_a_report(name: str) -> None:
    """The verdict is that of `prove` with its defaults, whatever the data."""
    data = CASES[name]()
    files = render(found := audit(Scope(data, quick=True), [user_data.section]))
    standings = {
        prove(data, Prove(construction=name, claim="full-rank")).standing
        for name in [m.name for m in registry.methods() if m.uses_a1_a2]
    }
    refuted, proved = Level.REFUTED in standings, Level.PROVED in standings
    assert found.exit_status == (1 if refuted else 0 if proved else 3)
    assert data.name in files["audit.md"].decode()


@pytest.fixture
def only_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bundled sections take a while and are tested on their own."""
    monkeypatch.setattr(audit_sections, "sections", lambda scope: (user_data.section,))


def write(path: Path, data: Dataset) -> str:
    path.write_text(json.dumps(data.canonical()))
    return str(path)


def test_the_verdict_is_about_the_data_first() -> None:
    """And the bundled cases are judged apart: data that are impossible are no fault of theirs."""

    def good(scope: Scope) -> AuditSection:
        return AuditSection("bundled", "Bundled", findings=(Finding("fine", Standing.OK),))

    said = {
        "proved": one_line(audit(Scope(PROVED, quick=True), [user_data.section, good])),
        "refuted": one_line(audit(Scope(signed_pairs(), quick=True), [user_data.section, good])),
    }
    assert said["proved"] == (
        "Your data (all of it): the paper's construction: proved; heads of width one: proved. "
        "Bundled cases: everything is as expected. 2 sections."
    )
    assert said["refuted"].startswith("Your data (all of it): impossible for all weights. Refuted:")
    assert said["refuted"].endswith("Bundled cases: everything is as expected. 2 sections.")


def test_heads_certified_by_rank_alone_are_not_counted_as_zero() -> None:
    """The short heads of width one claim no step: a 0 would say that they need no hypothesis."""
    paper, narrow = user_data.section(Scope(PROVED, quick=True)).tables[1:]
    assert "certified by rank alone" in narrow.note
    for row in narrow.rows:
        counted = row[0] not in ("A1", "A2", "n ≤ d")
        assert (row[-1] == "not counted: heads certified by rank alone") is not counted
    assert all(row[-1].isdecimal() for row in paper.rows)


@pytest.mark.usefixtures("only_data")
@pytest.mark.parametrize(("data", "status"), [(REGROUPED, 0), (ON_A_LINE, 3), (signed_pairs(), 1)])
def test_the_command(
    data: Dataset, status: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = write(tmp_path / "mine.json", data), tmp_path / "out"
    assert attncert.main(["audit", file, "--quick", "--out", str(out), "--json"]) == status
    printed = capsys.readouterr()
    shown = json.loads(printed.out)
    assert shown["exit_status"] == status and shown["data"]["examples"] == data.T
    assert printed.err == "" and shown["sections"][0]["id"] == "data"
    assert "# Audit of mine" in (out / "audit.md").read_text()
    assert json.loads((out / "audit.json").read_text())["standing"] == shown["standing"]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["missing.json"], "missing.json: there is no such file; it must be a JSON or .npz file"),
        (["--seed", "-1"], "--seed: must be a whole number"),
        (["--out", "."], "--out: must be a folder other than"),
        (["--nonsense"], "No such option"),
        (["--construction", "none"], "--construction: must be paper, width-one, affine, generic"),
    ],
)
def test_bad_input_is_one_line(
    arguments: list[str], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert attncert.main(["audit", *arguments]) == 2
    printed = capsys.readouterr()
    assert line in printed.err and printed.err.count("\n") == 1 and printed.out == ""


def test_another_folder_is_refused_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def work(scope: Scope) -> Any:
        raise AssertionError("no section should run")

    monkeypatch.setattr(audit_sections, "sections", lambda scope: (work,))
    (tmp_path / "thesis.tex").write_text("mine")
    assert attncert.main(["audit", "--out", str(tmp_path)]) == 2
    assert "must be new, empty, or a folder that attncert wrote" in capsys.readouterr().err


@pytest.mark.slow
def test_the_whole_audit_as_a_user_runs_it(tmp_path: Path) -> None:
    """Everything bundled, twice with other hash seeds: as expected, and equal bytes."""
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
        assert run.stdout.startswith("Your data (all of it): the paper's construction: proved;")
        assert " Bundled cases: everything is as expected. 4 sections." in run.stdout
    names = [p.relative_to(folders[0]) for p in folders[0].rglob("*") if p.is_file()]
    assert {"audit.md", "audit.json"} <= {name.name for name in names}
    for name in names:
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes(), name
