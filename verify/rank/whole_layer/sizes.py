"""Bounds on the memory needed for the rank of a layer, computed before any work begins.

The bounds count the arrays of `feature_rows` and `streaming` at 8 bytes per number (4 in panels),
without the data set and the libraries. A test compares them with the allocations of NumPy. This
module loads no compiled code.
"""

from __future__ import annotations

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.layer import Layer

HEIGHT = 256  # the largest block height: sums of 256 products are exact for PRIMES_FLOAT64
_WORKING = 9  # float64 arrays of a block's size in memory: blocks, a panel, temporaries
_WINDOWS = 8  # arrays of the window's size: the window, its elimination, the inverse
_SPARE = 64  # extra columns beyond T; a random minor then vanishes about once in p^64 draws
_TEMPORARY = 2**24  # limit on the numbers held in memory from which rows of Z are computed


def widths(data: Dataset, heads: int, memory: int) -> list[int]:
    """Columns per head in the first attempt and, if the budget allows more, in a second one.

    memory: bytes. Raises InputError if the first attempt does not fit.
    """
    T, d = data.T, data.d
    first = min(d, max(data.n, -(-(T + _SPARE) // heads)))
    require_memory(T, heads * first, memory)
    fitting = (w for w in range(d, first, -1) if elimination_bytes(T, heads * w) <= memory)
    return [first, *list(fitting)[:1]]


def rows_at_once(data: Dataset, layer: Layer) -> int:
    """The number of rows of Z computed at a time: at least one, and otherwise as many as _TEMPORARY
    numbers allow. Logits may be computed from Python integers, each of which takes as
    much space as ten floats."""
    n, d, heads = data.n, data.d, len(layer.heads)
    contexts = 40 * n if data.shared else n * (13 * d + 3 * heads * layer.head_width)
    each = contexts + 8 * heads * n + 4 * heads * (d + layer.head_width)
    return max(1, min(HEIGHT, _TEMPORARY // each))


def require_memory(examples: int, columns: int, memory: int) -> None:
    """Raise InputError if T rows of this many columns cannot be eliminated within the budget.

    >>> require_memory(2353, 2353, 10**9)
    >>> require_memory(100_000, 100_000, 4 * 2**30)
    Traceback (most recent call last):
    attncert.InputError: DATA: must be small enough for a rank check in 4 GiB, not 100,000 \
examples, which take 20.5 GiB
    """
    need = elimination_bytes(examples, columns)
    if need > memory:
        must = f"small enough for a rank check in {memory / 2**30:.3g} GiB"
        got = f"{examples:,} examples, which take {need / 2**30:.3g} GiB"
        raise InputError("DATA", must, got)


def elimination_bytes(rows: int, columns: int) -> int:
    """The bytes of all panels, of one block, and of the numbers from which its rows are computed.

    Pivot row number i, counted from 1, is stored without the i or more columns that have pivots.
    """
    pivots, height = min(rows, columns), min(HEIGHT, rows)
    panels = 4 * (pivots * columns - pivots * (pivots + 1) // 2)
    return panels + 8 * (height * (_WORKING * columns + _WINDOWS * height) + _TEMPORARY)
