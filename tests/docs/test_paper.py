"""docs/paper.md: LaTeX can typeset the paper's letters, and its numbers agree with the reports."""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
from pathlib import Path
from types import ModuleType

import pytest
from support.paths import ROOT
from support.requires import require

PAPER = (ROOT / "docs" / "paper.md").read_text("utf-8")
GALLERY = ROOT / "docs" / "gallery"
PRICED = re.compile(r"^\| [^|]+ \| ([\d,]+ \| [\d,]+ \| [\d,]+) \|$", re.MULTILINE)
CHECKED = "Proofs, attacks and what is kernel-checked"
CERTIFIED = re.compile(r"^\| [^|]+ \| (\d[\d, ]+ \| \d[\d, ]+) \|$", re.MULTILINE)


@pytest.fixture
def maker(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    return importlib.import_module("make_paper")


def section(heading: str) -> str:
    return PAPER.split(f". {heading}\n")[1].split("\n## ")[0]


def numbers(text: str) -> set[str]:
    return set(re.findall(r"\d[\d,]*\b", text))


def test_every_letter_of_the_paper_is_known(maker: ModuleType) -> None:
    assert "[U+" not in maker.document(PAPER)
    assert "[U+4E00]" in maker.document(f"{PAPER}\n一\n")
    assert '"' not in PAPER  # LaTeX has two kinds of quotes


@pytest.mark.slow
def test_it_compiles(maker: ModuleType, tmp_path: Path) -> None:
    missing = "pdflatex is missing (Debian: texlive-latex-base, texlive-latex-recommended)"
    require("latex", shutil.which("pdflatex") is not None, missing)
    (tmp_path / "paper.tex").write_text(maker.document(PAPER), "utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    subprocess.run(command, cwd=tmp_path, stdout=subprocess.DEVNULL, check=True)
    assert (tmp_path / "paper.pdf").stat().st_size > 1000


def test_attacks_are_counted_as_on_the_page_of_the_proof() -> None:
    rows = re.findall(
        r"^\| (\[.+?) \| \[([\w-]+\.md)\]\S+ \| (.+?) \|", section(CHECKED), re.MULTILINE
    )
    assert len(rows) == 18
    for theorem, page, counts in rows:
        counted = numbers((ROOT / "docs" / page).read_text("utf-8"))
        assert counts == "none" or set(counts.split("; ")) <= counted, theorem


def test_the_figures_are_those_of_the_reports() -> None:
    compared = (GALLERY / "digits-compared" / "report.md").read_text("utf-8").splitlines()
    priced = PRICED.findall(section("Networks beside attention"))
    assert len(priced) == 7
    for row in priced:
        assert any(numbers(row) <= numbers(line) for line in compared), row
    points = numbers((GALLERY / "experiments" / "report.md").read_text("utf-8"))
    certified = CERTIFIED.findall(section("What the experiments of 2024 show"))
    assert len(certified) == 5
    assert {x for row in certified for x in re.findall(r"\d+", row)} <= points
