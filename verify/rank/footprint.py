"""What the rank of a layer holds in memory, counted before anything is begun.

Counted are the arrays of `feature_rows` and `streaming` at their largest, at 8 bytes a number (4 in
the panels), beside the data set and the libraries. A test holds the count against the allocations
that NumPy makes.
"""

from __future__ import annotations

from dataclasses import dataclass

from constructions.dataset import Dataset
from constructions.errors import InputError
from constructions.layer import Layer
from verify.rank.feature_rows import is_integral
from verify.rank.streaming import HEIGHT, panel_bytes, working_bytes

__all__ = ["Footprint", "Plan"]

_SPARE = 64  # columns beyond T, so that a random minor vanishes about once in p^64
_LOGITS = 8  # arrays of the logits' size at once: reduction, indices, two tables' entries
_OBJECTS = 10  # float64s in the place of one integer of Python or FLINT


@dataclass(frozen=True)
class Plan:
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
    def of(cls, data: Dataset, layer: Layer) -> Footprint:
        heads = len(layer.heads)
        exact = not all(is_integral(head, data) for head in layer.heads)
        outer = heads * layer.head_width
        return cls(data.T, data.n, data.d, heads, outer, data.shared, exact)

    def plans(self, memory: int) -> list[Plan]:
        """The first attempt, and the one with more columns if the budget has room for it.

        memory: bytes. Raises InputError where one row at a time does not fit.

        >>> size = Footprint(T=12545, n=197, d=768, heads=64, outer=64, shared=True, exact=False)
        >>> [(plan.width, plan.step, plan.bytes <= 2**30) for plan in size.plans(2**30)]
        [(198, 115, True), (365, 3, True)]
        >>> size.plans(10**8)
        Traceback (most recent call last):
        constructions.errors.InputError: --memory: must be at least 0.54 GiB for T = 12545 and \
H = 64, not 0.0931 GiB
        """
        first = min(self.d, max(self.n, -(-(self.T + _SPARE) // self.heads)))
        if self.bytes(first, 1) > memory:
            must = f"at least {_gib(self.bytes(first, 1))} for T = {self.T} and H = {self.heads}"
            raise InputError("--memory", must, _gib(memory))
        widest = self.d
        while widest > first and self.bytes(widest, 1) > memory:
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

    def _plan(self, width: int, memory: int) -> Plan:
        room = memory - self.bytes(width, 1)
        step = min(HEIGHT, self.T, 1 + room // (8 * self._each(width)))
        return Plan(width, step, self.bytes(width, step))


def _gib(count: int) -> str:
    return f"{count / 2**30:.3g} GiB"
