"""Software that tests need: without it, a test is skipped, or fails if the software is required.

ATTNCERT_REQUIRE lists what must be there, separated by commas: coq, chromium, latex, site, cuda.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from support.paths import ROOT


def require(name: str, found: bool, missing: str) -> None:
    """Skip the test with one line, `missing`, unless the software was `found`; fail if it is
    required."""
    if found:
        return
    if required(name):
        pytest.fail(missing)
    pytest.skip(missing)


def required(name: str) -> bool:
    return name in os.environ.get("ATTNCERT_REQUIRE", "").split(",")


PHONE, DESKTOP = {"width": 390, "height": 844}, {"width": 1280, "height": 900}
WIDER = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


@contextmanager
def chromium() -> Iterator[Any]:
    """The browser. Without Chromium the test is skipped, or fails."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    driver = importlib.util.find_spec("playwright") is not None
    missing = "playwright is missing (pip: the extra 'browser')" if path else "chromium is missing"
    require("chromium", bool(path) and driver, missing)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


KERNEL = ROOT / "verify" / "kernel"
EXECUTABLE = KERNEL / "build" / "attncert-kernel"
VERDICTS = {0: "holds", 1: "wrong", 2: "unusable", 3: "over limit"}


def needed() -> None:
    """Skip the test if the executable is not built."""
    built = shutil.which("coqc") is not None
    packages = "coqc is missing; verify/kernel/Makefile names the packages"
    require(
        "coq", EXECUTABLE.exists(), "verify/kernel is not built: make kernel" if built else packages
    )


def verified_status(path: str) -> str:
    """The verified checker's verdict on a file: one line, with nothing on stderr."""
    found = subprocess.run([str(EXECUTABLE), path], capture_output=True, text=True, check=False)
    status = VERDICTS[found.returncode]
    assert found.stdout.startswith(f"{status}: ")
    assert found.stdout.count("\n") == 1
    assert found.stderr == ""
    return status
