"""Compiled loops of `cpu.py`, where the algorithm and its bound are stated.

The inner loops run over columns with unsigned indices (a signed one costs a test for Python's
negative indexing and with it the vectorisation) and over rows of contiguous storage, padded with
zeros to 16 columns. Panels have 8 rows, written out: with 4 pivot rows at a time that is 32
multipliers in registers, and about the rate of a vendor's matrix product at these sizes.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_HALF = np.float32(0.5)
_ONE = np.uint64(1)
_compiled = njit(cache=True, nogil=True, fastmath={"contract"})  # fused multiply-add, no more
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
def _reduce_columns(panel, start, stop, p, over_p):  # type: ignore[no-untyped-def]
    for i in range(8):
        for j in range(np.uint64(start), np.uint64(stop)):
            panel[i, j] = _reduced(panel[i, j], p, over_p)


@_compiled
def _tile(panel, rows, at, multipliers, q, start):  # type: ignore[no-untyped-def]
    """panel[:, start:] -= multipliers[:, q:q+4] @ rows[at:at+4, start:]."""
    m = multipliers
    a0, a1, a2, a3 = m[0, q], m[0, q + 1], m[0, q + 2], m[0, q + 3]
    b0, b1, b2, b3 = m[1, q], m[1, q + 1], m[1, q + 2], m[1, q + 3]
    c0, c1, c2, c3 = m[2, q], m[2, q + 1], m[2, q + 2], m[2, q + 3]
    d0, d1, d2, d3 = m[3, q], m[3, q + 1], m[3, q + 2], m[3, q + 3]
    e0, e1, e2, e3 = m[4, q], m[4, q + 1], m[4, q + 2], m[4, q + 3]
    f0, f1, f2, f3 = m[5, q], m[5, q + 1], m[5, q + 2], m[5, q + 3]
    g0, g1, g2, g3 = m[6, q], m[6, q + 1], m[6, q + 2], m[6, q + 3]
    h0, h1, h2, h3 = m[7, q], m[7, q + 1], m[7, q + 2], m[7, q + 3]
    r0 = np.uint64(at)
    r1, r2, r3 = r0 + _ONE, r0 + _ONE + _ONE, r0 + _ONE + _ONE + _ONE
    for j in range(np.uint64(start), np.uint64(panel.shape[1])):
        w, x, y, z = rows[r0, j], rows[r1, j], rows[r2, j], rows[r3, j]
        panel[0, j] -= a0 * w + a1 * x + a2 * y + a3 * z
        panel[1, j] -= b0 * w + b1 * x + b2 * y + b3 * z
        panel[2, j] -= c0 * w + c1 * x + c2 * y + c3 * z
        panel[3, j] -= d0 * w + d1 * x + d2 * y + d3 * z
        panel[4, j] -= e0 * w + e1 * x + e2 * y + e3 * z
        panel[5, j] -= f0 * w + f1 * x + f2 * y + f3 * z
        panel[6, j] -= g0 * w + g1 * x + g2 * y + g3 * z
        panel[7, j] -= h0 * w + h1 * x + h2 * y + h3 * z


@_compiled
def _subtract_panel(panel, rows, at, pivots, multipliers, start, p, over_p):  # type: ignore[no-untyped-def]
    """Step 1 for one earlier panel, whose pivot rows are rows[at:at+8]."""
    for q in range(8):
        column = pivots[at + q]
        for i in range(8):
            multipliers[i, q] = _reduced(panel[i, column], p, over_p) if column >= 0 else 0
    for q in range(0, 8, 4):
        _tile(panel, rows, at + q, multipliers, q, start)


@_compiled
def _clear_column(panel, pivot_row, i, column, start, p, over_p, inverse):  # type: ignore[no-untyped-def]
    """Step 2: scale row i to pivot 1, clear the pivot column in the other rows of the panel."""
    stop = np.uint64(panel.shape[1])
    row = np.uint64(i)
    for j in range(np.uint64(start), stop):
        pivot_row[j] = _reduced(_reduced(panel[row, j], p, over_p) * inverse, p, over_p)
    a, b = _reduced(panel[0, column], p, over_p), _reduced(panel[1, column], p, over_p)
    c, d = _reduced(panel[2, column], p, over_p), _reduced(panel[3, column], p, over_p)
    e, f = _reduced(panel[4, column], p, over_p), _reduced(panel[5, column], p, over_p)
    g, h = _reduced(panel[6, column], p, over_p), _reduced(panel[7, column], p, over_p)
    for j in range(np.uint64(start), stop):
        y = pivot_row[j]
        panel[0, j] -= a * y
        panel[1, j] -= b * y
        panel[2, j] -= c * y
        panel[3, j] -= d * y
        panel[4, j] -= e * y
        panel[5, j] -= f * y
        panel[6, j] -= g * y
        panel[7, j] -= h * y
    for j in range(np.uint64(start), stop):
        panel[row, j] = pivot_row[j]


@_compiled
def _copy(target, i, source, j):  # type: ignore[no-untyped-def]
    """target[i] = source[j], entry by entry: an assignment of rows takes far longer to compile."""
    for c in range(np.uint64(source.shape[1])):
        target[np.uint64(i), c] = source[np.uint64(j), c]


@_compiled
def _clear(table, i):  # type: ignore[no-untyped-def]
    for c in range(np.uint64(table.shape[1])):
        table[np.uint64(i), c] = 0


@_compiled
def _gather(panel, i, table, row, columns):  # type: ignore[no-untyped-def]
    target, source, width = np.uint64(i), np.uint64(row), np.uint64(len(columns))
    if len(columns) == 0:
        width = np.uint64(table.shape[1])
        for j in range(width):
            panel[target, j] = table[source, j]
    else:
        for j in range(width):
            panel[target, j] = table[source, np.uint64(columns[j])]
    for j in range(width, np.uint64(panel.shape[1])):
        panel[target, j] = 0


@_compiled
def eliminate(  # type: ignore[no-untyped-def]
    table, order, columns, space, arithmetic
):  # fmt: skip
    """The algorithm of `cpu.py` on table[order][:, columns], all columns if none are given.

    independent: (m,) output; or empty, then the first dependent vector ends the work.
    pivots: (m padded) output; rows: (m padded, n padded), keeps the pivot rows of panel b at 8b,
    8b + 1, ..., with zero rows behind them. space: these three, and room for the work: panel,
    multipliers, pivot_row. arithmetic: p, 1/p, lazy (`cpu.py`). Returns the rank modulo
    p, or the position of that first dependent vector.
    """
    independent, pivots, rows, panel, multipliers, pivot_row = space
    p, over_p, lazy = arithmetic
    m, n = len(order), len(columns) if len(columns) else table.shape[1]
    stop_early = len(independent) == 0
    rank, first = 0, 0  # pivots so far; the columns before `first` have pivots and hold zeros
    used = np.zeros(n + 1, dtype=np.bool_)
    starts = np.zeros(len(pivots) // 8, dtype=np.int64)  # where the rows of each panel begin
    for base in range(0, m, 8):
        for i in range(8):
            if base + i < m:
                _gather(panel, i, table, order[base + i], columns)
            else:
                _clear(panel, i)
        pending = 0
        for at in range(0, base, 8):
            if pending == lazy:
                _reduce_columns(panel, starts[at // 8], panel.shape[1], p, over_p)
                pending = 0
            _subtract_panel(panel, rows, at, pivots, multipliers, starts[at // 8], p, over_p)
            pending += 1
        start = first // 16 * 16
        starts[base // 8] = start
        height = 0
        for i in range(min(8, m - base)):
            column = first
            while column < n and _reduced(panel[i, column], p, over_p) == 0:
                column += 1
            if column == n:
                if stop_early:
                    return base + i
                continue
            inverse = _inverse(_reduced(panel[i, column], p, over_p), p)
            _clear_column(panel, pivot_row, i, column, start, p, over_p, rows.dtype.type(inverse))
            if not stop_early:
                independent[base + i] = True
            pivots[base + height] = column
            used[column] = True
            while used[first]:
                first += 1
            if height < i:
                _copy(panel, height, panel, i)
                _clear(panel, i)
            height += 1
        _reduce_columns(panel, start, panel.shape[1], p, over_p)
        for i in range(8):
            if i < height:
                for j in range(np.uint64(start), np.uint64(panel.shape[1])):
                    rows[base + i, j] = panel[i, j]
            else:
                _clear(rows, base + i)
                pivots[base + i] = -1
        rank += height
        if rank == n:
            for at in range(base + 8, len(pivots)):
                pivots[at] = -1
            return rank
    return rank


@_compiled
def _begin(pivots, at):  # type: ignore[no-untyped-def]
    """First column of a panel's pivot rows, padded down: they are zero left of their pivots."""
    begin = pivots[at]
    for q in range(1, 8):
        if 0 <= pivots[at + q] < begin:
            begin = pivots[at + q]
    return max(begin, 0) // 16 * 16


@_compiled
def back(rows, pivots, p, over_p, lazy):  # type: ignore[no-untyped-def]
    """Clear, from the last panel up, the pivot columns of all later panels."""
    panel, multipliers = np.empty((8, rows.shape[1]), rows.dtype), np.zeros((8, 8), rows.dtype)
    for base in range(len(pivots) - 16, -1, -8):
        for i in range(8):
            _copy(panel, i, rows, base + i)
        low, pending = _begin(pivots, base), 0
        for at in range(base + 8, len(pivots), 8):
            if pending == lazy:
                _reduce_columns(panel, low, panel.shape[1], p, over_p)
                pending = 0
            start = _begin(pivots, at)
            _subtract_panel(panel, rows, at, pivots, multipliers, start, p, over_p)
            low = min(low, start)
            pending += 1
        _reduce_columns(panel, low, panel.shape[1], p, over_p)
        for i in range(8):
            _copy(rows, base + i, panel, i)


@_compiled
def prefix_range(table, subsets, start, stop, out, arithmetic):  # type: ignore[no-untyped-def]
    k, n = subsets.shape[1], table.shape[1]
    height, width = (k + 7) // 8 * 8, (n + 15) // 16 * 16
    independent, pivots = np.zeros(0, np.bool_), np.zeros(height, np.int64)
    rows, panel = np.zeros((height, width), table.dtype), np.zeros((8, width), table.dtype)
    multipliers, pivot_row = np.zeros((8, 8), table.dtype), np.zeros(width, table.dtype)
    columns = np.zeros(0, np.int64)
    for s in range(start, stop):
        space = (independent, pivots, rows, panel, multipliers, pivot_row)
        out[s] = eliminate(table, subsets[s], columns, space, arithmetic)


@_compiled
def systematic_range(  # type: ignore[no-untyped-def]
    coefficients, position, subsets, start, stop, out, arithmetic
):
    """Unit vectors of the subset are pivots already; the others must be independent in the other
    coordinates, of which enough are taken, from a place that depends on the subset only."""
    k, r = subsets.shape[1], coefficients.shape[1]
    height, widest = (k + 7) // 8 * 8, (k + 15) // 16 * 16
    independent, pivots = np.zeros(0, np.bool_), np.zeros(height, np.int64)
    store = np.zeros((height + 9) * widest, coefficients.dtype)
    multipliers = np.zeros((8, 8), coefficients.dtype)
    order, columns, used = np.zeros(k, np.int64), np.zeros(widest, np.int64), np.zeros(r, np.bool_)
    for s in range(start, stop):
        for q in range(r):
            used[q] = False
        outside, place, repeated = 0, 0, False
        for v in subsets[s]:
            q = position[v]
            if q < 0:
                order[outside] = v
                outside += 1
                place += v
            else:
                repeated |= used[q]
                used[q] = True
        units = k - outside
        width = min((outside + 15) // 16 * 16, r - units)
        if repeated or width < outside:
            out[s] = units if not repeated else 0
            continue
        count, q = 0, place % r
        while count < width:
            if not used[q]:
                columns[count] = q
                count += 1
            q = q + 1 if q + 1 < r else 0
        padded, tall = (width + 15) // 16 * 16, (outside + 7) // 8 * 8
        rows = store[: tall * padded].reshape(tall, padded)
        panel = store[tall * padded : (tall + 8) * padded].reshape(8, padded)
        space = (independent, pivots[:tall], rows, panel, multipliers, store[-widest:])
        further = eliminate(coefficients, order[:outside], columns[:width], space, arithmetic)
        out[s] = units + further


@_compiled
def subtract_range(out, rows, columns, product, start, stop, p, over_p):  # type: ignore[no-untyped-def]
    """out[i] = rows[i, columns] - product[i], reduced, for rows start .. stop-1."""
    for i in range(np.uint64(start), np.uint64(stop)):
        for j in range(np.uint64(len(columns))):
            out[i, j] = _reduced(rows[i, np.uint64(columns[j])] - product[i, j], p, over_p)
