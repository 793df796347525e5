"""The commands that answer a question about data, one line each; options and help come from the
question, the output from its report."""

from __future__ import annotations

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

# Each is imported when its command runs.


def _prove() -> Callable[..., Any]:
    from attncert.verify.prove.prove import prove

    return prove


def _fit() -> Callable[..., Any]:
    from attncert.verify.fit.fitted import fit

    return fit


def _capacity() -> Callable[..., Any]:
    from attncert.verify.limits.capacity.capacity import capacity

    return capacity


def _compare() -> Callable[..., Any]:
    from attncert.verify.compare.compare import compare

    return compare


def _kruskal() -> Callable[..., Any]:
    from attncert.verify.kruskal.kruskal import kruskal

    return kruskal


def _assume() -> Callable[..., Any]:
    from attncert.verify.third_party.assume.assume import assume

    return assume


def _attack() -> Callable[..., Any]:
    from attncert.verify.audit.attack.search import attack

    return attack


def _audit() -> Callable[..., Any]:
    from attncert.verify.audit.audit import audit

    return audit


def _layer() -> Callable[..., Any]:
    from attncert.verify.third_party.layer.layer import layer

    return layer


def _load() -> Callable[..., Any]:
    from attncert.constructions.data.loading import load

    return load


def _load_inputs() -> Callable[..., Any]:
    from attncert.verify.third_party.assume.loading import load_inputs

    return load_inputs


def _load_vectors() -> Callable[..., Any]:
    from attncert.verify.kruskal.vectors import load_vectors

    return load_vectors


@dataclass(frozen=True)
class _Entry:
    """function: takes the arguments, the question and progress; returns an Answer. load: reads
    DATA. loads_by: options of the question that it takes."""

    question: type[Question]
    function: Callable[[], Callable[..., Any]]
    load: Callable[[], Callable[..., Any]] = _load
    loads_by: tuple[str, ...] = ("unlabelled",)


_QUESTIONS = (
    _Entry(Prove, _prove),
    _Entry(Fit, _fit),
    _Entry(Capacity, _capacity),
    _Entry(Compare, _compare),
    _Entry(Kruskal, _kruskal, _load_vectors, ()),
    _Entry(Assume, _assume, _load_inputs, ("tokens",)),
    _Entry(Attack, _attack),
    _Entry(Audit, _audit),
    _Entry(LayerQuestion, _layer),
)


def _run(
    entry: _Entry, sources: Sources, question: Question, out: str | None, as_json: bool
) -> int:
    from attncert.reports.answers import report
    from attncert.reports.report import Report

    require_memory()
    arguments, name = dict[str, Any](sources), question.command  # arguments in the function's order
    if (path := sources.get("data")) is not None:  # weights and folders are read by the function
        options = {option: getattr(question, option) for option in entry.loads_by}
        arguments["data"] = entry.load()(path, **options)
        data = arguments["data"].name
        name = data if question.command == "prove" else f"{data}-{question.command}"
    answer_of, folder = entry.function(), report_folder(out, name)
    require_apart(getattr(question, "log", None), folder)

    def make(progress: Any) -> Report:
        return report(answer_of(*arguments.values(), question, progress))

    return deliver(question, make, folder, as_json)


COMMANDS = [command_of(entry.question, partial(_run, entry)) for entry in _QUESTIONS]
