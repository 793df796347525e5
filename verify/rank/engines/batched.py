"""The elimination of `cpu.py` on a whole stack of matrices, in any array library.

The same algorithm, ordered for batches: after a panel is finished, *all* later rows subtract its
contribution at once (right-looking), one batched product per panel. The namespace `xp` is taken
from the input (array API standard: NumPy, CuPy, array-api-strict); two steps, the panel and the
product, may be replaced by faster ones (`cuda.py`).

**Bound.** An entry of a later row starts balanced and receives one product per pivot row, `width`
(the panel's height) of them per panel, and `width` more when its own panel is cleared. It is
reduced before the next panel could exceed `lazy_terms`: with T = lazy_terms(p, t), after every
floor(T / width) - 1 panels (Lemma 2 of `arithmetic.py`). T >= 2 * width is required.
"""

from __future__ import annotations

from typing import Any, Protocol

from array_api_compat import array_namespace

from attncert.verify.rank.engines.arithmetic import inverse, lazy_terms, modulus, reduce

WIDTH = 16  # rows per panel


class Kernels(Protocol):
    """The two steps that carry the work; both change `stack` in place."""

    def panel(self, stack: Any, base: int, stop: int, start: int, p: int) -> tuple[Any, Any]:
        """Eliminate rows base:stop among themselves in columns start:, leaving them balanced.

        Each row in turn: its first nonzero entry is scaled to 1 and cleared from the others.
        Returns the pivot columns counted from `start`, (S, rows) int64, and (S, rows) whether
        there is one; a row without a pivot becomes zero.
        """
        ...

    def subtract(self, stack: Any, base: int, stop: int, start: int, multipliers: Any) -> None:
        """stack[:, stop:, start:] -= multipliers @ stack[:, base:stop, start:]."""
        ...


class ArrayKernels:
    """The reference: array-API operations only."""

    def panel(self, stack: Any, base: int, stop: int, start: int, p: int) -> tuple[Any, Any]:
        xp = array_namespace(stack)
        rows = stack[:, base:stop, start:]
        columns, independent = [], []
        for i in range(stop - base):
            row = reduce(rows[:, i, :], p)
            column = xp.argmax(xp.astype(row != 0, xp.int8), axis=1)[:, None]
            pivot = xp.take_along_axis(row, column, axis=1)
            row = reduce(row * inverse(pivot, p), p)
            factors = reduce(_columns(xp, rows, column), p)
            rows = rows - factors * row[:, None, :]
            rows[:, i, :] = row
            columns.append(column)
            independent.append(pivot != 0)
        stack[:, base:stop, start:] = reduce(rows, p)
        return xp.concat(columns, axis=1), xp.concat(independent, axis=1)

    def subtract(self, stack: Any, base: int, stop: int, start: int, multipliers: Any) -> None:
        later = stack[:, stop:, start:]
        stack[:, stop:, start:] = later - multipliers @ stack[:, base:stop, start:]


ARRAY = ArrayKernels()


def prefixes(stack: Any, p: int, kernels: Kernels = ARRAY) -> Any:
    """For each matrix of the stack, how many leading rows are proved independent modulo p.

    stack: (S, m, n) balanced residues, float64 (or float32 off the GPU, where a product in fewer
        bits would break the bound); it is overwritten. Result (S,) int64: m where all rows are
        independent, else the first row that depends, modulo p, on those before it.

    >>> import numpy as np
    >>> prefixes(np.array([[[1.0, 2.0], [2.0, 4.0]], [[0.0, 3.0], [1.0, 1.0]]]), 11).tolist()
    [1, 2]
    """
    xp = array_namespace(stack)
    count, m, n = stack.shape
    dtype = str(stack.dtype).rsplit(".", 1)[-1]
    modulus(p, dtype, terms=2 * WIDTH)
    limit = lazy_terms(p, dtype) // WIDTH - 1
    alive = xp.ones((count,), dtype=xp.bool, device=stack.device)
    lengths = xp.zeros((count,), dtype=xp.int64, device=stack.device)
    start = pending = 0
    for base in range(0, m, WIDTH):
        if start == n:  # every column has its pivot: the rest depends on what came before
            break
        stop = min(base + WIDTH, m)
        columns, independent = kernels.panel(stack, base, stop, start, p)
        for i in range(stop - base):
            alive = alive & independent[:, i]
            lengths = lengths + xp.astype(alive, xp.int64)
        if stop == m:
            break
        in_order = xp.arange(stop - base, device=stack.device)[None, :] == columns
        if bool(xp.all(in_order & independent)):
            factors = reduce(stack[:, stop:, start : start + stop - base], p)
            start += stop - base
        else:
            factors = reduce(_columns(xp, stack[:, stop:, start:], columns), p)
            factors = xp.where(independent[:, None, :], factors, xp.zeros_like(factors))
        if pending == limit:
            stack[:, stop:, start:] = reduce(stack[:, stop:, start:], p)
            pending = 0
        kernels.subtract(stack, base, stop, start, factors)
        pending += 1
    return lengths


def _columns(xp: Any, rows: Any, columns: Any) -> Any:
    """rows[s, :, columns[s, :]] for every s: (S, m, n) and (S, c) -> (S, m, c)."""
    shape = (rows.shape[0], rows.shape[1], columns.shape[1])
    return xp.take_along_axis(rows, xp.broadcast_to(columns[:, None, :], shape), axis=2)
