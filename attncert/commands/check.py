"""attncert check: a certificate, from the file alone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from attncert.commands.output import print_json, say
from attncert.commands.stdin import as_file
from attncert.constructions.errors import InputError

_WHAT = {
    "UnicodeDecodeError": "one that is not text (UTF-8)",
    "JSONDecodeError": "one that is not JSON",
    "ValueError": "one with a number that is not an integer, or too long",
    "RecursionError": "one that is nested too deeply",
    "MemoryError": "one that needs more memory than there is",
} | dict.fromkeys(
    ("TypeError", "KeyError", "IndexError", "AttributeError"), "one with a part of another type"
)


def check(
    certificate: Annotated[str, typer.Argument(help="an attncert certificate, or -")],
    fast: Annotated[bool, typer.Option("--fast", help="what is too large for pure Python")] = False,
    limit_seconds: Annotated[float, typer.Option(help="limit on the estimated time")] = 600.0,
    limit_mib: Annotated[
        float | None,
        typer.Option(help="limit on the estimated memory; default: 2048, with --fast 8192"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="verdict as JSON on stdout")] = False,
) -> int:
    """Re-derive everything a certificate claims, from the file alone."""
    from attncert.verify.checker import EXIT
    from attncert.verify.checkers import checker_of

    if certificate != "-" and not Path(certificate).is_file():
        raise InputError("certificate", "a file, or - for standard input", certificate)
    limits = {"limit_seconds": limit_seconds}
    limits |= {} if limit_mib is None else {"limit_mib": limit_mib}
    with as_file(certificate) as path:
        verdict = checker_of(path, fast)(path, **limits)
    if verdict.status == "unusable":
        kind = re.match(
            r"(?:fast (?:re-)?check: )?([A-Z][A-Za-z]*(?:Error|Exception))\b", verdict.message
        )
        if kind is not None:  # what Python raised on the way, where no rule of the format spoke
            raise InputError(certificate, "an attncert certificate", _what(kind[1]))
        say(f"attncert: {certificate}: {verdict.message}", error=True)
        return 2
    if as_json:
        print_json(verdict._asdict())
    else:
        say(f"{verdict.status}: {verdict.message}")
    return EXIT[verdict.status]


def _what(error: str) -> str:
    """What a file is on which the checker met this exception.

    >>> _what("UnicodeDecodeError"), _what("PermissionError")
    ('one that is not text (UTF-8)', 'unreadable (PermissionError)')
    """
    return _WHAT.get(error, f"unreadable ({error})")
