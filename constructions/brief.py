"""How records show themselves in one short line, whatever numbers they hold."""

from __future__ import annotations

from enum import Enum
from typing import Any

MOST = 200  # characters of a line
_EACH = 60  # of one value in it
_COUNT = 10**15  # integers below it are written out


def in_brief(record: object, *told: Any, **named: Any) -> str:
    """The repr of a record: its type, and what it says of itself, in at most 200 characters.

    told, named: as arguments would be written; None is left out. What is longer than 60 characters
    is cut, and of long integers only the bits are told: a record of millions of numbers is one
    line.

    >>> in_brief(Exception(), "x" * 90, examples=25, of=None, level=True, c=2**99, of_c=[2**99, 1])
    "Exception('xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…', examples=25, \
level=True, c=<100 bits>, of_c=[<100 bits>, 1])"
    """
    parts = [_short(value) for value in told if value is not None]
    parts += [f"{name}={_short(value)}" for name, value in named.items() if value is not None]
    line = f"{type(record).__name__}({', '.join(parts)})"
    return line if len(line) <= MOST else f"{line[: MOST - 2]}…)"


def _short(value: Any) -> str:
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, int) and abs(value) >= _COUNT:
        return f"<{value.bit_length()} bits>"
    if isinstance(value, str):
        return repr(value if len(value) <= _EACH else f"{value[: _EACH - 3]}…")
    if isinstance(value, (tuple, list)):
        some = ", ".join(map(_short, value[:_EACH]))
        comma = "," if isinstance(value, tuple) and len(value) == 1 else ""
        shown = f"({some}{comma})" if isinstance(value, tuple) else f"[{some}]"
        return shown if len(shown) <= _EACH else f"<{len(value)} in all>"
    shown = repr(value)
    return shown if len(shown) <= _EACH else f"{shown[: _EACH - 1]}…"
