"""The part of a report that differs from command to command."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from attncert.reports.report import Table
from attncert.reports.words.drawing import Picture


@dataclass(frozen=True)
class PageParts:
    """The parts of a report that depend on its command.

    template: the template of report.md; context: the names that it uses besides the answer.
    exhibits: content of answer.json that can be written as JSON. figures, files: make the figures
              and other files, by name.
    more: sentences after the verdict, for a terminal and a notebook. table: shown below them in a
    notebook.
    """

    template: str
    context: Mapping[str, Any]
    exhibits: Mapping[str, Any] = field(default_factory=dict)
    figures: Callable[[], Mapping[str, Picture]] = dict
    files: Callable[[], Mapping[str, bytes]] = dict
    more: tuple[str, ...] = ()
    table: Table | None = None
