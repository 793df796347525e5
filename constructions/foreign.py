"""Functions that make untrusted text safe: as a line in a terminal (`printable`, `escaped`), or,
when it is read, as the name of data, vectors or a layer (`safe_name`). Other text in Markdown goes
through `reports.words.text.code`."""

from __future__ import annotations

import re

MOST_NAME = 64  # the longest name, in characters


def printable(text: object, limit: int | None = None) -> str:
    """One line of untrusted text, with white space collapsed and the rest `escaped`.

    limit: the largest number of characters; the last of them is "…" if some were cut.

    >>> print(printable("a\\n\\x1b[31mred\\u202e \\ud800"))
    a \\x1b[31mred\\u202e \\ud800
    >>> printable("abcdef", 4)
    'abc…'
    """
    folded = " ".join(str(text).split())
    if limit is not None:
        folded = folded[: limit + 1]  # escapes only make it longer
    line = escaped(folded)
    return line if limit is None or len(line) <= limit else line[: limit - 1] + "…"


def escaped(line: str) -> str:
    r"""The line with its unprintable characters replaced by escapes; spaces are kept.

    Not printable: control characters (C0, C1), characters that change direction or have no width
    (category Cf), line ends, spaces other than ASCII's, lone surrogates, private and unassigned
    characters.

    >>> print(escaped("left   | right" + chr(10) + "holds: yes"))
    left   | right\nholds: yes
    """
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in line
    )


def error_text(error: BaseException) -> str:
    """The type of an exception, and its message if it has one; possibly several lines.

    >>> error_text(KeyError("x")), error_text(ValueError())
    ("KeyError: 'x'", 'ValueError')
    """
    try:
        message = str(error)
    except Exception:  # a foreign exception may fail to describe itself
        message = ""
    return f"{type(error).__name__}: {message}".removesuffix(": ")


def safe_name(text: str, default: str, most: int = MOST_NAME) -> str:
    """A name: ASCII letters, digits, '.', '_' and '-', at most 64, with no '.' or '-' at either
    end.

    Other characters become '-'; the name is `default` if nothing is left.

    >>> safe_name("../../up/my data", "data"), safe_name("$x$", "data"), safe_name("..", "data")
    ('up-my-data', 'x', 'data')
    """
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text)[:most].strip(".-") or default
