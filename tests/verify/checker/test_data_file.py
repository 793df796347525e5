"""Certificates whose data are in a file beside them: read by hash, or refused."""

from __future__ import annotations

import copy
import hashlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.shell import Shell
from support.small_certificates import CASES, canonical, digested, sealed, written
from test_checker import VALIDATOR

import attncert
from attncert import Dataset, InputError, Prove, prove
from attncert.reports.answers import report
from attncert.reports.certificate.explain import explain
from attncert.reports.folder import strange
from attncert.verify import checker
from attncert.verify.certificates import certificate as writing
from attncert.verify.certificates.coq import executable
from attncert.verify.certificates.coq.instance import instance
from attncert.verify.checking.fast import check as fast

JSON, NPZ = "certificate-data.json", "certificate-data.npz"
Certificate = dict[str, Any]


def pointed(certificate: Certificate, name: str, content: bytes) -> Certificate:
    """The certificate with its data in that file and with both digests computed afresh."""
    told = {"name": name, "bytes": len(content)}
    sha = hashlib.sha256(content).hexdigest()
    return digested(certificate | {"data": None, "data_file": told, "input_sha256": sha})


def outside(certificate: Certificate, folder: Path) -> str:
    """The same certificate, written with its data in canonical JSON beside it."""
    text = canonical(certificate["data"])
    (folder / JSON).write_bytes(text)
    return written(pointed(certificate, JSON, text), folder)


@pytest.mark.parametrize("name", CASES)
def test_a_verdict_does_not_depend_on_where_the_data_are(name: str, tmp_path: Path) -> None:
    inside = CASES[name]()
    expected = checker.check_file(written(inside, tmp_path))
    path = outside(inside, tmp_path)
    assert expected.status == "holds" and checker.check_file(path) == expected
    told = json.loads(Path(path).read_text())
    VALIDATOR.validate(told)
    assert told["input_sha256"] == inside["input_sha256"]
    if inside["claim"] == "full-rank":
        assert fast.check_file(path).status == "holds"
    told = explain(path)
    assert told.status == "holds" and "the data beside it alone" in told.parts[-1][1]
    assert "verify/checker" in dict(told.parts)["What to trust"]
    assert f"SHA-256 of {JSON}: " in dict(told.parts)["Where it comes from"]
    wrong = copy.deepcopy(inside)
    first = wrong["data"]["vectors" if "vectors" in wrong["data"] else "labels"]
    first[0] = ["977/3"] * len(first[0])
    expected = checker.check_file(written(sealed(wrong), tmp_path))
    assert checker.check_file(outside(wrong, tmp_path)) == expected


def changed(change: Callable[[Certificate], None]) -> Callable[[Certificate, Path], None]:
    def do(certificate: Certificate, folder: Path) -> None:
        change(certificate["data_file"])

    return do


def elsewhere(name: str) -> Callable[[Certificate, Path], None]:
    """The right file under another name, to which the certificate points."""

    def do(certificate: Certificate, folder: Path) -> None:
        certificate["data_file"]["name"] = name
        target = folder / name
        if target.parent.is_dir() and not target.exists():
            target.write_bytes((folder / JSON).read_bytes())

    return do


def other_content(certificate: Certificate, folder: Path) -> None:
    (folder / JSON).write_bytes((folder / JSON).read_bytes().replace(b'"1"', b'"2"', 1))


def with_text(text: bytes) -> Callable[[Certificate, Path], None]:
    """Other content, with the hash that the certificate states."""

    def do(certificate: Certificate, folder: Path) -> None:
        (folder / JSON).write_bytes(text)
        certificate |= {"input_sha256": hashlib.sha256(text).hexdigest()}
        certificate["data_file"]["bytes"] = len(text)

    return do


def fifo(certificate: Certificate, folder: Path) -> None:
    (folder / JSON).unlink()
    os.mkfifo(folder / JSON)


MUTATIONS: dict[str, tuple[Callable[[Certificate, Path], object], str, str]] = {
    "other data": (other_content, "wrong", f"{JSON} does not match input_sha256"),
    "another size": (
        changed(lambda told: told.update(bytes=told["bytes"] + 1)), "wrong", "the size of"),
    "a size that is not an integer": (
        changed(lambda told: told.update(bytes=True)), "unusable", "bytes must be of type int"),
    "no file": (lambda _, f: (f / JSON).unlink(), "unusable", f"{JSON} is missing"),
    "a folder": (
        lambda _, f: ((f / JSON).unlink(), (f / JSON).mkdir()), "unusable", f"{JSON} is missing"),
    "a pipe": (fifo, "unusable", f"{JSON} is missing"),
    "above": (elsewhere("../data.json"), "unusable", "data_file.name must be"),
    "a line break": (elsewhere("data.json\n"), "unusable", "data_file.name must be"),
    "another kind": (elsewhere("data.txt"), "unusable", "data_file.name must be"),
    "a name that is a list": (
        changed(lambda told: told.update(name=["a"])), "unusable", "data_file.name must be"),
    "itself": (elsewhere("certificate.json"), "wrong", "size of certificate.json"),
    "a reference without a size": (
        changed(lambda told: told.pop("bytes")), "unusable", "data_file, if not null,"),
    "not JSON": (with_text(b"{"), "unusable", "the file is not JSON"),
    "a list": (with_text(b"[]"), "unusable", f"{JSON} must be of type dict"),
    "other keys": (with_text(b'{"contexts":[]}'), "unusable", f"{JSON} must have the key"),
    "deep": (with_text(b"[" * 70 + b"]" * 70), "unusable", "nests brackets"),
    "floats": (
        with_text(b'{"contexts":[1.5],"queries":[],"labels":[]}'), "unusable", "not an integer"),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_file_that_is_not_the_one_is_refused(name: str, tmp_path: Path) -> None:
    change, status, message = MUTATIONS[name]
    (tmp_path / "in").mkdir()
    certificate = json.loads(Path(outside(CASES["full-rank"](), tmp_path / "in")).read_text())
    change(certificate, tmp_path / "in")
    path = written(digested(certificate), tmp_path / "in")
    for check in (checker.check_file, fast.check_file):
        verdict = check(path)
        assert verdict.status == status and message in verdict.message, verdict
    if status == "unusable":
        with pytest.raises(InputError):
            explain(path)
    else:
        told = explain(path)
        assert told.status == status and message in told.message


# Integers in an .npz, for the fast check.


@pytest.fixture(scope="module")
def large() -> dict[str, bytes]:
    """The files of a report whose data do not fit in one file, since the limit is lowered."""
    draw = np.random.default_rng(1)
    contexts, queries, labels = (draw.integers(-9, 10, s) for s in ((7, 3, 5), (7, 5), (7, 2)))
    data = Dataset.of(contexts, queries, labels)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writing, "INSIDE", 20)
        return report(prove(data, Prove("width-one", claim="full-rank"))).files


def laid(files: dict[str, bytes], folder: Path) -> str:
    for name in ("certificate.json", NPZ):
        (folder / name).write_bytes(files[name])
    return str(folder / "certificate.json")


def test_many_numbers_are_for_the_fast_check(
    large: dict[str, bytes], tmp_path: Path, shell: Shell
) -> None:
    path = laid(large, tmp_path)
    assert fast.check_file(path).status == "holds"
    verdict = checker.check_file(path)
    assert verdict.status == "over limit"
    assert verdict.message.startswith(f"{NPZ} needs attncert check --fast")
    shell.runs("check", path, status=3)
    shell.runs("check", "--fast", path)
    shell.refuses("explain", path)
    page = large["report.md"].decode()
    assert "attncert check --fast certificate.json" in page and "python checker" not in page
    certificate = json.loads(large["certificate.json"])
    VALIDATOR.validate(certificate)
    again = attncert.load(tmp_path / NPZ)
    same = prove(again, Prove("width-one", claim="full-rank")).certificate
    assert same is not None and same["network"] == certificate["network"]
    inline = fast.check_file(written(json.dumps(same), tmp_path))
    assert inline.status == "holds"


def saved(compressed: bool = False, **arrays: Any) -> bytes:
    out = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(out, **arrays)
    return out.getvalue()


ARCHIVES: dict[str, tuple[Callable[[dict[str, Any]], bytes], str, str]] = {
    "as given": (lambda a: saved(**a), "holds", "rank 7"),
    "in other types": (
        lambda a: saved(**{k: x.astype("int32" if k == "queries" else ">i2")
                           for k, x in a.items()}), "holds", "rank 7"),
    "no labels": (
        lambda a: saved(contexts=a["contexts"], queries=a["queries"]), "holds", "rank 7"),
    "another query": (
        lambda a: saved(**a | {"queries": np.vstack([a["queries"][1], a["queries"][1:]])}),
        "holds|wrong", ""),
    "equal examples": (
        lambda a: saved(**a | {"queries": np.repeat(a["queries"][:1], 7, 0),
                               "contexts": np.repeat(a["contexts"][:1], 7, 0)}),
        "wrong", "depend on earlier ones"),
    "compressed": (lambda a: saved(compressed=True, **a), "unusable", "uncompressed"),
    "floats": (
        lambda a: saved(**a | {"queries": a["queries"] / 2}), "unusable", "integers in C order"),
    "unsigned": (
        lambda a: saved(**a | {"labels": a["labels"].astype("uint8")}), "unusable", "signed"),
    "by columns": (
        lambda a: saved(**a | {"queries": np.asfortranarray(a["queries"])}), "unusable", "order"),
    "objects": (
        lambda a: saved(**a | {"queries": a["queries"].astype(object)}), "unusable", "integers"),
    "another shape": (
        lambda a: saved(**a | {"queries": a["queries"][:, :4]}), "unusable", "of the shape"),
    "fewer examples": (
        lambda a: saved(**{k: x[:6] for k, x in a.items()}), "unusable", "of the shape"),
    "another array": (lambda a: saved(**a, more=a["labels"]), "unusable", "must hold the arrays"),
    "no contexts": (lambda a: saved(queries=a["queries"]), "unusable", "must hold the arrays"),
    "cut": (lambda a: saved(**a)[:-9], "unusable", "unreadable"),
    "empty": (lambda a: b"", "unusable", "unreadable"),
}  # fmt: skip


@pytest.mark.parametrize("name", ARCHIVES)
def test_an_archive_is_judged_on_what_is_in_it(
    name: str, large: dict[str, bytes], tmp_path: Path
) -> None:
    make, status, message = ARCHIVES[name]
    with np.load(io.BytesIO(large[NPZ])) as archive:
        content = make({key: archive[key] for key in archive.files})
    certificate = json.loads(large["certificate.json"])
    told = {"name": "given.npz", "bytes": len(content)}
    sha = hashlib.sha256(content).hexdigest()
    (tmp_path / "given.npz").write_bytes(content)
    path = written(digested(certificate | {"data_file": told, "input_sha256": sha}), tmp_path)
    verdict = fast.check_file(path)
    assert verdict.status in status.split("|") and message in verdict.message, verdict
    (tmp_path / "given.npz").write_bytes(content[:-1] + b"x" if content else b"x")
    assert fast.check_file(path).status == "wrong"


def test_numbers_beyond_62_bits_are_exact(large: dict[str, bytes], tmp_path: Path) -> None:
    with np.load(io.BytesIO(large[NPZ])) as archive:
        arrays = {key: archive[key] for key in archive.files}
    arrays["contexts"] = arrays["contexts"].astype(np.int64) * 2**59
    content = saved(**arrays)
    certificate = json.loads(large["certificate.json"])
    certificate["data_file"]["bytes"] = len(content)
    (tmp_path / NPZ).write_bytes(content)
    sha = hashlib.sha256(content).hexdigest()
    path = written(digested(certificate | {"input_sha256": sha}), tmp_path)
    inline = {key: np.vectorize(str)(x).tolist() for key, x in arrays.items()}
    (tmp_path / "in").mkdir()
    one = digested({**certificate, "data": inline, "data_file": None,
                    "input_sha256": hashlib.sha256(canonical(inline)).hexdigest()})  # fmt: skip
    expected = checker.check_file(written(one, tmp_path / "in"))
    assert fast.check_file(path).status == expected.status


def test_other_claims_have_no_archive(large: dict[str, bytes], tmp_path: Path) -> None:
    content = large[NPZ]
    (tmp_path / NPZ).write_bytes(content)
    path = written(pointed(CASES["interpolation"](), NPZ, content), tmp_path)
    assert fast.check_file(path).status == "unusable"
    assert checker.check_file(path).status == "over limit"


def test_fractions_are_too_many_for_any_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "INSIDE", 5)
    data = Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, 1], [1, 1]], [5, "1/3", 7])
    proof = prove(data, Prove(heads=2))
    assert proof.certificate is None
    told = [claim.statement for claim in proof.trace]
    assert any("13 numbers, not all of them 64-bit integers" in line for line in told)


def test_the_coq_checkers_say_that_they_read_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = outside(CASES["full-rank"](), tmp_path)
    verdict, theorem = instance(path)
    assert (verdict.status, theorem) == ("unusable", None)
    assert verdict.message == "--kernel cannot read a certificate with a data_file"
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho 'over limit: data in another file'\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setattr(executable, "executable", lambda: program)
    told = executable.check_file(path)
    assert told.message == "verified: this checker cannot read a certificate with a data_file"
    assert executable.check_file(written(b"{", tmp_path)).message.endswith("in another file")


def test_prove_writes_it_on_demand(tmp_path: Path) -> None:
    out, data = tmp_path / "out", tmp_path / "tiny.json"
    data.write_bytes(canonical(CASES["interpolation"]()["data"]))
    words = ["prove", str(data), "--data-file", "--claim", "full-rank", "--out", str(out)]
    assert attncert.main(words) == 0
    assert (out / JSON).read_bytes() == data.read_bytes()
    command = [sys.executable, "checker", "certificate.json"]
    assert subprocess.run(command, cwd=out).returncode == 0
    (out / JSON).write_bytes(b"{}")
    assert subprocess.run(command, cwd=out).returncode == 1
    assert strange(out) == ""  # it is still a report folder
