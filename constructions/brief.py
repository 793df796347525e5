"""One-line representations of records."""

from __future__ import annotations

from enum import Enum
from typing import Any

MOST = 200  # the longest line, in characters
_EACH = 60  # the longest value in a line
_COUNT = 10**15  # integers below this are written in full


def in_brief(record: object, *positional: Any, **named: Any) -> str:
    """The repr of a record: its type and its main fields, in at most 200 characters.

    positional, named: the arguments of the repr; those that are None are left out. A value of more
    than 60 characters is shortened, and a long integer is replaced by its number of bits.

    >>> in_brief(Exception(), "x" * 90, examples=25, of=None, level=True, c=2**99, of_c=[2**99, 1])
    "Exception('xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…', examples=25, \
level=True, c=<100 bits>, of_c=[<100 bits>, 1])"
    """
    parts = [_short(x) for x in positional if x is not None]
    parts += [f"{name}={_short(x)}" for name, x in named.items() if x is not None]
    line = f"{type(record).__name__}({', '.join(parts)})"
    return line if len(line) <= MOST else f"{line[: MOST - 2]}…)"


def _short(x: Any) -> str:
    if isinstance(x, Enum):
        x = x.value
    if isinstance(x, int) and abs(x) >= _COUNT:
        return f"<{x.bit_length()} bits>"
    if isinstance(x, str):
        return repr(x if len(x) <= _EACH else f"{x[: _EACH - 3]}…")
    if isinstance(x, (tuple, list)):
        some = ", ".join(map(_short, x[:_EACH]))
        comma = "," if isinstance(x, tuple) and len(x) == 1 else ""
        text = f"({some}{comma})" if isinstance(x, tuple) else f"[{some}]"
        return text if len(text) <= _EACH else f"<{len(x)} in all>"
    text = repr(x)
    return text if len(text) <= _EACH else f"{text[: _EACH - 1]}…"
