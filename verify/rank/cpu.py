"""The elimination on CPU threads: one matrix per core, compiled by numba, no BLAS.

**Algorithm** (shared with `batched.py`, which runs it on whole stacks of matrices). The rows are
vectors, taken in order in panels of 8. For a panel:

1. subtract what the earlier pivot rows contribute. The pivot rows of one earlier panel are stored
   with the identity in their pivot columns, so the multipliers are the panel's own entries there,
   reduced: no triangular solve;
2. run through its rows: the first nonzero entry is the pivot (none: the vector is dependent on
   earlier ones modulo p); scale it to 1 and clear its column in the other seven rows;
3. reduce the panel and keep its pivot rows.

Nothing is swapped: a pivot may sit in any column, and the columns left of the first one without a
pivot hold zeros and are skipped.

**Bound.** Between two reductions an entry of the panel starts balanced and receives at most
8 * `lazy` products in step 1 and 8 in step 2, so with

    8 * (lazy + 1) <= lazy_terms(p, t)

every sum is exact (Lemma 2 of `arithmetic.py`); step 1 reduces the panel after each `lazy`
earlier panels. Every multiplier and every pivot row is balanced when it is used, and the scaling
multiplies one balanced residue by another (one product). Reductions use the floor form of Lemma 1.

The inner loops run over columns with unsigned indices (a signed one costs a test for Python's
negative indexing and with it the vectorisation); rows are padded with zeros to 16 columns.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numba import njit

from verify.rank.arithmetic import lazy_terms, modulus

__all__ = ["PANEL", "available_threads", "echelon", "prefixes", "profile", "systematic_prefixes"]

PANEL = 8
_LANES = 16  # columns are padded to a multiple of this
_TABLE_LIMIT = 1 << 16  # inverses modulo smaller primes are looked up


def available_threads() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def prefixes(table: np.ndarray, subsets: np.ndarray, p: int, threads: int = 1) -> np.ndarray:
    """For each subset, how many of its leading vectors are proved independent modulo p.

    table:   (N, D) balanced residues, float32 or float64, C order.
    subsets: (S, k) int64 row indices. Result (S,) int64: k where the whole subset is independent,
        else the position of the first vector that is dependent, modulo p, on those before it.

    >>> table = np.array([[1.0, 2.0], [2.0, 4.0], [0.0, 1.0]])
    >>> prefixes(table, np.array([[0, 2], [0, 1], [2, 1]]), 11863067).tolist()
    [2, 1, 2]
    """
    out = np.zeros(len(subsets), dtype=np.int64)
    arithmetic = _arithmetic(p, table.dtype)

    def work(start: int, stop: int) -> None:
        _prefix_range(table, subsets, start, stop, out, *arithmetic)

    _spread(work, len(subsets), threads)
    return out


def systematic_prefixes(
    coefficients: np.ndarray,
    position: np.ndarray,
    subsets: np.ndarray,
    p: int,
    threads: int = 1,
) -> np.ndarray:
    """Like `prefixes` where some vectors are unit vectors (see `coordinates.Systematic`).

    coefficients: (N, r) balanced residues, each vector in a basis of r of them.
    position:     (N,) int64, the basis index of a basis vector, -1 for the others.
    Only the vectors outside the basis are eliminated, in coordinates whose basis vectors are not
    in the subset: k where that proves the subset independent, else an unspecified smaller number.
    """
    out = np.zeros(len(subsets), dtype=np.int64)
    arithmetic = _arithmetic(p, coefficients.dtype)

    def work(start: int, stop: int) -> None:
        _systematic_range(coefficients, position, subsets, start, stop, out, *arithmetic)

    _spread(work, len(subsets), threads)
    return out


def profile(matrix: np.ndarray, p: int) -> tuple[np.ndarray, np.ndarray]:
    """Rank profile modulo p: which rows are independent of the earlier ones, and pivot columns.

    matrix: (m, n) balanced residues. Returns a boolean (m,) and the pivot column of each
    independent row, in order; the rank is their number.

    >>> rows, columns = profile(np.array([[0.0, 2.0], [0.0, 4.0], [3.0, 1.0]]), 11863067)
    >>> rows.tolist(), columns.tolist()
    ([True, False, True], [1, 0])
    """
    independent, pivots, _ = _forward(matrix, p)
    return independent, pivots[pivots >= 0]


def echelon(matrix: np.ndarray, p: int) -> tuple[np.ndarray, np.ndarray]:
    """Reduced row echelon form modulo p, up to the order of its rows.

    matrix: (m, n) balanced residues. Returns the pivot columns (r,) and the (r, n) balanced rows,
    each with 1 in its own pivot column and 0 in the others'. The pivot columns are the
    lexicographically first set of independent columns.

    >>> pivots, rows = echelon(np.array([[0.0, 2.0, 1.0], [3.0, 1.0, 0.0]]), 11)
    >>> pivots.tolist(), (rows % 11).tolist()
    ([1, 0], [[0.0, 1.0, 6.0], [1.0, 0.0, 9.0]])
    """
    _, pivots, rows = _forward(matrix, p)
    _back(rows, pivots, *_arithmetic(p, matrix.dtype)[:3])
    kept = pivots >= 0
    order = np.flatnonzero(kept)
    return pivots[order], rows[order, : matrix.shape[1]]


def _forward(matrix: np.ndarray, p: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    m, n = matrix.shape
    height, width = _ceil(m, PANEL), _ceil(n, _LANES)
    independent = np.zeros(m, dtype=np.bool_)
    pivots = np.full(height, -1, dtype=np.int64)
    rows = np.zeros((height, width), dtype=matrix.dtype)
    panel, multipliers, pivot_row = _workspace(width, matrix.dtype)
    order, columns = np.arange(m, dtype=np.int64), np.arange(n, dtype=np.int64)
    matrix = np.ascontiguousarray(matrix)
    args = (independent, pivots, rows, panel, multipliers, pivot_row)
    _eliminate(matrix, order, columns, True, *args, *_arithmetic(p, matrix.dtype), False)
    return independent, pivots, rows


Arithmetic = tuple[np.floating, np.floating, int, np.ndarray]


def _arithmetic(p: int, dtype: np.dtype) -> Arithmetic:
    """(p, 1/p, lazy, inverses) in the kernel's type; the bound of the module is enforced here."""
    modulus(p, dtype.name, terms=2 * PANEL)
    lazy = lazy_terms(p, dtype.name) // PANEL - 1
    inverses = np.zeros(1, dtype=dtype)
    if p < _TABLE_LIMIT:
        table = [0] + [pow(a, -1, p) for a in range(1, p)]
        inverses = np.array([r - p if r > p // 2 else r for r in table], dtype=dtype)
    return dtype.type(p), dtype.type(1.0 / p), lazy, inverses


def _workspace(width: int, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.zeros((8, width), dtype), np.zeros((8, 8), dtype), np.zeros(width, dtype)


def _ceil(n: int, multiple: int) -> int:
    return -(-n // multiple) * multiple


def _spread(work: Callable[[int, int], None], count: int, threads: int) -> None:
    """Run `work` over 0 .. count in ranges on threads; the kernels release the GIL."""
    step = max(1, -(-count // (threads * 8)))
    ranges = [(start, min(start + step, count)) for start in range(0, count, step)]
    if threads == 1 or len(ranges) < 2:
        for start, stop in ranges:
            work(start, stop)
        return
    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(work, *r) for r in ranges]:
            done.result()


# --------------------------------------------------------------------------- compiled kernels

_HALF = np.float32(0.5)
_ONE = np.uint64(1)
_compiled = njit(cache=True, nogil=True, fastmath={"contract"})  # fused multiply-add, no more
_inlined = njit(cache=True, nogil=True, fastmath={"contract"}, inline="always")


@_inlined
def _reduced(x, p, over_p):  # type: ignore[no-untyped-def]
    return x - p * np.floor(x * over_p + _HALF)


@_compiled
def _inverse(x, p, inverses):  # type: ignore[no-untyped-def]
    """1/x modulo p as an integer: looked up, or by the extended Euclidean algorithm."""
    a, modulus_ = np.int64(x), np.int64(p)
    if a < 0:
        a += modulus_
    if len(inverses) > 1:
        return np.int64(inverses[a])
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
def _subtract_panel(panel, rows, at, pivots, multipliers, start, p, over_p):  # type: ignore
    """Step 1 for one earlier panel, whose pivot rows are rows[at:at+8]."""
    in_order = pivots[at] >= 0
    for q in range(1, 8):
        in_order &= pivots[at + q] == pivots[at] + q
    if in_order:
        left = np.uint64(pivots[at])
        for i in range(8):
            for q in range(np.uint64(8)):
                multipliers[i, q] = _reduced(panel[i, left + q], p, over_p)
    else:
        for q in range(8):
            for i in range(8):
                column = pivots[at + q]
                multipliers[i, q] = _reduced(panel[i, column], p, over_p) if column >= 0 else 0
    _tile(panel, rows, at, multipliers, 0, start)
    _tile(panel, rows, at + 4, multipliers, 4, start)


@_compiled
def _clear_column(panel, pivot_row, i, column, start, p, over_p, inverse):  # type: ignore
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
def _gather(panel, i, table, row, columns, contiguous):  # type: ignore[no-untyped-def]
    target, source, width = np.uint64(i), np.uint64(row), np.uint64(len(columns))
    if contiguous:
        for j in range(width):
            panel[target, j] = table[source, j]
    else:
        for j in range(width):
            panel[target, j] = table[source, np.uint64(columns[j])]
    for j in range(width, np.uint64(panel.shape[1])):
        panel[target, j] = 0


@_compiled
def _eliminate(  # type: ignore[no-untyped-def]
    table, order, columns, contiguous,
    independent, pivots, rows, panel, multipliers, pivot_row,
    p, over_p, lazy, inverses, stop_early,
):  # fmt: skip
    """The algorithm of the module on table[order][:, columns]; returns the rank modulo p.

    independent (m,) and pivots (m padded) are outputs; rows (m padded, n padded) keeps the pivot
    rows of panel b at 8b, 8b+1, ..., zero rows behind them. With stop_early it returns the
    position of the first dependent vector instead.
    """
    m, n = len(order), len(columns)
    rank, first = 0, 0  # pivots found; the columns before `first` have pivots and hold zeros
    used = np.zeros(n + 1, dtype=np.bool_)
    starts = np.zeros(len(pivots) // 8, dtype=np.int64)  # where the rows of each panel begin
    for base in range(0, m, 8):
        for i in range(8):
            if base + i < m:
                _gather(panel, i, table, order[base + i], columns, contiguous)
            else:
                panel[i] = 0
        pending = 0
        for at in range(0, base, 8):
            if pending == lazy:
                _reduce_columns(panel, starts[at // 8], panel.shape[1], p, over_p)
                pending = 0
            _subtract_panel(panel, rows, at, pivots, multipliers, starts[at // 8], p, over_p)
            pending += 1
        start = first // 16 * 16
        starts[base // 8] = start
        found = 0
        for i in range(min(8, m - base)):
            column = first
            while column < n and _reduced(panel[i, column], p, over_p) == 0:
                column += 1
            if column == n:
                if stop_early:
                    return base + i
                continue
            value = _inverse(_reduced(panel[i, column], p, over_p), p, inverses)
            _clear_column(panel, pivot_row, i, column, start, p, over_p, rows.dtype.type(value))
            independent[base + i] = True
            pivots[base + found] = column
            used[column] = True
            while used[first]:
                first += 1
            if found < i:
                panel[found] = panel[i]
                panel[i] = 0
            found += 1
        _reduce_columns(panel, start, panel.shape[1], p, over_p)
        for i in range(8):
            if i < found:
                for j in range(np.uint64(start), np.uint64(panel.shape[1])):
                    rows[base + i, j] = panel[i, j]
            else:
                rows[base + i] = 0
                pivots[base + i] = -1
        rank += found
        if rank == n:
            for at in range(base + 8, len(pivots)):
                pivots[at] = -1
            return rank
    return rank


@_compiled
def _back(rows, pivots, p, over_p, lazy):  # type: ignore[no-untyped-def]
    """Clear, from the last panel up, the pivot columns of all later panels."""
    panel, multipliers = np.empty_like(rows[:8]), np.zeros((8, 8), rows.dtype)
    for base in range(len(pivots) - 16, -1, -8):
        panel[:] = rows[base : base + 8]
        pending = 0
        for at in range(base + 8, len(pivots), 8):
            if pending == lazy:
                _reduce_columns(panel, 0, panel.shape[1], p, over_p)
                pending = 0
            _subtract_panel(panel, rows, at, pivots, multipliers, 0, p, over_p)
            pending += 1
        _reduce_columns(panel, 0, panel.shape[1], p, over_p)
        rows[base : base + 8] = panel


@_compiled
def _prefix_range(table, subsets, start, stop, out, p, over_p, lazy, inverses):  # type: ignore
    k, n = subsets.shape[1], table.shape[1]
    height, width = (k + 7) // 8 * 8, (n + 15) // 16 * 16
    independent, pivots = np.zeros(k, np.bool_), np.zeros(height, np.int64)
    rows, panel = np.zeros((height, width), table.dtype), np.zeros((8, width), table.dtype)
    multipliers, pivot_row = np.zeros((8, 8), table.dtype), np.zeros(width, table.dtype)
    columns = np.arange(n)
    for s in range(start, stop):
        out[s] = _eliminate(
            table, subsets[s], columns, True,
            independent, pivots, rows, panel, multipliers, pivot_row,
            p, over_p, lazy, inverses, True,
        )  # fmt: skip


@_compiled
def _systematic_range(  # type: ignore[no-untyped-def]
    coefficients, position, subsets, start, stop, out, p, over_p, lazy, inverses
):
    """Unit vectors of the subset are pivots already; what is left must be independent in the
    other coordinates, of which enough are taken, from a place that depends on the subset only."""
    k, r = subsets.shape[1], coefficients.shape[1]
    height, widest = (k + 7) // 8 * 8, (k + 15) // 16 * 16
    independent, pivots = np.zeros(k, np.bool_), np.zeros(height, np.int64)
    store = np.zeros((height + 9) * widest, coefficients.dtype)
    multipliers = np.zeros((8, 8), coefficients.dtype)
    order, columns, taken = np.zeros(k, np.int64), np.zeros(widest, np.int64), np.zeros(r, np.bool_)
    for s in range(start, stop):
        taken[:] = False
        left, place, repeated = 0, 0, False
        for v in subsets[s]:
            q = position[v]
            if q < 0:
                order[left] = v
                left += 1
                place += v
            else:
                repeated |= taken[q]
                taken[q] = True
        units = k - left
        width = min((left + 15) // 16 * 16, r - units)
        if repeated or width < left:
            out[s] = units if not repeated else 0
            continue
        found, q = 0, place % r
        while found < width:
            if not taken[q]:
                columns[found] = q
                found += 1
            q = q + 1 if q + 1 < r else 0
        padded, tall = (width + 15) // 16 * 16, (left + 7) // 8 * 8
        rows = store[: tall * padded].reshape(tall, padded)
        panel = store[tall * padded : (tall + 8) * padded].reshape(8, padded)
        out[s] = units + _eliminate(
            coefficients, order[:left], columns[:width], False,
            independent, pivots[:tall], rows, panel, multipliers, store[-widest:],
            p, over_p, lazy, inverses, True,
        )  # fmt: skip
