"""Numbers as options and property files give them: decimal or "p/q", taken exactly."""

from __future__ import annotations

import re
from fractions import Fraction

from attncert.constructions.errors import InputError

_NUMBER = re.compile(
    r"[+-]?[0-9]{1,30}(\.[0-9]{1,30})?(e-?[0-9]{1,3})?|[0-9]{1,30}/[1-9][0-9]{0,29}", re.ASCII
)


def exact_number(argument: str, text: str) -> Fraction:
    """A decimal number or "p/q", exactly, at least 0. Raises InputError.

    >>> exact_number("--tolerance", "1e-3"), exact_number("error", "-0.0")
    (Fraction(1, 1000), Fraction(0, 1))
    """
    if not _NUMBER.fullmatch(text) or Fraction(text) < 0:
        raise InputError(argument, 'a number, at least 0, such as 0.01, 1e-6 or "1/2"', text)
    return Fraction(text)
