"""The rank modulo p of a tall matrix that arrives in blocks of rows and is never stored as a whole.

This is left-looking elimination in blocks of `HEIGHT` rows. Only the pivot rows are kept, panel by
panel, each without the columns that already have a pivot. A new, balanced block X

1. passes through the panels in order: with X_J its entries in the panel's pivot columns J and
   U the panel's other columns, X becomes X_K - X_J U on the columns K that remain;
2. finds its own pivots in a window of the first columns that remain, which the host eliminates
   (`cpu.profile`): rows R are independent there, with pivot columns J. The new panel is
   S^-1 X_R on the columns that remain, S = X_R,J, so that its entries in J are the identity;
3. is reduced by this panel in its other rows, whose pivots are sought further to the right; a row
   with no column left depends, modulo p, on earlier rows and on other rows of its block.

All large computations are products of float64 matrices, with the BLAS of the input's array
library (NumPy, CuPy, array-api-strict).

**Bound.** Every sum consists of at most HEIGHT <= `lazy_terms(p, "float64")` products of balanced
residues plus one balanced residue, and is then reduced, so it is exact by Lemma 2 of
`arithmetic.py`. For p < 2^24, balanced residues are at most p/2 + 4 < 2^24 in absolute value, so
panels are kept in float32 without loss.

**Memory** is counted in `sizes.py`: about 4 (T w - T^2/2) bytes for T rows and w columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from attncert.constructions.arrays import FloatArray, IntArray
from attncert.verify.rank.engines import cpu
from attncert.verify.rank.engines.arithmetic import matmul, modulus, reduce
from attncert.verify.rank.residues import to_host
from attncert.verify.rank.whole_layer.sizes import HEIGHT

_SLACK = 32  # extra columns of a window, so that a generic block finds all its pivots in it


@dataclass(frozen=True, eq=False)
class _Panel:
    """The pivot columns and the other columns, both numbered among the columns that remained after
    earlier panels. rows: the pivot rows in the other columns, (pivots, others), float32."""

    pivots: Any
    others: Any
    rows: Any


class Elimination:
    """The elimination of one matrix modulo p, whose row blocks are added one after the other.

    columns: the number of columns. p: a prime from 11 to 2^24 with lazy_terms(p) >= HEIGHT, such as
    all PRIMES_FLOAT64.

    >>> table = np.array([[1.0, 2.0], [2.0, 4.0], [0.0, 1.0]])
    >>> elimination = Elimination(2, 11)
    >>> elimination.add(table[:2]), elimination.add(table[2:]), elimination.rank
    (1, 1, 2)
    """

    def __init__(self, columns: int, p: int) -> None:
        self.columns = columns
        self.p = modulus(p, "float64", terms=HEIGHT)
        self.rank = 0
        self._panels: list[_Panel] = []

    def add(self, block: Any) -> int:
        """Eliminate at most HEIGHT further rows, (b, columns), balanced float64; `block` is not
        changed. Returns how many rows are independent of all rows before them."""
        if block.shape[0] > HEIGHT or block.shape[1] != self.columns:
            raise ValueError(f"a block of {block.shape} for {self.columns} columns")
        block = self.left_of(block)
        independent, passed = 0, 0  # the first `passed` columns are zero in the remaining rows
        while block.shape[0] and passed < block.shape[1]:
            rows, columns, window = self._pivots(block, passed)
            if len(rows):
                panel, block = self._split(block, rows, columns)
                self._panels.append(panel)
                independent += len(rows)
            passed += window - len(rows)
        self.rank += independent
        return independent

    def left_of(self, block: Any) -> Any:
        """What is left of a block, in the columns that have no pivot: step 1 for all panels."""
        for panel in self._panels:
            block = self._without(block, panel)
        return block

    def __sizeof__(self) -> int:
        """The size of the panels in bytes, which Dask uses to track memory."""
        return sum(int(panel.rows.nbytes) for panel in self._panels)

    def _pivots(self, block: Any, passed: int) -> tuple[IntArray, IntArray, int]:
        """Independent rows and their pivot columns in a window of columns, and the window's
        width."""
        window = min(block.shape[0] + _SLACK, block.shape[1] - passed)
        if passed:  # the first window did not suffice
            window = block.shape[1] - passed
        part = np.ascontiguousarray(to_host(block[:, passed : passed + window]))
        independent, columns = cpu.profile(part, self.p)
        return np.flatnonzero(independent), columns + passed, window

    def _split(self, block: Any, rows: IntArray, columns: IntArray) -> tuple[_Panel, Any]:
        """The panel of these pivots, and the other rows of the block without the pivot columns."""
        xp = array_namespace(block)

        def index(values: IntArray) -> Any:
            return xp.asarray(values.astype(np.int64), device=device(block))

        others = np.setdiff1d(np.arange(block.shape[1]), columns)
        chosen = xp.take(block, index(rows), axis=0)
        square = to_host(xp.take(chosen, index(columns), axis=1))
        inverse = xp.asarray(_inverse(square, self.p), device=device(block))
        pivot_rows = matmul(inverse, xp.take(chosen, index(others), axis=1), self.p)
        narrow = xp.astype(pivot_rows, xp.float32)
        panel = _Panel(index(columns), index(others), narrow)
        rest = np.setdiff1d(np.arange(block.shape[0]), rows)
        return panel, self._without(xp.take(block, index(rest), axis=0), panel)

    def _without(self, block: Any, panel: _Panel) -> Any:
        """Step 1 of the description above."""
        xp = array_namespace(block)
        factors = xp.take(block, panel.pivots, axis=1)
        product = factors @ xp.astype(panel.rows, xp.float64)
        return reduce(xp.take(block, panel.others, axis=1) - product, self.p)


def _inverse(square: FloatArray, p: int) -> FloatArray:
    """The balanced inverse modulo p of an invertible matrix of balanced residues."""
    size = len(square)
    pivots, rows = cpu.echelon(np.hstack([square, np.eye(size)]), p)
    inverse = np.empty((size, size))
    inverse[pivots] = rows[:, size:]
    return inverse
