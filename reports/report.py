"""The record of a report: its files, its content as data, its sentences, its exit status.

The names of all files that a report folder may hold are listed only here. Nothing heavy is
imported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from attncert.constructions.foreign import safe_name
from attncert.reports.words.text import MARK

HTML_MARK = f"<!doctype html>\n{MARK}"  # the beginning of every page for a browser

PAGE, HTML_PAGE = "report.md", "report.html"  # the page in Markdown, and for a browser
FILES = (
    PAGE, HTML_PAGE, "answer.json", "timings.json", "certificate.json",
    "certificate-every-labelling.json", "certificate-some-labellings.json",
    "certificate-data.json", "certificate-data.npz",
    "references.bib",
)  # fmt: skip
_AUTHORS = re.compile(r"construction/[A-Za-z0-9._-]+")
FIGURES = ("graph", "saturation")


def is_report_file(name: str) -> bool:
    """Whether a file with this name belongs to a report.

    >>> is_report_file("figures/graph.svg"), is_report_file("figures/mine.svg")
    (True, False)
    >>> is_report_file(author_file("my_proof.py"))
    True
    """
    return name in FILES or name in map(figure_file, FIGURES) or bool(_AUTHORS.fullmatch(name))


def author_file(name: str) -> str:
    """The path of a third party's construction in the folder."""
    return f"construction/{safe_name(name, 'construction.py')}"


def figure_file(name: str) -> str:
    return f"figures/{name}.svg"


@dataclass(frozen=True)
class Table:
    """Rows of cells, each a sentence in the form of `reports/words/text.py`, and a note below."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class PageParts:
    """The parts of a report that depend on its command: the template of report.md and its names,
    exhibits for answer.json, further files, and what a terminal and a notebook show below the
    verdict."""

    template: str
    context: Mapping[str, Any]
    exhibits: Mapping[str, Any] = field(default_factory=dict)
    figures: Callable[[], Mapping[str, bytes]] = dict
    files: Callable[[], Mapping[str, bytes]] = dict
    more: tuple[str, ...] = ()
    table: Table | None = None


@dataclass(frozen=True, repr=False)
class Report:
    """One report, ready to be written: files by name (ValueError for names that no report has), the
    JSON-able content of `--json`, and the lines for a terminal, of which the first is the answer.
    """

    files: Mapping[str, bytes]
    summary: Mapping[str, Any]
    sentences: tuple[str, ...]
    exit_status: int

    def __post_init__(self) -> None:
        strange = sorted(name for name in self.files if not is_report_file(name))
        if strange:
            raise ValueError(f"not names of a report's files: {strange}")
        if not self.files.get(PAGE, b"").startswith(MARK.encode()):
            raise ValueError(f"{PAGE} must begin with {MARK}")
