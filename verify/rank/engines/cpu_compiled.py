"""Compiled loops of `cpu.py`, which states the algorithm and its bound.

The inner loops run over columns with unsigned indices, since signed indices need a test for
Python's negative indexing, which prevents vectorization. The 4 rows of a panel are written out:
with 4 pivot rows at a time, 16 multipliers stay in registers.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_HALF = np.float32(0.5)
_EARLY = np.True_  # for the literal True, numba would compile `eliminate` again
_compiled = njit(cache=True, nogil=True, fastmath={"contract"})  # fused multiply-add only
_inlined = njit(nogil=True, fastmath={"contract"}, forceinline=True)


@_inlined
def _reduced(x, p, over_p):  # type: ignore[no-untyped-def]
    return x - p * np.floor(x * over_p + _HALF)


@_compiled
def _inverse(x, p):  # type: ignore[no-untyped-def]
    """1/x modulo p as an integer, by the extended Euclidean algorithm."""
    a, modulus_ = np.int64(x), np.int64(p)
    if a < 0:
        a += modulus_
    b, u, v = modulus_, np.int64(1), np.int64(0)
    while a > 0:
        quotient = b // a
        a, b = b - quotient * a, a
        u, v = v - quotient * u, u
    if 2 * v > modulus_:
        v -= modulus_
    elif 2 * v < -modulus_:
        v += modulus_
    return v


@_compiled
def _reduce_rows(rows, start, stop, p, over_p):  # type: ignore[no-untyped-def]
    for i in range(np.uint64(start), np.uint64(stop)):
        for j in range(np.uint64(rows.shape[1])):
            rows[i, j] = _reduced(rows[i, j], p, over_p)


@_compiled
def _tile(rows, base, at, m, start):  # type: ignore[no-untyped-def]
    """rows[base:base+4, start:] -= m @ rows[at:at+4, start:]."""
    a0, a1, a2, a3 = m[0, 0], m[0, 1], m[0, 2], m[0, 3]
    b0, b1, b2, b3 = m[1, 0], m[1, 1], m[1, 2], m[1, 3]
    c0, c1, c2, c3 = m[2, 0], m[2, 1], m[2, 2], m[2, 3]
    d0, d1, d2, d3 = m[3, 0], m[3, 1], m[3, 2], m[3, 3]
    panel, pivot_rows = rows[base : base + 4], rows[at : at + 4]
    for j in range(np.uint64(start), np.uint64(rows.shape[1])):
        w, x, y, z = pivot_rows[0, j], pivot_rows[1, j], pivot_rows[2, j], pivot_rows[3, j]
        panel[0, j] -= a0 * w + a1 * x + a2 * y + a3 * z
        panel[1, j] -= b0 * w + b1 * x + b2 * y + b3 * z
        panel[2, j] -= c0 * w + c1 * x + c2 * y + c3 * z
        panel[3, j] -= d0 * w + d1 * x + d2 * y + d3 * z


@_compiled
def _clear_panels(rows, pivots, base, panels, arithmetic):  # type: ignore[no-untyped-def]
    """Step 1: in the panel that begins at base, clear the pivot columns of these panels in turn,
    then reduce the panel. A pivot row is 0 to the left of its pivot."""
    p, over_p, lazy = arithmetic
    multipliers, pending = np.zeros((4, 4), rows.dtype), 0
    for at in panels:
        if pending + 4 > lazy:
            _reduce_rows(rows, base, base + 4, p, over_p)
            pending = 0
        start = rows.shape[1]
        for q in range(4):
            column = pivots[at + q]
            if column >= 0:
                start = min(start, column)
            for i in range(4):
                entry = rows[base + i, column] if column >= 0 else 0
                multipliers[i, q] = _reduced(entry, p, over_p)
        _tile(rows, base, at, multipliers, start)
        pending += 4
    _reduce_rows(rows, base, base + 4, p, over_p)


@_compiled
def _clear_column(rows, i, column, base, p, over_p):  # type: ignore[no-untyped-def]
    """Step 2: scale row i to pivot 1 and clear the pivot column in the other rows of its panel."""
    columns, row = range(np.uint64(column), np.uint64(rows.shape[1])), np.uint64(i)
    scale = rows.dtype.type(_inverse(rows[i, column], p))
    for c in columns:
        rows[row, c] = _reduced(rows[row, c] * scale, p, over_p)
    for j in range(base, base + 4):
        if j != i:
            other, factor = np.uint64(j), rows[j, column]
            for c in columns:
                rows[other, c] = _reduced(rows[other, c] - factor * rows[row, c], p, over_p)


@_compiled
def eliminate(rows, pivots, stop_early, arithmetic):  # type: ignore[no-untyped-def]
    """The algorithm of `cpu.py`, in place, on balanced rows whose number is a multiple of 4.

    pivots: output, the pivot column of each row, or -1. stop_early: whether to stop at the first
    dependent row. arithmetic: p, 1/p, lazy (`cpu.py`). Returns the position of the first dependent
    row if it stopped there, else the number of rows.
    """
    p, over_p, _ = arithmetic
    m, n = rows.shape
    used, first = np.zeros(n + 1, dtype=np.bool_), 0  # all columns before `first` have pivots
    for base in range(0, m, 4):
        if first == n:
            pivots[base:] = -1
            return base if stop_early else m
        _clear_panels(rows, pivots, base, range(0, base, 4), arithmetic)
        for i in range(base, base + 4):
            column = first
            while column < n and rows[i, column] == 0:
                column += 1
            pivots[i] = column if column < n else -1
            if column == n:
                if stop_early:
                    return i
                continue
            _clear_column(rows, i, column, base, p, over_p)
            used[column] = True
            while used[first]:
                first += 1
    return m


@_compiled
def back(rows, pivots, arithmetic):  # type: ignore[no-untyped-def]
    """From the last panel to the first, clear the pivot columns of all later panels."""
    for base in range(len(pivots) - 8, -1, -4):
        _clear_panels(rows, pivots, base, range(base + 4, len(pivots), 4), arithmetic)


@_compiled
def prefix_range(table, subsets, start, stop, out, arithmetic):  # type: ignore[no-untyped-def]
    """The length of the independent prefix of each subset of rows start .. stop-1."""
    k, n = subsets.shape[1], table.shape[1]
    rows = np.zeros(((k + 3) // 4 * 4, n), table.dtype)
    pivots = np.zeros(len(rows), np.int64)
    for s in range(start, stop):
        for i in range(k):
            target, source = np.uint64(i), np.uint64(subsets[s, i])
            for c in range(np.uint64(n)):
                rows[target, c] = table[source, c]
        out[s] = min(k, eliminate(rows, pivots, _EARLY, arithmetic))


@_compiled
def independent_range(table, place, subsets, start, stop, out, arithmetic):  # type: ignore[no-untyped-def]
    """Whether each subset of rows start .. stop-1 is independent. table, place: systematic form."""
    r = table.shape[1]
    pivots = np.zeros((subsets.shape[1] + 3) // 4 * 4, np.int64)
    for s in range(start, stop):
        others = [v for v in subsets[s] if place[v] < 0]
        taken = np.zeros(r, np.bool_)
        for v in subsets[s]:
            if place[v] >= 0:
                taken[place[v]] = True
        columns = np.flatnonzero(~taken)
        count, units = len(others), r - len(columns)
        width = min(len(columns), (count + 15) // 16 * 16)
        if units + count < subsets.shape[1] or width < count:  # a row occurs twice, or rank < rows
            continue
        rows = np.zeros(((count + 3) // 4 * 4, width), table.dtype)
        for i in range(np.uint64(count)):
            row = np.uint64(others[i])
            for c in range(np.uint64(width)):
                rows[i, c] = table[row, np.uint64(columns[c])]
        out[s] = eliminate(rows, pivots[: len(rows)], _EARLY, arithmetic) >= count
