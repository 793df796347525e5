"""Rules for the values of options. They are the same in Python and on the command line."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias, get_args

from attncert.constructions.errors import InputError

DeviceChoice: TypeAlias = Literal["auto", "cpu", "cuda"]
_DECIMAL = re.compile(r"[0-9]{1,18}(\.[0-9]{1,18})?|[0-9]{1,18}/[1-9][0-9]{0,17}", re.ASCII)
_EXACT = re.compile(
    r"[+-]?[0-9]{1,30}(\.[0-9]{1,30})?(e-?[0-9]{1,3})?|[0-9]{1,30}/[1-9][0-9]{0,29}", re.ASCII
)


@dataclass(frozen=True)
class Rule:
    """The rule for one option.

    must: for errors, what the value must be. fits: whether a value satisfies the rule. kind:
    the type on the command line. choices: values that the shell completes. file: whether other
    values are paths, which printed commands omit. read: converts the entry to the value; may raise
    ValueError.
    """

    must: str
    fits: Callable[[Any], bool]
    kind: type = str
    choices: tuple[str, ...] = ()
    file: bool = False
    read: Callable[[Any], Any] = lambda entry: entry

    def checked(self, name: str, entry: Any) -> Any:
        """The value read from `entry`. Raises InputError, which says what `name` must be."""
        try:
            value = self.read(entry)
            fits = self.fits(value)
        except (ValueError, TypeError, OverflowError):
            fits = False
        if not fits:
            text = isinstance(entry, str) and self.kind is not str  # "3" is not a number
            raise InputError(name, self.must, repr(entry) if text else entry)
        return value


def whole(low: int, high: int, most: str = "") -> Rule:
    """A whole number in a range.

    >>> whole(1, 10**4).must, whole(1, 10**4).fits(7)
    ('a whole number from 1 to 10,000', True)
    """

    def fits(entry: Any) -> bool:
        return isinstance(entry, int) and not isinstance(entry, bool) and low <= entry <= high

    return Rule(f"a whole number from {low:,} to {most or f'{high:,}'}", fits, int)


def number(must: str, low: float, high: float, *, above: bool = False) -> Rule:
    """A number between low and high; `above` excludes low."""

    def fits(entry: Any) -> bool:
        real = isinstance(entry, int | float) and not isinstance(entry, bool)
        return real and low <= entry <= high and not (above and entry == low)

    return Rule(must, fits, float)


def one_of(*names: str) -> Rule:
    """
    >>> one_of("auto", "cpu").must
    'auto or cpu'
    """
    return Rule(" or ".join(names), lambda entry: entry in names, choices=names)


def grid() -> Rule:
    """A step above 0, stored as the text of its fraction.

    >>> grid().read("0.1"), grid().read("1/64")
    ('1/10', '1/64')
    """

    def read(entry: Any) -> str:
        text = str(entry)
        if not _DECIMAL.fullmatch(text):
            raise ValueError
        return str(Fraction(text))

    must = "a step above 0 of at most 18 digits, like 1/64 or 0.1"
    return Rule(must, lambda step: Fraction(step) > 0, read=read)


def exact() -> Rule:
    """A number of at least 0, stored exactly, as text.

    >>> exact().read("1e-3"), exact().read(Fraction(1, 3)), exact().read(-0.0)
    ('1e-3', '1/3', '-0.0')
    """

    def fits(text: str) -> bool:
        return bool(_EXACT.fullmatch(text)) and Fraction(text) >= 0

    return Rule('a number, at least 0, such as 0.01, 1e-6 or "1/2"', fits, read=str)


def text(*names: str) -> Rule:
    """Any text. `names` are known values for completion.

    >>> text("paper").fits("MODULE:NAME")
    True
    """
    return Rule("a text", _is_text, choices=names)


def path(*names: str) -> Rule:
    """The path of a file as text, or one of these names."""
    must, fits = "the path of a file", lambda entry: _is_text(entry) and entry != ""
    return Rule(must, fits, choices=names, file=True, read=os.fspath)


def _is_text(entry: Any) -> bool:
    return isinstance(entry, str)


DEVICES = one_of(*get_args(DeviceChoice))
SWITCH = Rule("true or false", lambda entry: isinstance(entry, bool), bool)
TEXT = text()
SIZE = whole(1, 2**14)  # for heads, and for widths
SEED = whole(0, 2**63 - 1, "2^63 - 1")
