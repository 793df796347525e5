"""From an answer to its report: what all reports have, around what each room says in its own words.

| file | what it is |
| --- | --- |
| `report.md`, `report.html` | the page: verdict first |
| `answer.json` | the answer as data: command, standing, statement, settings, claims, exhibits |
| `certificate.json` | what `attncert check` and `python checker certificate.json` re-derive |
| `timings.json` | times and versions, the only place for them |
| `figures/*.svg` | figures |
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from attncert.constructions.foreign import printable
from attncert.reports.folder import write
from attncert.reports.report import ANSWER, Report
from attncert.reports.words.claims import lines
from attncert.reports.words.jsonable import jsonable, readable_json
from attncert.reports.words.levels import WORDING, legend
from attncert.reports.words.templating import page
from attncert.reports.words.text import plain, sentence
from attncert.verify.certificate import canonical_bytes
from attncert.verify.claims.answer import Answer

__all__ = ["Room", "envelope", "in_notebook", "report", "verdict", "write_report"]

FORMAT = "attncert-answer/1"

# The room of each command: its module has a function `room` of the answer.
ROOMS = {
    "capacity": "attncert.reports.capacity.page",
    "fit": "attncert.reports.fit.page",
}


@dataclass(frozen=True)
class Room:
    """What a report says in its own words.

    template: of report.md, with what it needs besides the answer. exhibits: for answer.json,
    JSON-able. files: figures, tables, and the like, by name. more: sentences for a terminal behind
    the verdict.
    """

    template: str
    context: Mapping[str, Any]
    exhibits: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)
    more: tuple[str, ...] = ()


def write_report(answer: Answer, folder: str | os.PathLike[str]) -> list[Path]:
    """Write the report of any answer to `folder`; returns the paths. Raises InputError.

    >>> from tempfile import TemporaryDirectory
    >>> from attncert import Dataset, Fit, fit
    >>> data = Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, 1], [1, 1]], [5, "1/3", 7])
    >>> with TemporaryDirectory() as folder:
    ...     paths = write_report(fit(data, Fit(heads=2)), folder)
    >>> "certificate.json" in [path.name for path in paths]
    True
    """
    return write(report(answer), folder)


def report(answer: Answer) -> Report:
    """Pure: equal answers give equal bytes, timings.json apart."""
    room = room_of(answer)
    files = {
        "report.md": page(room.template, _context(answer) | dict(room.context)),
        "answer.json": readable_json(envelope(answer, room)),
        "timings.json": readable_json(jsonable({"seconds": dict(answer.seconds)})),
        **room.files,
    }
    if answer.certificate is not None:
        files["certificate.json"] = canonical_bytes(answer.certificate)
    sentences = (verdict(answer), *room.more)
    return Report(ANSWER, files, envelope(answer), sentences, answer.exit_status)


def room_of(answer: Answer) -> Room:
    module = importlib.import_module(ROOMS[answer.question.command])
    room: Room = module.room(answer)
    return room


def verdict(answer: Answer) -> str:
    """For a terminal: the level and the statement; where it does not hold, why."""
    line = f"{WORDING[answer.standing].opener} {plain(sentence(answer.statement))}"
    why = "" if answer.holds else answer.reason
    return f"{line} {plain(sentence(why))}" if why else line


def envelope(answer: Answer, room: Room | None = None) -> dict[str, Any]:
    """The answer as data, JSON-able, without times; the exhibits only in the report's file."""
    record = {
        "format": FORMAT,
        "command": answer.question.line(),
        "standing": answer.standing.value,
        "statement": verdict(answer),
        "settings": answer.question.settings(),
        "claims": answer.trace.as_dict()["claims"],
        "certificate": None if answer.certificate is None else "certificate.json",
    }
    return jsonable(record if room is None else record | {"exhibits": dict(room.exhibits)})


def in_notebook(answer: Answer) -> str:
    """The verdict in Markdown."""
    return f"> **{WORDING[answer.standing].opener}** {sentence(answer.statement)}"


def _context(answer: Answer) -> dict[str, Any]:
    """What every template may use."""
    return {
        "answer": answer,
        "data": answer.data,
        "name": answer.data.name,
        "verdict": verdict(answer),
        "level": answer.standing.value.capitalize(),
        "meaning": WORDING[answer.standing].meaning,
        "lines": lines(answer.trace),
        "levels": legend(claim.level for claim in answer.trace),
        "command": printable(answer.question.line()),
    }
