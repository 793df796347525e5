"""A certificate as a user names it: the file, the folder of its report, or standard input."""

from __future__ import annotations

from pathlib import Path

from attncert.constructions.errors import InputError, NoSuchFile

WHAT = "an attncert certificate, the folder of a report, or - for standard input"


def certificate_in(name: str) -> str:
    """The file itself, or certificate.json of the folder. Raises InputError.

    >>> certificate_in("nothing")
    Traceback (most recent call last):
    attncert.constructions.errors.NoSuchFile: nothing: there is no such file; it must be an \
attncert certificate, the folder of a report, or - for standard input
    """
    if name == "-" or _is("is_file", name):
        return name
    if not _is("is_dir", name):
        if _is("exists", name):  # a pipe would block, a device never end
            raise InputError(name, WHAT, "a pipe or device")
        raise NoSuchFile(name or "''", WHAT)
    if not _is("is_file", name, "certificate.json"):
        raise InputError(name, "the folder of a report with certificate.json", "one without")
    return str(Path(name, "certificate.json"))


def _is(what: str, *parts: str) -> bool:
    try:
        return bool(getattr(Path(*parts), what)())
    except (OSError, ValueError):
        return False
