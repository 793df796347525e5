"""The documentation's examples run, and what it points to exists."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

import attncert

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)


def test_the_readme_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (program,) = blocks(ROOT / "README.md", "python")
    monkeypatch.chdir(tmp_path)
    exec(compile(program, "README.md", "exec"), {})
    assert (tmp_path / "my-report" / "report.md").exists()


def test_the_readme_commands_print_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for session in blocks(ROOT / "README.md", "console"):
        command, _, shown = session.partition("\n")
        words = shlex.split(command.removeprefix("$ "))
        assert words[0] == "attncert"
        attncert.main(words[1:])
        assert capsys.readouterr().out == shown


def test_the_readme_data_is_the_example_file() -> None:
    (data,) = blocks(ROOT / "README.md", "json")
    assert (ROOT / "examples" / "tiny.json").read_text() == data


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text())
    missing = [t for t in targets if not t.startswith("http") and not (page.parent / t).exists()]
    assert not missing


STOREYS = ("constructions", "verify", "reports", "attncert")


def named(page: str) -> list[str]:
    """Paths in the first column of each storey's table. A folder holds until the next row."""
    found = []
    for section in re.split(r"^## ", page, flags=re.MULTILINE)[1:]:
        storey = section.partition("/")[0]
        for cell in re.findall(r"^\| (`[^|]*) \|(?=[^|]*\|$)", section, re.MULTILINE):
            folder = storey
            for name in re.findall(r"`([^`]+)`", cell):
                inner, _, file = name.rpartition("/")
                folder = f"{storey}/{inner}" if inner else folder
                found.append(f"{folder}/{file}".rstrip("/"))
        if storey in STOREYS:  # files named in the row of their folder
            rows = re.findall(r"^\| `(\w+)/` \| (.*) \|$", section, re.MULTILINE)
            for inner, text in rows:
                found += [f"{storey}/{inner}/{file}" for file in re.findall(r"`(\w+\.py)`", text)]
    return [path for path in found if path.startswith(STOREYS)]


def test_the_house_has_the_files_that_are_named_and_no_others() -> None:
    names = named((ROOT / "docs" / "architecture.md").read_text())
    files = {
        path.relative_to(ROOT).as_posix() for s in STOREYS for path in ROOT.glob(f"{s}/**/*.py")
    }
    assert [name for name in names if not (ROOT / name).exists()] == []
    assert sorted(f for f in files - set(names) if not f.endswith("/__init__.py")) == []
    assert [name for name in names if names.count(name) > 1] == []
