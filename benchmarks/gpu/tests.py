"""Runs the tests marked `gpu`, which compare every kernel and code path with the CPU and FLINT."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

from gpu.place import ROOT
from gpu.rows import START, Row

FILES = {"test_gpu_subsets.py": 60.0, "test_gpu_layers.py": 60.0, "test_gpu_commands.py": 60.0}


def rows(dry: bool) -> list[Row]:
    """One row for each file; in a dry run only one row, with the default tests."""
    if dry:
        return [Row("test_gpu_layers.py", 0.0, lambda: run("test_gpu_layers.py", True))]
    return [Row(f, START + s, lambda f=f: run(f, False)) for f, s in FILES.items()]  # type: ignore


def run(file: str, dry: bool) -> dict[str, Any]:
    """The counts, and each failed test with its message. Without a GPU, each test would fail."""
    marks = "gpu and not slow" if dry else "gpu"
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", f"tests/gpu/{file}", "-m", marks]
        command += ["-W", "default", f"--junit-xml={report}"]
        environment = dict(os.environ) | ({} if dry else {"ATTNCERT_REQUIRE": "cuda"})
        done = subprocess.run(command, cwd=ROOT, env=environment)
        if not report.exists():
            return {"error": f"pytest ended with status {done.returncode}"}
        return counted(report.read_text())


def counted(report: str) -> dict[str, Any]:
    """The counts from JUnit's XML. A row with failed tests is an error, so that the run reports it.

    >>> counted('<a><testcase name="x"/><testcase name="y"><failure message="no"/></testcase></a>')
    {'tests': 2, 'failed': {'y': 'no'}, 'skipped': 0, 'error': '1 of 2 tests failed'}
    """
    cases = list(ElementTree.fromstring(report).iter("testcase"))
    failed = {
        case.get("name", ""): (bad.get("message") or "")[:500]
        for case in cases
        for bad in (*case.findall("failure"), *case.findall("error"))
    }
    skipped = sum(case.find("skipped") is not None for case in cases)
    found: dict[str, Any] = {"tests": len(cases), "failed": failed, "skipped": skipped}
    if failed or not cases:
        found["error"] = f"{len(failed)} of {len(cases)} tests failed"
    return found
