"""`make gpu`: the dry run goes the same way to its end, and the page has the times it expects."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from support.paths import ROOT


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    runner = importlib.import_module("gpu.__main__")
    monkeypatch.setattr(runner.place, "has_torch", lambda: True)
    return runner.parts


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


def test_the_page_has_the_expected_times(parts: ModuleType) -> None:
    text, whole = (ROOT / "docs" / "gpu.md").read_text(), 0.0
    for number, part in enumerate(parts.PARTS, 1):
        seconds = parts.expected(number)
        line = next(line for line in text.splitlines() if line.startswith(f"| {number} {part} |"))
        assert line.endswith(f"| {seconds:.0f} s |") and seconds <= 540
        whole += seconds
    assert f"All in all {whole / 60:.0f} minutes" in text
