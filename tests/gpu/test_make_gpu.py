"""`make gpu`: the dry run goes the same way to its end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.paths import ROOT


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
