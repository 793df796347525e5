"""What every report is: files for a folder of its kind, the same as data, sentences, exit status.

A kind of report is described here and nowhere else: its page, and what else its folder may hold.
From this `folder.py` knows what is ours. Nothing heavy is imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from attncert.constructions.brief import in_brief

__all__ = [
    "ANSWER",
    "HTML_MARK",
    "KINDS",
    "MARK",
    "REPOSITORY",
    "Kind",
    "Report",
]

MARK = "<!-- attncert report/1 -->"  # with it every page begins
HTML_MARK = f"<!doctype html>\n{MARK}"  # and with this, every page for a browser
REPOSITORY = ""  # where docs/ is read on the web, e.g. https://github.com/NAME/attncert


@dataclass(frozen=True)
class Kind:
    """page: the file to read first. files: others beside it. figures: of `figures/NAME.svg`, the
    names."""

    name: str
    page: str
    files: tuple[str, ...]
    figures: tuple[str, ...] = ()

    @property
    def html(self) -> str:
        """The page for a browser: the same text (reports/html.py)."""
        return self.page.removesuffix(".md") + ".html"

    def holds(self, name: str) -> bool:
        """Whether a file of this name belongs to such a report.

        >>> ANSWER.holds("figures/steps.svg"), ANSWER.holds("figures/mine.svg")
        (True, False)
        """
        names = (self.page, self.html, *self.files)
        names += tuple(map(figure_file, self.figures))
        return name in names


def figure_file(name: str) -> str:
    return f"figures/{name}.svg"


ANSWER = Kind(
    "answer",
    "report.md",
    (
        "answer.json", "timings.json", "certificate.json", "certificate-every-labelling.json",
        "certificate-data.json", "certificate-data.npz", "first-layer.json", "tables.tex",
        "references.bib", "fractions.csv", "spectra.csv",
    ),
    (
        "graph", "saturation", "saturation-c", "own-weights", "largest-weights", "heads",
        "fractions", "spectra", "ranks", "steps",
    ),
)  # fmt: skip
KINDS = (ANSWER,)


@dataclass(frozen=True)
class Report:
    """One report, ready to be written.

    files:       contents by name, the page among them; ValueError for what is not its kind's.
    summary:     for `--json`: JSON-able.
    sentences:   for a terminal, one on each line; the first is the answer.
    exit_status: 0 it holds; 1 it does not; 3 undecided.
    """

    kind: Kind
    files: Mapping[str, bytes]
    summary: Mapping[str, Any]
    sentences: tuple[str, ...]
    exit_status: int

    def __repr__(self) -> str:
        return in_brief(self, self.kind.name, *self.sentences[:1], files=len(self.files))

    def __post_init__(self) -> None:
        strange = sorted(name for name in self.files if not self.kind.holds(name))
        if strange:
            raise ValueError(f"{self.kind.name}: not names of ours: {strange}")
        if not self.files.get(self.kind.page, b"").startswith(MARK.encode()):
            raise ValueError(f"{self.kind.page} must begin with {MARK}")
