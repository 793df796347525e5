"""What the rank of a layer holds in memory, counted before anything is begun.

Counted are the arrays of `feature_rows` and `streaming` at their largest, at 8 bytes a number (4 in
the panels), beside the data set and the libraries. A test holds the count against the allocations
that NumPy makes. No compiled code is loaded here.
"""

from __future__ import annotations

from dataclasses import dataclass

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.layer import Layer

HEIGHT = 256  # rows per block, at most; the products of PRIMES_FLOAT64 between two reductions
_ROWS = 32  # of Z made at a time, at least, where Z has more columns than needed
_WORKING = 7  # float64 arrays of a block's size at once: the block, a panel, the temporaries
_WINDOWS = 8  # and of the window's: it, its elimination, the inverse
_SPARE = 64  # columns beyond T, so that a random minor vanishes about once in p^64
_LOGITS = 8  # arrays of the logits' size at once: reduction, indices, two tables' entries
_OBJECTS = 10  # float64s in the place of one integer of Python or FLINT


@dataclass(frozen=True)
class BlockPlan:
    """width: columns per head. step: rows of Z made at a time. bytes: all that is held."""

    width: int
    step: int
    bytes: int


@dataclass(frozen=True)
class Footprint:
    """Sizes of a layer on a data set: T, n, d, H, H·d_h; whether the contexts are shared, and
    whether the logits are made from integers of any size."""

    T: int
    n: int
    d: int
    heads: int
    outer: int
    shared: bool
    exact: bool

    @classmethod
    def of(cls, data: Dataset, layer: Layer, exact: bool) -> Footprint:
        heads = len(layer.heads)
        return cls(data.T, data.n, data.d, heads, heads * layer.head_width, data.shared, exact)

    def plans(self, memory: int) -> list[BlockPlan]:
        """The first attempt, and the one with more columns if the budget has room for it.

        memory: bytes. Raises InputError where one row at a time does not fit.

        >>> size = Footprint(T=12545, n=197, d=768, heads=64, outer=64, shared=True, exact=False)
        >>> [(plan.width, plan.step, plan.bytes <= 2**30) for plan in size.plans(2**30)]
        [(198, 256, True), (332, 93, True)]
        >>> size.plans(10**8)
        Traceback (most recent call last):
        attncert.InputError: memory: must be at least 0.482 GiB for T = 12545 and \
H = 64, not 0.0931 GiB
        """
        first = min(self.d, max(self.n, -(-(self.T + _SPARE) // self.heads)))
        _require(self.bytes(first, 1), memory, f"T = {self.T} and H = {self.heads}")
        widest = self.d
        while widest > first and self.bytes(widest, min(_ROWS, self.T)) > memory:
            widest -= 1
        return [self._plan(width, memory) for width in sorted({first, widest})]

    def bytes(self, width: int, step: int) -> int:
        """Held at once with `width` columns per head and `step` rows of Z made at a time: what
        stays, and the larger of making a block and eliminating it."""
        columns, block = self.heads * width, min(HEIGHT, self.T)
        context = self.n * (3 * self.d + self.outer) if self.shared else 0
        stays = panel_bytes(self.T, columns) + 8 * (4 * self.d * (self.outer + width) + context)
        making = 8 * (2 * block * columns + step * self._each(width))
        return stays + max(making, working_bytes(self.T, columns))

    def _each(self, width: int) -> int:
        """Numbers for each row of Z that is made at a time."""
        contexts = 0 if self.shared else self.n * (3 * self.d + 3 * self.outer)
        logits = _LOGITS * self.heads * self.n
        objects = _OBJECTS * self.n * (4 if self.shared else self.d) if self.exact else 0
        return contexts + logits + objects + 4 * self.heads * max(self.d, width) + 4 * self.outer

    def _plan(self, width: int, memory: int) -> BlockPlan:
        steps = range(min(HEIGHT, self.T), 0, -1)
        step = next(step for step in steps if self.bytes(width, step) <= memory)
        return BlockPlan(width, step, self.bytes(width, step))


def require_memory(examples: int, memory: int) -> None:
    """Refuse a budget in which T pivot rows of T columns, the least there can be, do not fit.

    >>> require_memory(2353, 10**8)
    >>> require_memory(100_000, 4 * 2**30)
    Traceback (most recent call last):
    attncert.InputError: memory: must be at least 20 GiB for T = 100000, not 4 GiB
    """
    least = panel_bytes(examples, examples) + working_bytes(examples, examples)
    _require(least, memory, f"T = {examples}")


def panel_bytes(rows: int, columns: int) -> int:
    """Bound on the bytes of all panels: pivot row number i, counted from 1, has lost at least the
    i columns that have pivots, and a number takes 4 bytes.

    >>> panel_bytes(12545, 12608)
    317890300
    """
    pivots = min(rows, columns)
    return 4 * (pivots * columns - pivots * (pivots + 1) // 2)


def working_bytes(rows: int, columns: int) -> int:
    """Bytes that one block takes beside the panels."""
    height = min(HEIGHT, rows)
    return 8 * height * (_WORKING * columns + _WINDOWS * height)


def _require(need: int, memory: int, what: str) -> None:
    if need > memory:
        raise InputError("memory", f"at least {_gib(need)} for {what}", _gib(memory))


def _gib(count: int) -> str:
    return f"{count / 2**30:.3g} GiB"
