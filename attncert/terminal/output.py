"""Output of all commands: only this module writes to the terminal and starts writing a report."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, redirect_stdout, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from attncert.constructions.foreign import escaped
from attncert.terminal.progress import quiet

if TYPE_CHECKING:
    from attncert.reports.report import Report
    from attncert.terminal.progress import Stages


_LEAST = 2**30  # the smallest address space allowed, in bytes


def require_memory() -> None:
    """Raises InputError for an address space below 1 GiB, in which OpenBLAS never returns."""
    with suppress(ImportError):  # Windows has no such limit
        import resource

        from attncert.constructions.errors import InputError

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if 0 <= limit < _LEAST:
            must = f"{_LEAST >> 10} KiB or more, or unlimited"
            raise InputError("ulimit -v", must, limit >> 10)


def deliver(make: Callable[[Stages], Report], folder: str | Path, as_json: bool) -> int:
    """Make a report, write it to `folder` (refused before the work begins if it cannot be written)
    and print the verdict; returns the exit status."""
    from attncert.reports.folder import check_folder, write
    from attncert.reports.report import PAGE
    from attncert.terminal.progress import Stages

    check_folder(folder)
    with answer_alone(), Stages() as progress:
        report = make(progress)
    write(report, folder)
    if as_json:
        print_json({**report.summary, "report": str(Path(folder))})
    else:
        say(*report.sentences, f"Report: {Path(folder, PAGE)}")
    return report.exit_status


def answer_alone() -> AbstractContextManager[Any]:
    """A context in which other code prints to stderr, so that stdout holds only the answer."""
    return redirect_stdout(sys.stderr)


def say(*lines: str, error: bool = False) -> None:
    """Print each argument as a line on stdout (stderr if `error`), control characters escaped."""
    if quiet.get() and not error:
        return
    with suppress(*[OSError] if error else []):
        typer.echo("\n".join(map(escaped, lines)), err=error)


def print_json(content: dict[str, Any]) -> None:
    """Print JSON on stdout, keys sorted, characters outside printable ASCII escaped."""
    text = json.dumps(content, sort_keys=True, indent=1)
    typer.echo(text.replace("\x7f", "\\u007f"))  # DEL, which JSON does not escape
