"""A certificate as a theorem, theorems by name, file and hash, and the messages of the commands."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

import pytest
from support.labelling_cases import case
from support.near_cases import case as near_case
from support.requires import EXECUTABLE, KERNEL, needed, require
from support.shell import Shell
from support.small_certificates import CASES, changed, written

import attncert
from attncert.constructions.errors import InputError
from attncert.verify.certificates.coq import executable, instance
from attncert.verify.certificates.coq.theorems import in_coq, manifest

CLAIMS = {CASES[name]()["claim"]: name for name in reversed(CASES)}
FALSE = {  # a change that makes the theorem false
    "interpolation": ("data.labels.0.0", "101"),
    "full-rank": ("rank.prime", "3"),
    "dependent-set": ("relation.coefficients.0", "101"),
    "impossible": ("relation.0", "101"),
    "interpolation, steered": ("saturation.bits", 60),
    "full-rank, steered": ("origin.largest_change", "1/3"),
}


def test_the_hashes_are_those_of_the_files() -> None:
    found = {
        str(path.relative_to(KERNEL)): hashlib.sha256(path.read_bytes()).hexdigest()
        for folder in ("theory", "checker", "instances")
        for path in KERNEL.glob(f"{folder}/*")
        if path.suffix in (".v", ".ml")
    }
    assert manifest() == found, "make -C verify/kernel sums"


def test_a_theorem_is_named_with_its_file_and_hash() -> None:
    told = in_coq("real.theorem_1")
    assert told.endswith(hashlib.sha256((KERNEL / "theory" / "real.v").read_bytes()).hexdigest())
    two = in_coq("real.theorem_1", "reduction.reduction")
    assert two.startswith(f"{told}; theorem reduction of ")
    with pytest.raises(ValueError, match="not a headline"):
        in_coq("real.theorem_2")


def test_a_wheel_has_the_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file that make needs is listed, so a copy elsewhere can be built."""
    monkeypatch.setattr(executable.os, "access", lambda *_: False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert executable.home().parent == tmp_path / "attncert"
    assert {path.name for path in executable.sources()} >= {"Makefile", "SHA256SUMS", "main.ml"}
    assert all(path.is_file() for path in executable.sources())


@pytest.mark.parametrize("options", [["--verified"], ["--kernel"]])
def test_what_is_not_built_is_one_line(
    options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: Shell
) -> None:
    monkeypatch.setattr(executable, "home", lambda: tmp_path)
    monkeypatch.setattr(instance, "home", lambda: tmp_path)
    monkeypatch.chdir(tmp_path)
    path = written(CASES["dependent-set"](), tmp_path)
    told = shell.runs("check", path, *options, status=2)
    assert told.out == ""
    assert told.err.splitlines()[-1].startswith(f"attncert: {options[0]}: must be ")
    assert "attncert kernel build" in told.err


def test_a_build_without_tools_names_the_packages(
    monkeypatch: pytest.MonkeyPatch, shell: Shell
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    told = shell.runs("kernel", "build", status=2).err
    assert told.count("attncert: ") == 1
    assert "apt-get install coq" in told and "without make, coqc" in told


def test_a_build_counts_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long build shows its progress, and a failure is reported with the last lines of make."""
    make = tmp_path / "make"
    make.write_text("#!/bin/sh\necho COQC a.v\necho COQC b.v\necho no more memory >&2\nexit 2\n")
    make.chmod(0o755)
    for tool in ("coqc", "ocamlfind", "ocamlopt"):
        (tmp_path / tool).symlink_to(make)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    shown: list[tuple[str, int, int]] = []
    with pytest.raises(InputError, match=r"not COQC a\.v; COQC b\.v; no more memory"):
        executable.build(lambda *counts: shown.append(counts))
    files = sum(path.suffix == ".v" for path in executable.sources())
    assert [("theorems", k, files) for k in (0, 1, 2, 2)] == shown


@pytest.mark.parametrize("options", [["--fast", "--kernel"], ["--verified", "--kernel"]])
def test_one_checker_at_a_time(options: list[str], shell: Shell) -> None:
    assert "one at a time" in shell.refuses("check", "file", *options)


@pytest.mark.parametrize("name", CLAIMS.values(), ids=CLAIMS)
def test_instances_have_their_data_and_statement(name: str, tmp_path: Path) -> None:
    verdict, theorem = instance.instance(written(CASES[name](), tmp_path))
    assert verdict.status == "holds" and theorem is not None
    assert theorem.count("Theorem holds :\n") == 1
    assert theorem.endswith("Print Assumptions Certificate.holds.\n")


@pytest.mark.parametrize(
    ("name", "value"), [("interpolation, steered", "wval"), ("full-rank, steered", "value_of")]
)
def test_instances_state_saturation_and_rounding(name: str, value: str, tmp_path: Path) -> None:
    verdict, theorem = instance.instance(written(CASES[name](), tmp_path))
    assert verdict.status == "holds" and theorem is not None
    assert f" /\\\n  saturates {value} s c /\\\n  rounded {value} r.\n" in theorem


def test_a_claim_without_instances_is_one_line(tmp_path: Path) -> None:
    path = written(case("pair"), tmp_path)  # built or not
    with pytest.raises(attncert.InputError, match="must be used for a claim that has instances"):
        instance.instance(path)


def test_a_false_certificate_is_no_theorem(tmp_path: Path) -> None:
    wrong = changed(CASES["dependent-set"](), "relation.coefficients.0", "101")
    verdict, theorem = instance.instance(written(wrong, tmp_path))
    assert (verdict.status, theorem) == ("wrong", None)


def test_verified_by_the_command_line(tmp_path: Path, shell: Shell) -> None:
    needed()
    for certificate in (
        CASES["impossible"](),
        CASES["full-rank"](),
        near_case("shared"),
        case("pair"),
    ):
        said = shell.runs("check", written(certificate, tmp_path), "--verified").out
        assert said.startswith("holds: verified: ")
    wrong = changed(CASES["dependent-set"](), "relation.coefficients.0", "101")
    said = shell.runs("check", written(wrong, tmp_path), "--verified", status=1).out
    assert said.startswith("wrong: verified: ")


def test_the_theorem_is_named_with_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: Shell
) -> None:
    found = instance.KernelCheck(("Classical_Prop.classic",), 1.0, 2.0)
    monkeypatch.setattr(instance, "check", lambda *_: found)
    path = written(CASES["impossible"](), tmp_path)
    said = shell.runs("check", path, "--kernel").out
    told = "theorem Certificate.holds of attncert-report/kernel/instance.v rests on: "
    assert said.endswith(f"; {told}Classical_Prop.classic\n")


@pytest.mark.slow
@pytest.mark.parametrize("name", FALSE)
def test_coq_checks_true_instances_and_refuses_false_ones(name: str, tmp_path: Path) -> None:
    require("coq", EXECUTABLE.exists() and shutil.which("coqc") is not None, "no coqc, no theory")
    certificate = CASES[name]()
    false = changed(certificate, *FALSE[name])
    for content, holds in ((certificate, True), (false, False)):
        theorem = instance.theorem_of(content)
        if holds:
            found = instance.check(theorem, tmp_path / "instance.v")
            assert any("sig_forall_dec" in axiom for axiom in found.assumptions)
        else:
            with pytest.raises(attncert.InputError, match="checked by coqc, not refused"):
                instance.check(theorem, tmp_path / "instance.v")
