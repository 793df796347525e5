"""The commands that answer a question about data, one line each; options and help come from the
question, the output from its report."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from attncert.terminal.options import Sources, command_of
from attncert.terminal.output import deliver, report_folder, require_apart, require_memory
from attncert.verify.questions.audit import Attack, Audit
from attncert.verify.questions.compare import Compare
from attncert.verify.questions.fit import Capacity, Fit
from attncert.verify.questions.kruskal import Assume, Kruskal
from attncert.verify.questions.layer import LayerQuestion
from attncert.verify.questions.prove import Prove
from attncert.verify.questions.question import Question

_DATA = "attncert.constructions.data.loading:load"
_INPUTS = "attncert.verify.assume.loading:load_inputs"
_VECTORS = "attncert.verify.kruskal.vectors:load_vectors"


@dataclass(frozen=True)
class _Entry:
    """function: of the arguments, the question and progress; returns an Answer. load: reads DATA.
    Both as module:name, imported when the command runs. loads_by: options of the question that
    `load` takes.
    """

    question: type[Question]
    function: str
    load: str = _DATA
    loads_by: tuple[str, ...] = ("unlabelled",)


_QUESTIONS = (
    _Entry(Prove, "attncert.verify.prove:prove"),
    _Entry(Fit, "attncert.verify.near.fitted:fit"),
    _Entry(Capacity, "attncert.verify.capacity.capacity:capacity"),
    _Entry(Compare, "attncert.verify.network.compare:compare"),
    _Entry(Kruskal, "attncert.verify.kruskal.kruskal:kruskal", _VECTORS, ()),
    _Entry(Assume, "attncert.verify.assume.assume:assume", _INPUTS, ("tokens",)),
    _Entry(Attack, "attncert.verify.attack.search:attack"),
    _Entry(Audit, "attncert.verify.audit.audit:audit"),
    _Entry(LayerQuestion, "attncert.verify.layer.layer:layer"),
)


def _run(
    entry: _Entry, sources: Sources, question: Question, out: str | None, as_json: bool
) -> int:
    from attncert.reports.answers import report
    from attncert.reports.report import Report

    require_memory()
    arguments, name = dict[str, Any](sources), question.command  # in the function's order
    if path := sources.get("data"):  # weights and folders are read by the function
        options = {option: getattr(question, option) for option in entry.loads_by}
        arguments["data"] = _imported(entry.load)(path, **options)
        data = arguments["data"].name
        name = data if question.command == "prove" else f"{data}-{question.command}"
    answer_of, folder = _imported(entry.function), report_folder(out, name)
    require_apart(getattr(question, "log", None), folder)

    def make(progress: Any) -> Report:
        return report(answer_of(*arguments.values(), question, progress))

    return deliver(question, make, folder, as_json)


def _imported(place: str) -> Callable[..., Any]:
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)


COMMANDS = [command_of(entry.question, partial(_run, entry)) for entry in _QUESTIONS]
