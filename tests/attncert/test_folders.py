"""`attncert check FOLDER`: a forged checker or report is named, whatever the folder says."""

from __future__ import annotations

import json
import marshal
import shutil
import subprocess
import sys
from importlib.util import MAGIC_NUMBER, cache_from_source
from pathlib import Path
from typing import Any

import pytest
from support.paths import ROOT
from support.shell import Shell

import attncert
from attncert.commands.certificates import compared
from attncert.constructions.network.file import as_json
from attncert.reports.html import html_page
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


@pytest.fixture
def again(written: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The command lines that would write the report again; here it is copied instead."""
    lines: list[list[str]] = []

    def run(command: list[str], **_: Any) -> None:
        lines.append(command[3:])
        shutil.copytree(written, command[-1])

    monkeypatch.setattr(compared.subprocess, "run", run)
    return lines


@pytest.mark.slow
def test_a_report_is_written_again_byte_for_byte(tmp_path: Path, shell: Shell) -> None:
    folder = tmp_path / "tiny"
    subprocess.run([sys.executable, "-m", "attncert", *PROVE, str(folder)], check=True)
    holds, checker, report, trust = shell.runs("check", folder).out.splitlines()
    assert holds.startswith("holds: ") and "checker is that of attncert" in checker
    assert report.startswith("The report is what attncert ") and "Trust attncert expl" in trust


def _line_of_code(folder: Path) -> None:
    shutil.rmtree(folder / "checker")
    (folder / "checker").mkdir()
    (folder / "checker" / "__main__.py").write_text("print('holds')\n")


def _further_file(folder: Path) -> None:
    (folder / "checker" / "json.py").write_text("")


def _compiled(folder: Path) -> None:
    """A compiled file that Python runs instead of claims.py: its header says that it is not to be
    compared with the source."""
    code = marshal.dumps(compile("raise SystemExit('holds: forged')", "claims.py", "exec"))
    path = Path(cache_from_source(str(folder / "checker" / "claims.py")))
    path.parent.mkdir()
    path.write_bytes(MAGIC_NUMBER + (1).to_bytes(12, "little") + code)


def _linked_folder(folder: Path) -> None:
    (folder.parent / "other").mkdir()
    (folder / "checker" / "__pycache__").symlink_to(folder.parent / "other")


def _page(folder: Path) -> None:
    page = folder / "report.md"
    page.write_text(page.read_text().replace("all 3 examples", "all 300 examples"))


def _link(folder: Path) -> None:
    (folder / "report.html").rename(folder.parent / "other.html")
    (folder / "report.html").symlink_to("../other.html")


def _figure(folder: Path) -> None:
    (folder / "figures" / "graph.svg").write_text("<svg/>")
    page = folder / "report.html"
    page.write_text(page.read_text().replace("all 3 examples", "all 300 examples"))


FORGED = {
    "checker": (_line_of_code, "not that of attncert 0.1.0 (__init__.py, __main__.py, arith"),
    "further file": (_further_file, "(json.py): do not run it."),
    "compiled": (_compiled, "not that of attncert 0.1.0 (__pycache__/claims."),
    "linked folder": (_linked_folder, "not that of attncert 0.1.0 (__pycache__): do not run it."),
    "page": (_page, "The report is not what attncert 0.1.0 writes: report.md."),
    "link": (_link, "The report is not what attncert 0.1.0 writes: report.html."),
    "figure and page": (_figure, "writes: figures/graph.svg, report.html."),
    "answer": (lambda x: (x / "answer.json").unlink(), "writes: answer.json."),
}


@pytest.mark.parametrize("name", FORGED)
def test_what_was_forged_is_named(
    name: str, folder: Path, again: list[list[str]], shell: Shell
) -> None:
    forge, says = FORGED[name]
    forge(folder)
    printed = shell.runs("check", folder, status=1).out
    assert printed.startswith("holds: ") and says in printed
    assert again


def test_figures_that_are_drawn_otherwise_are_named(
    folder: Path, again: list[list[str]], shell: Shell
) -> None:
    """The figures, also in the HTML page, are as another version draws them."""
    (folder / "figures" / "graph.svg").write_bytes(b"<svg/>")
    names = ["report.md", *(f"figures/{path.name}" for path in (folder / "figures").iterdir())]
    files = {name: (folder / name).read_bytes() for name in names}
    (folder / "report.html").write_bytes(html_page(files["report.md"], files))
    printed = shell.runs("check", folder, status=3).out
    assert "another version of a library or someone else drew: figures/graph.svg." in printed


def resealed(folder: Path, **by: str) -> None:
    """The certificate with another version or command."""
    path = folder / "certificate.json"
    content = json.loads(path.read_text())
    del content["digest"]
    content["produced_by"] |= by
    path.write_text(json.dumps(sealed(content)))


def test_another_version_is_said_and_not_compared(
    folder: Path, again: list[list[str]], shell: Shell
) -> None:
    resealed(folder, version="0.0.9")
    printed = shell.runs("check", folder, status=3).out
    says = "The report was not compared: it is of another version, 0.0.9. The certificate alone: "
    assert printed.startswith(f"{says}holds: ")
    _line_of_code(folder)
    printed = shell.runs("check", folder, status=3).out
    assert "do not run it. The certificate names version 0.0.9." in printed and not again


COMMANDS = [
    "attncert prove DATA --out ../elsewhere",
    "attncert prove DATA --construction own:METHOD",
    "attncert prove DATA --device cuda",
    "attncert prove DATA DATA",
    "attncert prove '",
    "attncert kernel build",
    "rm DATA",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_no_other_command_is_run(
    command: str, folder: Path, again: list[list[str]], shell: Shell
) -> None:
    resealed(folder, command=command)
    printed = shell.runs("check", folder, status=3).out
    assert printed.startswith("The report was not compared: ") and not again


def test_a_folder_of_a_certificate_alone_has_nothing_to_compare(
    folder: Path, tmp_path: Path, again: list[list[str]], shell: Shell
) -> None:
    (tmp_path / "alone").mkdir()
    shutil.copy(folder / "certificate.json", tmp_path / "alone")
    assert shell.runs("check", tmp_path / "alone").out.count("\n") == 1 and not again


def test_json_has_the_sentences(folder: Path, again: list[list[str]], shell: Shell) -> None:
    found = json.loads(shell.runs("check", folder, "--json").out)
    assert found["status"] == "holds" and len(found["folder"]) == 3
    assert again[0][:4] == ["prove", again[0][1], "--heads", "2"]
    assert Path(again[0][1]).name == "tiny.json"


WRITTEN = {  # data, and why their report is not compared, or ""
    "kruskal [[1, 0], [0, 1], [2, 0]]": "",
    'kruskal [[1, 0], ["1/2", 0]]': "its certificate holds multiples of its vectors, or only some",
    "assume [[1, 0], [0, 1], [2, 0]] --tokens 2": "its certificate holds vectors, but it is also",
    "network": "",
    "layer": "its certificate holds blocks, but it is about weights in another form",
}


@pytest.mark.parametrize("case", WRITTEN)
def test_reports_of_other_commands_are_compared_or_it_is_said_why_not(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: Shell
) -> None:
    """The report is written again in this process, which is quicker."""

    def run(command: list[str], **_: Any) -> None:
        assert attncert.main(command[3:]) in (0, 1)

    monkeypatch.setattr(compared.subprocess, "run", run)
    folder, trained = tmp_path / "out", ROOT / "examples" / "trained"
    if case == "network":
        data, blocks = str(ROOT / "examples" / "tiny.json"), tmp_path / "network.json"
        proof = attncert.prove(attncert.load(data), attncert.Prove(construction="relu"))
        blocks.write_text(json.dumps({"network": as_json(proof.network)}))
        line = ["layer", str(blocks), data]
    elif case == "layer":
        line = ["layer", str(trained / "after.npz"), str(trained / "data.npz"), "--heads", "3"]
    else:
        command, _, rest = case.partition(" ")
        vectors, end, options = rest.partition("]]")
        (tmp_path / "v.json").write_text(f'{{"vectors": {vectors}{end}}}')
        line = [command, str(tmp_path / "v.json"), *options.split()]
    attncert.main([*line, "--out", str(folder)])
    printed = shell.runs("check", folder, status=3 if WRITTEN[case] else 0).out
    assert f"The report was not compared: {WRITTEN[case]}" in printed or not WRITTEN[case]
    assert WRITTEN[case] or "The report is what attncert" in printed
    if not WRITTEN[case]:
        page = folder / "report.md"
        page.write_text(page.read_text().replace("Proved.", "Proved!"))
        assert "writes: report.md." in shell.runs("check", folder, status=1).out
