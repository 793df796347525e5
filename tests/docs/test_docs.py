"""The documentation's examples run, its links exist, and kernel.md lists the Coq theorems."""

from __future__ import annotations

import hashlib
import importlib
import re
import shlex
from pathlib import Path

import pytest
from support.paths import ROOT
from support.requires import KERNEL

import attncert
from attncert.constructions.data.loading import parse_json

PAGES = sorted(
    page for folder in (".", "docs", "benchmarks") for page in ROOT.glob(f"{folder}/*.md")
)
NAMED = re.compile(
    r"(?<![\w/.-])((?:tests|benchmarks|verify|constructions|reports|examples)/[\w/.-]+\.\w+)"
)


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.slow
@pytest.mark.usefixtures("proved_once")
def test_the_readme_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (program,) = blocks(ROOT / "README.md", "python")
    monkeypatch.chdir(tmp_path)
    exec(compile(program, "README.md", "exec"), {})
    assert (tmp_path / "my-report" / "report.md").exists()


PRINTED = ["README.md", "docs/models-and-layers.md"]


@pytest.mark.parametrize(
    "page", [*PRINTED, pytest.param("docs/constructions.md", marks=pytest.mark.slow)]
)
def test_the_commands_print_what_a_page_shows(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for session in blocks(ROOT / page, "console"):
        command, _, shown = session.partition("\n")
        words = shlex.split(command.removeprefix("$ "))
        assert words[0] == "attncert"
        attncert.main(words[1:])
        assert capsys.readouterr().out == shown


def test_the_python_of_the_command_guide_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (program,) = blocks(ROOT / "docs" / "commands.md", "python")
    monkeypatch.chdir(tmp_path)
    exec(compile(program, "commands.md", "exec"), {})
    assert f"# {capsys.readouterr().out}" in program


def test_the_network_shown_is_the_example_file() -> None:
    (network,) = blocks(ROOT / "docs" / "models-and-layers.md", "json")
    assert (ROOT / "examples" / "network.json").read_text() == network


def test_the_data_shown_are_the_example_file() -> None:
    data, text = blocks(ROOT / "docs" / "commands.md", "json")
    assert parse_json(text.encode()).T == 18
    assert (ROOT / "examples" / "tiny.json").read_text() == data


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text())
    missing = [t for t in targets if not t.startswith("http") and not (page.parent / t).exists()]
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_files_that_are_named_exist(page: Path) -> None:
    assert [name for name in NAMED.findall(page.read_text()) if not (ROOT / name).exists()] == []


def test_the_tables_of_options_are_those_of_the_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a change, run `python docs/make_commands.py`."""
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    tables = importlib.import_module("make_commands")
    text = tables.PAGE.read_text()
    assert tables.page(text) == text
    for question in tables.asked():
        assert f"<!-- options: {question.command} -->" in text


PAGE = (ROOT / "docs" / "kernel.md").read_text()
HEADLINES = (KERNEL / "headlines.txt").read_text().split()


def test_the_table_has_every_theorem_of_the_theory() -> None:
    """A row names theorems and their file; "`name`, `…_real`" stands for two names. Every theorem
    in the table of paper.md has a row."""
    named = set()
    for theorems, file in re.findall(
        r"^\| (`.*?`) \| `(?:checker/)?(\w+)\.v` \|", PAGE, re.MULTILINE
    ):
        first, *others = re.findall(r"`(.+?)`", theorems)
        named |= {f"{file}.{first}", *(f"{file}.{x.replace('…', first)}" for x in others)}
    theory = {x for x in HEADLINES if (KERNEL / "theory" / f"{x.split('.')[0]}.v").exists()}
    assert theory <= named <= set(HEADLINES)
    stated = re.findall(r"^\| \[.* \| (.*) \|$", (ROOT / "docs/paper.md").read_text(), re.MULTILINE)
    cited = set(re.findall(r"`(\w+)`", " ".join(stated)))
    assert len(cited) >= 8 and cited <= {x.split(".")[1] for x in named}


def test_the_headlines_are_theorems_with_their_axioms_listed() -> None:
    listed = re.findall(r"^\S+$", (KERNEL / "axioms.txt").read_text(), re.MULTILINE)
    assert listed == HEADLINES
    for headline in HEADLINES:
        module, name = headline.split(".")
        (path,) = KERNEL.glob(f"*/{module}.v")
        assert re.search(rf"^(Theorem|Corollary|Lemma) {name}\b", path.read_text(), re.MULTILINE)


def test_the_hash_of_the_checker_is_published() -> None:
    files = sorted((ROOT / "verify" / "checker").glob("*.py"))
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()
    assert f"`{digest}`" in (ROOT / "docs" / "certificate.md").read_text()
