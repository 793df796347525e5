"""`attncert check FOLDER` and `explain FOLDER` judge the certificate, whatever the folder says."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.paths import ROOT
from support.shell import Shell

PROVE = ["prove", str(ROOT / "examples" / "tiny.json"), "--heads", "2", "--out"]


@pytest.mark.parametrize("command", ["check", "explain"])
def test_the_folder_s_checker_is_not_run(command: str, tmp_path: Path, shell: Shell) -> None:
    folder = tmp_path / "tiny"
    shell.runs(*PROVE, folder)
    shutil.rmtree(folder / "checker")
    (folder / "checker").mkdir()
    (folder / "checker" / "__main__.py").write_text("raise SystemExit('forged')\n")
    assert "forged" not in shell.runs(command, folder).out
    path = folder / "certificate.json"
    path.write_text(path.read_text().replace('"1/3"', '"1/4"'))
    assert "digest" in shell.runs(command, folder, status=1).out
