"""Runs the lines of docs/commands.md for continuous integration unchanged."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.paths import EXAMPLES, ROOT
from support.small_certificates import CASES, changed, written

PAGE = (ROOT / "docs" / "commands.md").read_text("utf-8")
ALL, ALONE = re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
TRUE = CASES["interpolation"]()
FALSE = changed(TRUE, "data.labels.0.0", "12345")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A user's folder: a certificate, a layer, its data, a copy of the checker."""
    (tmp_path / "certificates").mkdir()
    certify(TRUE, tmp_path)
    for name, copy in (("after", "layer.npz"), ("data", "data.npz")):
        shutil.copy(EXAMPLES / "trained" / f"{name}.npz", tmp_path / copy)
    shutil.copytree(ROOT / "verify" / "checker", tmp_path / "checker")
    return tmp_path


def certify(certificate: dict[str, object], repository: Path) -> None:
    folder = repository / "certificates"
    Path(written(certificate, folder)).rename(folder / "tiny.json")


def status(lines: str, folder: Path) -> int:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path}
    return subprocess.run(["sh", "-c", lines], cwd=folder, env=environment).returncode


def test_the_checker_alone(repository: Path) -> None:
    assert status(ALONE, repository) == 0
    certify(FALSE, repository)
    assert status(ALONE, repository) == 1


@pytest.mark.slow
def test_a_false_certificate_or_a_large_error_ends_the_job(repository: Path) -> None:
    assert status(ALL, repository) == 0
    assert (repository / "report" / "report.md").exists()
    assert status(ALL.replace("--tolerance 0.1", "--tolerance 1e-9"), repository) == 1
    certify(FALSE, repository)
    lines = ALL.replace("attncert layer", "exit 70 #")  # the run ends before it
    assert status(lines, repository) == 1
