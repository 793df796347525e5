"""attncert explain puts every claim into words; a folder can be named instead of its file."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from support import labelling_cases, near_cases
from support.shell import Shell
from support.small_certificates import (
    CASES,
    changed,
    sealed,
    written,
)

import attncert
from attncert.constructions.errors import InputError
from attncert.reports.certificate.explain import explain, text

EVERY = CASES | {
    "interpolation-near": lambda: near_cases.case("distinct"),
    "every-labelling": lambda: labelling_cases.case("pair"),
}


@pytest.mark.parametrize("name", EVERY)
def test_every_claim_in_words(name: str, tmp_path: Path) -> None:
    certificate = EVERY[name]()
    path = written(certificate, tmp_path)
    found = explain(path)
    assert (found.status, found.exit_status) == ("holds", 0)
    said = dict(found.parts)
    assert {"What it claims", "What to trust"} <= said.keys() and all(said.values())
    assert certificate["input_sha256"] in said["Where it comes from"]
    assert said["Checked now"].startswith("Yes, from the file alone, and the claim hol")
    assert max(map(len, text(found))) <= 88
    json.dumps(found.as_dict(), allow_nan=False)


def test_a_claim_nearby_that_is_not_shown_is_not_called_false(tmp_path: Path) -> None:
    certificate = near_cases.case("distinct")
    certificate["near"]["radius"] = "1/1" + "0" * 30
    found = explain(written(sealed(certificate), tmp_path))
    assert found.exit_status == 1
    assert "which may still hold" in dict(found.parts)["Checked now"]


def test_a_file_without_an_inverse_is_for_the_fast_check(tmp_path: Path) -> None:
    certificate = near_cases.case("distinct")
    certificate["near"]["inverse"] = None
    found = explain(written(sealed(certificate), tmp_path))
    said = dict(found.parts)
    assert (found.status, found.exit_status) == ("over limit", 3)
    assert "float64 with proved bounds" in said["Why that can be proved"]
    assert "trust attncert check --fast" in said["What to trust"]
    assert "Python's integers" not in said["What to trust"]


def test_a_dependent_set_is_written_out(tmp_path: Path) -> None:
    certificate = CASES["dependent-set"]()
    certificate["data"]["vectors"] = [["1", "0", "0"], ["0", "1", "0"], ["2", "-3", "0"]]
    certificate["dims"] = {"vectors": 3, "width": 3}
    certificate["relation"] = {"indices": [2, 0, 1], "coefficients": ["-1", "2", "-3"]}
    found = explain(written(sealed(certificate), tmp_path))
    assert "-x(2) + 2·x(0) - 3·x(1) = 0" in dict(found.parts)["Why that can be proved"]


def test_a_wrong_one_is_called_wrong(tmp_path: Path) -> None:
    path = written(changed(CASES["interpolation"](), "data.labels.0.0", "1000"), tmp_path)
    found = explain(path)
    assert (found.status, found.exit_status) == ("wrong", 1)
    assert "the claim is WRONG: the output of example 0" in dict(found.parts)["Checked now"]
    late = explain(path, limit_seconds=0)
    assert (late.status, late.exit_status) == ("over limit", 3)


def test_a_file_too_long_to_be_read_is_not_called_another_kind_of_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("attncert.verify.checker.LIMIT_MIB", 0.001)
    with pytest.raises(InputError, match="an attncert certificate short enough to be read, not a"):
        explain(written(CASES["impossible"](), tmp_path))


def test_the_command(tmp_path: Path, shell: Shell) -> None:
    path = written(CASES["interpolation"](), tmp_path)
    assert shell.runs("explain", path).out.startswith("What it claims\n  The file holds")
    assert json.loads(shell.runs("explain", path, "--json").out)["status"] == "holds"
    shell.refuses("explain", tmp_path / "none.json")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = written(CASES["dependent-set"](), tmp_path)
    Path(path).rename(tmp_path / "certificate.json")
    return tmp_path


@pytest.mark.parametrize("command", ["check", "explain"])
def test_a_folder_says_what_its_certificate_says(command: str, folder: Path, shell: Shell) -> None:
    by_folder = json.loads(shell.runs(command, folder, "--json").out)
    by_file = json.loads(shell.runs(command, folder / "certificate.json", "--json").out)
    assert by_file == by_folder


@pytest.mark.parametrize("command", ["check", "explain"])
def test_a_false_claim_in_a_folder_is_refused(command: str, folder: Path) -> None:
    certificate = json.loads((folder / "certificate.json").read_text())
    certificate["relation"]["coefficients"][0] = "7"
    (folder / "certificate.json").write_text(json.dumps(certificate))
    assert attncert.main([command, str(folder)]) == 1


@pytest.mark.parametrize("command", ["check", "explain"])
def test_what_is_no_certificate_is_one_sentence(command: str, tmp_path: Path, shell: Shell) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "words").write_text("some words")
    for name, says in (
        ("words", "words: the file is not JSON (line 1, column 1)\n"),
        ("nothing", "there is no such file; it must be an attncert certificate, the folder of a "),
        (".", "must be the folder of a report with certificate.json, not one without"),
        ("pipe", "or - for standard input, not a pipe or device"),
        ("x" * 5000, "there is no such file"),
    ):
        assert says in shell.refuses(command, tmp_path / name)
