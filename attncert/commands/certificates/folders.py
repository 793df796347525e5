"""A certificate named by the user: a file, the folder of its report, or standard input."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from attncert.constructions.errors import InputError, no_such_file

WHAT = "an attncert certificate, the folder of a report, or - for standard input"


def certificate_in(name: str) -> str:
    """The file itself, or certificate.json in the folder. Raises InputError.

    >>> certificate_in("nothing")
    Traceback (most recent call last):
    attncert.InputError: nothing: there is no such file; it must be an \
attncert certificate, the folder of a report, or - for standard input
    """
    if name == "-" or _is("is_file", name):
        return name
    if not _is("is_dir", name):
        if _is("exists", name):  # a pipe would block, and a device would never end
            raise InputError(name, WHAT, "a pipe or device")
        raise no_such_file(name, WHAT)
    if not _is("is_file", name, "certificate.json"):
        raise InputError(name, "the folder of a report with certificate.json", "one without")
    return str(Path(name, "certificate.json"))


@contextmanager
def as_file(path: str) -> Iterator[str]:
    """The path; for "-", a temporary copy of standard input. Raises InputError."""
    if path != "-":
        yield path
        return
    import tempfile  # slow to load

    from attncert.constructions.data.loading import STDIN, standard_input
    from attncert.constructions.errors import path_errors

    content = standard_input()
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "stdin")
        with path_errors(STDIN, "copied to a temporary folder", copy), open(copy, "wb") as file:
            file.write(content)
        yield copy


def _is(what: str, *parts: str) -> bool:
    try:
        return bool(getattr(Path(*parts), what)())
    except (OSError, ValueError):
        return False
