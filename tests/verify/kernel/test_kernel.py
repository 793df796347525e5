"""The extracted checker gives the verdicts of checker.py; the search for gaps finds them."""

from __future__ import annotations

import copy
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.paths import ROOT
from support.requires import require
from support.small_certificates import CASES, Certificate, sealed, written

from attncert.verify.checker import check_file

KERNEL = ROOT / "verify" / "kernel"
EXECUTABLE = KERNEL / "build" / "attncert-kernel"
VERDICTS = {0: "holds", 1: "wrong", 2: "unusable", 3: "over limit"}
JUDGED = [name for name in CASES if CASES[name]()["claim"] != "impossible"]


@pytest.fixture(scope="module")
def executable() -> str:
    """What `make kernel` built."""
    reason = "verify/kernel is not built: make kernel"
    if shutil.which("coqc") is None:
        reason = "coqc is missing; verify/kernel/Makefile names the packages"
    require("coq", EXECUTABLE.exists(), reason)
    return str(EXECUTABLE)


def verdict(executable: str, path: str) -> str:
    found = subprocess.run([executable, path], capture_output=True, text=True, check=False)
    status = VERDICTS[found.returncode]
    assert found.stdout.startswith(f"{status}: ")
    assert found.stdout.count("\n") == 1
    assert found.stderr == ""
    return status


def leaves(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inner, (*place, key))
    else:
        yield place


def with_leaf(certificate: Certificate, place: tuple[Any, ...], value: Any) -> Certificate:
    certificate = copy.deepcopy(certificate)
    inner: Any = certificate
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    return sealed(certificate)


@pytest.mark.parametrize("name", JUDGED)
def test_true_certificates_hold(executable: str, name: str, tmp_path: Path) -> None:
    assert verdict(executable, written(CASES[name](), tmp_path)) == "holds"


@pytest.mark.parametrize("value", ["101", "-2/3", "0", "1/0", 1, True, None, []])
@pytest.mark.parametrize("name", JUDGED)
def test_every_changed_leaf_gets_the_same_verdict(
    executable: str, name: str, value: Any, tmp_path: Path
) -> None:
    certificate = CASES[name]()
    content = {
        key: certificate[key] for key in certificate if key not in ("digest", "input_sha256")
    }
    for place in leaves(content):
        if place[0] in ("produced_by", "construction"):
            continue
        path = written(with_leaf(certificate, place, value), tmp_path)
        expected = check_file(path).status
        assert verdict(executable, path) == expected, (place, value)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[" * 100_000, '{"format": "attncert/1"}', "[1, 2", '"\\u12"', "1e5", "{}x", "\x00"],
)
def test_what_is_no_certificate_is_unusable(executable: str, text: str, tmp_path: Path) -> None:
    assert verdict(executable, written(text, tmp_path)) == "unusable"


def test_a_key_twice_is_unusable(executable: str, tmp_path: Path) -> None:
    text = json.dumps(CASES[JUDGED[0]]()).replace('"claim":', '"claim": "x", "claim":', 1)
    assert verdict(executable, written(text, tmp_path)) == "unusable"


@pytest.mark.parametrize(
    "gap",
    ["Admitted.", "Axiom x : False.", "  admit.", "Parameter x : False.", "Unset Guard Checking."],
)
def test_a_planted_gap_is_found(gap: str, tmp_path: Path) -> None:
    planted = tmp_path / "planted.v"
    planted.write_text(f"Lemma x : True.\nProof. exact I. Qed.\n{gap}\n")
    search = ["sh", str(KERNEL / "no_gaps.sh")]
    found = subprocess.run([*search, planted], capture_output=True, text=True, check=False)
    assert found.returncode == 1
    assert gap.strip() in found.stdout
    planted.write_text("Lemma x : True.\nProof. exact I. Qed.\n")
    assert subprocess.run([*search, planted], check=False).returncode == 0
