"""`attncert check FOLDER`: a forged checker is reported, whatever the folder says."""

from __future__ import annotations

import json
import marshal
import shutil
from importlib.util import MAGIC_NUMBER, cache_from_source
from pathlib import Path

import pytest
from support.paths import ROOT
from support.shell import Shell

import attncert
from attncert.verify.certificates.certificate import sealed

PROVE = ["prove", str(ROOT / "examples" / "tiny.json"), "--heads", "2", "--out"]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report") / "tiny"
    assert attncert.main([*PROVE, str(folder)]) == 0
    return folder


@pytest.fixture
def folder(written: Path, tmp_path: Path) -> Path:
    shutil.copytree(written, tmp_path / "tiny")
    return tmp_path / "tiny"


def test_an_untouched_folder_has_the_installed_checker(folder: Path, shell: Shell) -> None:
    holds, checker, trust = shell.runs("check", folder).out.splitlines()
    assert holds.startswith("holds: ") and "checker is that of attncert" in checker
    assert trust.startswith("Trust attncert explain")


def _line_of_code(folder: Path) -> None:
    shutil.rmtree(folder / "checker")
    (folder / "checker").mkdir()
    (folder / "checker" / "__main__.py").write_text("print('holds')\n")


def _further_file(folder: Path) -> None:
    (folder / "checker" / "json.py").write_text("")


def _compiled(folder: Path) -> None:
    """A compiled file that Python runs instead of claims.py: its header says not to compare it with
    the source."""
    code = marshal.dumps(compile("raise SystemExit('holds: forged')", "claims.py", "exec"))
    path = Path(cache_from_source(str(folder / "checker" / "claims.py")))
    path.parent.mkdir()
    path.write_bytes(MAGIC_NUMBER + (1).to_bytes(12, "little") + code)


def _linked_folder(folder: Path) -> None:
    (folder.parent / "other").mkdir()
    (folder / "checker" / "__pycache__").symlink_to(folder.parent / "other")


FORGED = {
    "checker": (_line_of_code, "not that of attncert 0.1.0 (__init__.py, __main__.py, arith"),
    "further file": (_further_file, "(json.py): do not run it."),
    "compiled": (_compiled, "not that of attncert 0.1.0 (__pycache__/claims."),
    "linked folder": (_linked_folder, "not that of attncert 0.1.0 (__pycache__): do not run it."),
}


@pytest.mark.parametrize("name", FORGED)
def test_what_was_forged_is_named(name: str, folder: Path, shell: Shell) -> None:
    forge, says = FORGED[name]
    forge(folder)
    printed = shell.runs("check", folder, status=1).out
    assert printed.startswith("holds: ") and says in printed


def test_a_checker_of_another_version_is_not_called_forged(folder: Path, shell: Shell) -> None:
    path = folder / "certificate.json"
    content = json.loads(path.read_text())
    del content["digest"]
    content["produced_by"]["version"] = "0.0.9"
    path.write_text(json.dumps(sealed(content)))
    assert shell.runs("check", folder, status=0)
    _line_of_code(folder)
    printed = shell.runs("check", folder, status=3).out
    assert "do not run it. The certificate names version 0.0.9." in printed


def test_without_a_checker_nothing_is_compared(folder: Path, tmp_path: Path, shell: Shell) -> None:
    (tmp_path / "alone").mkdir()
    shutil.copy(folder / "certificate.json", tmp_path / "alone")
    assert shell.runs("check", tmp_path / "alone").out.count("\n") == 1
    shutil.rmtree(folder / "checker")
    assert "Trust attncert explain" in shell.runs("check", folder).out


def test_json_has_the_sentences(folder: Path, shell: Shell) -> None:
    found = json.loads(shell.runs("check", folder, "--json").out)
    assert found["status"] == "holds" and len(found["folder"]) == 2
