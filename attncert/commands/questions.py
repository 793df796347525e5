"""The commands that answer a question about data, one line each. Options and help come from the
question, and the output comes from its report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import attncert
from attncert.terminal.options import Sources, command_of
from attncert.terminal.output import deliver, require_memory
from attncert.verify.questions.audit import Attack, Audit
from attncert.verify.questions.compare import Compare
from attncert.verify.questions.fit import Capacity, Fit
from attncert.verify.questions.kruskal import Assume, Kruskal
from attncert.verify.questions.layer import LayerQuestion
from attncert.verify.questions.prove import Prove
from attncert.verify.questions.question import Question

# The functions are imported when their commands run: names of `attncert` are loaded lazily.


def _load_inputs() -> Callable[..., Any]:
    from attncert.verify.third_party.assume.loading import load_inputs

    return load_inputs


def _load_vectors() -> Callable[..., Any]:
    from attncert.verify.kruskal.vectors import load_vectors

    return load_vectors


@dataclass(frozen=True)
class _Entry:
    """A question, the function that answers it, and how its DATA are read."""

    question: type[Question]
    function: Callable[[], Callable[..., Any]]
    load: Callable[[], Callable[..., Any]] = lambda: attncert.load


_QUESTIONS = (
    _Entry(Prove, lambda: attncert.prove),
    _Entry(Fit, lambda: attncert.fit),
    _Entry(Capacity, lambda: attncert.capacity),
    _Entry(Compare, lambda: attncert.compare),
    _Entry(Kruskal, lambda: attncert.kruskal, _load_vectors),
    _Entry(Assume, lambda: attncert.assume, _load_inputs),
    _Entry(Attack, lambda: attncert.attack),
    _Entry(Audit, lambda: attncert.audit),
    _Entry(LayerQuestion, lambda: attncert.layer),
)


def _run(
    entry: _Entry, sources: Sources, question: Question, out: str | None, as_json: bool
) -> int:
    from attncert.reports.answers import report
    from attncert.reports.report import Report

    require_memory()
    arguments, name = dict[str, Any](sources), question.command  # in the function's order
    if (path := sources.get("data")) is not None:  # weights and folders are read by the function
        arguments["data"] = data = entry.load()(path)
        if isinstance(data, attncert.Dataset) and not question.unlabelled:
            _ = data.labels  # raises InputError if there are none
        name = data.name if question.command == "prove" else f"{data.name}-{question.command}"
    folder = Path("attncert-report", name) if out is None else out
    answer_of = entry.function()

    def make(progress: Any) -> Report:
        return report(answer_of(*arguments.values(), question, progress))

    return deliver(make, folder, as_json)


COMMANDS = [command_of(entry.question, partial(_run, entry)) for entry in _QUESTIONS]
