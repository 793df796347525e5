"""How every command ends in the same way: nothing else writes to a terminal, or a report."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, redirect_stdout, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from attncert.constructions.foreign import escaped
from attncert.terminal.progress import quiet

if TYPE_CHECKING:
    from attncert.reports.report import Report
    from attncert.terminal.progress import Stages
    from attncert.verify.questions.question import Question


_LEAST = 2**30  # bytes of address space


def report_folder(out: str | None, name: str) -> str | Path:
    """What --out says, else attncert-report/NAME."""
    return Path("attncert-report", name) if out is None else out


def require_memory() -> None:
    """Raises InputError for a limit of the address space below 1 GiB: OpenBLAS asks for ever for
    memory that it is refused, and hears no signal meanwhile."""
    with suppress(ImportError):  # there is no such limit on Windows
        import resource

        from attncert.constructions.errors import InputError

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if 0 <= limit < _LEAST:
            must = f"{_LEAST >> 10} KiB or more, or unlimited"
            raise InputError("ulimit -v", must, limit >> 10)


def require_apart(log: str | None, folder: str | Path) -> None:
    """A folder that holds the log could not be replaced by the report's, in the end."""
    from attncert.constructions.errors import InputError

    target = os.path.realpath(folder)
    if log is not None and "\0" not in log and Path(os.path.realpath(log)).is_relative_to(target):
        raise InputError("log", "a file outside the folder of the report (--out)", log)


def deliver(
    question: Question, make: Callable[[Stages], Report], folder: str | Path, as_json: bool
) -> int:
    """Make a report, write it to `folder`, say what came out; returns its exit status.

    A folder that may not be written is refused before the work. A Ctrl-C that says what is kept is
    an Interrupted.
    """
    from attncert.reports.folder import check_folder, command_of, write
    from attncert.terminal.progress import Stages

    check_folder(folder)
    try:
        with answer_alone(), Stages() as progress:
            report = make(progress)
    except KeyboardInterrupt as interrupt:
        if not str(interrupt):
            raise
        raise Interrupted(f"no report was written; {interrupt}") from None
    before = command_of(folder)
    write(report, folder)
    other = before and before != report.summary["command"]
    instead = [f"It takes the place of the report of: {before}"] if other else []
    _say(report.summary, [*report.sentences, *instead], Path(folder), as_json)
    return report.exit_status


def _say(
    summary: Mapping[str, Any], sentences: Sequence[str], folder: Path | None, as_json: bool
) -> None:
    """summary: for --json; folder: where the report is, None: nowhere."""
    from attncert.reports.report import PAGE

    if as_json:
        print_json({**summary, "report": folder and str(folder)})
    else:
        say(*sentences, *([f"Report: {folder / PAGE}"] if folder else []))


def answer_alone() -> AbstractContextManager[Any]:
    """A block of work in which libraries, and other people's constructions, may print: on stderr,
    since stdout is for the answer."""
    return redirect_stdout(sys.stderr)


def say(*lines: str, error: bool = False) -> None:
    """Lines on stdout (error: on stderr, if anything can be written there): one for each argument,
    whatever is in it."""
    if quiet.get() and not error:
        return
    with suppress(*[OSError] if error else []):
        typer.echo("\n".join(map(escaped, lines)), err=error)


def print_json(content: dict[str, Any]) -> None:
    """JSON alone on stdout, keys sorted, every character outside printable ASCII escaped."""
    text = json.dumps(content, sort_keys=True, indent=1)
    typer.echo(text.replace("\x7f", "\\u007f"))  # DEL, which JSON leaves as it is


class Interrupted(Exception):
    """Ctrl-C where something was kept: the message says what."""
