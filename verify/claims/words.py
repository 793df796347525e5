"""Numbers and lists as text in the sentences of claims."""

from __future__ import annotations

from collections.abc import Sequence

_ONE = {"": "1", "all": "the one", "the": "the one", "these": "this one"}


def counted(k: int, noun: str, which: str = "") -> str:
    """A number with its noun. which: "", "all", "the" or "these".

    >>> counted(1, "head"), counted(3, "head"), counted(0, "query")
    ('1 head', '3 heads', '0 queries')
    >>> counted(1, "example", "these"), counted(4, "example", "these")
    ('this one example', 'these 4 examples')
    """
    if k == 1:
        return f"{_ONE[which]} {noun}"
    nouns = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    nouns = "hypotheses" if noun == "hypothesis" else nouns
    return f"{which} {k:,} {nouns}".lstrip()


def every(k: int, total: int, noun: str) -> str:
    """The sentence, without a full stop, saying that any k of `total` vectors are independent.

    >>> every(2, 3, "query"), every(1, 3, "query")
    ('Every 2 of the 3 queries are independent', 'None of the 3 queries is zero')
    """
    if k == 1:
        return (
            f"The one {noun} is not zero"
            if total == 1
            else f"None of the {counted(total, noun)} is zero"
        )
    return f"Every {k} of {counted(total, noun, 'the')} are independent"


def listed(numbers: Sequence[int]) -> str:
    """The first twelve numbers, and how many there are in all if there are more.

    >>> listed([1, 3]), listed(range(40)), listed([])
    ('1, 3', '0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, ... (40)', 'none')
    """
    first = ", ".join(map(str, numbers[:12])) or "none"
    return first + (f", ... ({len(numbers)})" if len(numbers) > 12 else "")


def sized(heads: int | None, head_width: int, value_width: int) -> str:
    """Heads and widths, in sentences that may be false for wider heads. heads: None for any number.

    >>> sized(2, 1, 3), sized(None, 4, 1)
    ('2 heads of width 1 (values: 3)', 'any number of heads of width 4 (values: 1)')
    """
    number = "any number of heads" if heads is None else counted(heads, "head")
    return f"{number} of width {head_width} (values: {value_width})"


def widened(labels: int, values: int | None) -> str:
    """Text that states how wide values must be for labels of this width; "" unless the values of
    the layer are narrower. values: the width of the layer's values, or None if it is not known.

    >>> widened(3, 1), widened(3, 3)
    (' with values of width 3', '')
    """
    narrow = values is not None and values < labels
    return f" with values of width {labels}" if narrow else ""
