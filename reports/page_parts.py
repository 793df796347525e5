"""The part of a report that differs from command to command."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from attncert.reports.report import Table
from attncert.reports.words.drawing import Picture


@dataclass(frozen=True)
class PageParts:
    """The parts of a report that depend on its command: the template of report.md and its names,
    exhibits for answer.json, further files, and what a terminal and a notebook show below the
    verdict."""

    template: str
    context: Mapping[str, Any]
    exhibits: Mapping[str, Any] = field(default_factory=dict)
    figures: Callable[[], Mapping[str, Picture]] = dict
    files: Callable[[], Mapping[str, bytes]] = dict
    more: tuple[str, ...] = ()
    table: Table | None = None
