"""The executable that `make kernel` builds from the verified checker."""

from __future__ import annotations

import shutil
import subprocess

from support.paths import ROOT
from support.requires import require

KERNEL = ROOT / "verify" / "kernel"
EXECUTABLE = KERNEL / "build" / "attncert-kernel"
VERDICTS = {0: "holds", 1: "wrong", 2: "unusable", 3: "over limit"}


def needed() -> None:
    """Skip the test where the executable is not built."""
    built = shutil.which("coqc") is not None
    packages = "coqc is missing; verify/kernel/Makefile names the packages"
    require(
        "coq", EXECUTABLE.exists(), "verify/kernel is not built: make kernel" if built else packages
    )


def verified_status(path: str) -> str:
    """Its verdict on a file: one line, nothing on stderr."""
    found = subprocess.run([str(EXECUTABLE), path], capture_output=True, text=True, check=False)
    status = VERDICTS[found.returncode]
    assert found.stdout.startswith(f"{status}: ")
    assert found.stdout.count("\n") == 1
    assert found.stderr == ""
    return status
