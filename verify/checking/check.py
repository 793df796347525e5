"""`attncert.check`: the checker as a function."""

from __future__ import annotations

import os

from attncert.verify.checker import Verdict, check_file


def check(path: str | os.PathLike[str]) -> Verdict:
    """Verify everything that a certificate claims, from the file alone.

    The verdict's status is "holds", "wrong", "over limit" or "unusable"; its message says why.
    Nothing in the file, however malformed, raises an error. Arithmetic: exact integers; balls if
    the claim is about the true exponential. Source: docs/certificate.md.

    >>> check("no-such-certificate.json").status
    'unusable'
    """
    return check_file(str(path))
