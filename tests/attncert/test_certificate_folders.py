"""`check` and `explain` take the folder of a report where they take its certificate."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from support.shell import Shell
from support.small_certificates import CASES, written

import attncert


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
    for name, says in (
        ("nothing", "there is no such file; it must be an attncert certificate, the folder of a "),
        (".", "must be the folder of a report with certificate.json, not one without"),
        ("pipe", "or - for standard input, not a pipe or device"),
        ("x" * 5000, "there is no such file"),
    ):
        assert says in shell.refuses(command, tmp_path / name)
