"""Comparison of the checker in a report's folder with the installed one.

Anyone can write a folder, with every number and hash in it, so comparing its parts with one
another shows nothing.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from attncert.constructions.errors import path_errors
from attncert.constructions.foreign import printable
from attncert.reports.folder import CHECKER
from attncert.reports.report import PAGE
from attncert.verify.certificates.installed import version

_TRUST = "Trust attncert explain and this installation's checker, not the text of a report."


def compared(folder: Path) -> tuple[tuple[str, ...], int]:
    """What the folder's checker is, as sentences, and the exit status: 0 if it is the installed
    one or there is none; 3 if it differs but another version wrote the certificate; otherwise 1.
    Raises InputError."""
    with path_errors(str(folder), "a folder that can be read", folder):
        if not os.path.lexists(folder / "checker"):
            return (_TRUST,) if (folder / PAGE).is_file() else (), 0
        by = json.loads((folder / "certificate.json").read_bytes())["produced_by"].get("version")
        others = _others(CHECKER, folder / "checker")
    installed = version("attncert")
    if not others:
        is_ours = f"The folder's checker is that of attncert {installed}, byte for byte."
        return (is_ours, _TRUST), 0
    other = "" if by == installed else f" The certificate names version {printable(by, 20)}."
    differs = f"The folder's checker is not that of attncert {installed} ({_few(others)})"
    return (f"{differs}: do not run it.{other}", _TRUST), 1 if by == installed else 3


def _few(names: list[str]) -> str:
    """
    >>> _few(["a", "b", "c", "d"])
    'a, b, c and 1 more'
    """
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"{', '.join(printable(name, 60) for name in names[:3])}{more}"


def _others(ours: Path, theirs: Path) -> list[str]:
    """The files that only one of the folders has, or that differ, without our compiled files.
    Theirs count, since Python would run them instead of the sources."""
    paths = {p.relative_to(theirs) for p in theirs.rglob("*") if p.is_symlink() or not p.is_dir()}
    own = (p.relative_to(ours) for p in ours.rglob("*") if not p.is_dir())
    paths |= {path for path in own if "__pycache__" not in path.parts}
    return [x.as_posix() for x in sorted(paths) if not _equal(ours / x, theirs / x)]


def _equal(ours: Path, theirs: Path) -> bool:
    if theirs.is_symlink() or not (ours.is_file() and theirs.is_file()):
        return False
    same_size = theirs.stat().st_size == ours.stat().st_size
    return same_size and theirs.read_bytes() == ours.read_bytes()
