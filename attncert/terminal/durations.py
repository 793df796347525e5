"""Spans of time as a user writes them."""

from __future__ import annotations

import math
import re

from attncert.constructions.errors import InputError

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
_MOST = 10**7  # four months


def seconds(text: str, argument: str) -> float:
    """A positive number of seconds from "90", "60s", "5m" or "1.5h".

    >>> seconds("90", "--budget"), seconds("5m", "--budget"), seconds("0.5h", "--budget")
    (90.0, 300.0, 1800.0)
    >>> seconds("0", "--budget")
    Traceback (most recent call last):
    attncert.InputError: --budget: must be a positive time such as 90, 60s, 5m or 2h, \
up to 10^7 s, not 0
    """
    match = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)([smh]?)", text, re.ASCII)
    value = float(match[1]) * _UNITS[match[2]] if match else math.nan
    if not 0 < value <= _MOST:
        raise InputError(argument, "a positive time such as 90, 60s, 5m or 2h, up to 10^7 s", text)
    return value
