"""What every command prints in the same way: nothing else writes to a terminal."""

from __future__ import annotations

import json
from contextlib import suppress
from contextvars import ContextVar
from typing import Any

import typer

from attncert.constructions.foreign import escaped

quiet: ContextVar[bool] = ContextVar("quiet", default=False)
"""Whether only errors, and what --json asks for, are printed (--quiet)."""


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
