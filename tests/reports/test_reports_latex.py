"""tables.tex through a real LaTeX: every kind of report, text meant to break it, every letter."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from support.paths import ROOT
from support.proof_fixtures import KINDS, rendered
from support.requires import require

from attncert.reports.words.text import latex, latex_verbatim

MISSING = "pdflatex is missing (Debian: texlive-latex-base, texlive-latex-recommended)"


def compiled(folder: Path, body: str) -> str:
    """What pdfLaTeX says of a document with this body; fails where it stops."""
    require("latex", shutil.which("pdflatex") is not None, MISSING)
    packages = "booktabs,amsmath,amssymb,array,tabularx,url"
    (folder / "paper.tex").write_text(
        f"\\documentclass{{article}}\n\\usepackage{{{packages}}}\n\\begin{{document}}\n{body}\n"
        "\\end{document}\n"
    )
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"],
        cwd=folder, capture_output=True, text=True, check=False, errors="replace",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-1500:]
    assert (folder / "paper.pdf").stat().st_size > 1000
    return done.stdout


@pytest.mark.slow
def test_the_tables_compile(tmp_path: Path) -> None:
    tables = [rendered(kind)[1]["tables.tex"].decode() for kind in KINDS]
    pages = (ROOT / "docs" / "gallery").glob("*/tables.tex")
    tables += [page.read_text("utf-8") for page in pages]
    said = compiled(tmp_path, "\n\\clearpage\n".join(tables))
    assert "Missing character" not in said and "Float too large" not in said


@pytest.mark.slow
def test_every_letter_compiles(tmp_path: Path) -> None:
    letters = [chr(k) for k in (*range(32, 0x250), *range(0x1D00, 0x2300))]
    prose = [latex_verbatim(f"x{c}y") for c in letters]
    mathematics = [latex(f"$a {c}$") for c in letters if c.isalpha() and not c.isascii()]
    compiled(tmp_path, "\n\n".join(prose + mathematics))


@pytest.mark.slow
def test_a_planted_defect_is_seen(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="Undefined control sequence"):
        compiled(tmp_path, r"\nothing")
    with pytest.raises(AssertionError, match="not set up for use with LaTeX"):
        compiled(tmp_path, "uvᵀ")


def test_dashes_of_options_and_letters_are_kept() -> None:
    said = latex("uvᵀ (--head-width 4), 2⁻³ ≤ ε over ℚ; Gößl – Ǹ")
    assert said == (
        r"uv\textsuperscript{T} (-{}-head-width 4), 2\textsuperscript{-}"
        r"\textsuperscript{3} \ensuremath{\le} \ensuremath{\varepsilon} over "
        r"\ensuremath{\mathbb{Q}}; G\"{o}\ss{}l -- \`{N}"
    )
