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
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import ModuleType

import numpy as np

from attncert.constructions.arrays import BoolArray, FloatArray, IntArray, ResidueArray
from attncert.verify.rank.engines.arithmetic import lazy_terms, modulus
from attncert.verify.scale.threads import available_threads, parallel_map

PANEL = 8
_LANES = 16  # columns are padded to a multiple of this


def prefixes(table: ResidueArray, subsets: IntArray, p: int, threads: int = 1) -> IntArray:
    """For each subset, how many of its leading vectors are proved independent modulo p.

    table:   (N, D) balanced residues, float32 or float64, C order.
    subsets: (S, k) int64 row indices. Result (S,) int64: k where the whole subset is independent,
        else the position of the first vector that is dependent, modulo p, on those before it.

    >>> table = np.array([[1.0, 2.0], [2.0, 4.0], [0.0, 1.0]])
    >>> prefixes(table, np.array([[0, 2], [0, 1], [2, 1]]), 11863067).tolist()
    [2, 1, 2]
    """
    return _lengths(
        partial(_compiled().prefix_range, table), subsets, _arithmetic(p, table.dtype), threads
    )


def systematic_prefixes(
    coefficients: ResidueArray, position: IntArray, subsets: IntArray, p: int, threads: int = 1
) -> IntArray:
    """Like `prefixes` where some vectors are unit vectors (see `coordinates.Systematic`).

    coefficients: (N, r) balanced residues, each vector in a basis of r of them.
    position:     (N,) int64, the basis index of a basis vector, -1 for the others.
    Only the vectors outside the basis are eliminated, in coordinates whose basis vectors are not
    in the subset: k where that proves the subset independent, else an unspecified smaller number.
    """
    loop = partial(_compiled().systematic_range, coefficients, position)
    return _lengths(loop, subsets, _arithmetic(p, coefficients.dtype), threads)


def profile(matrix: ResidueArray, p: int) -> tuple[BoolArray, IntArray]:
    """Rank profile modulo p: which rows are independent of the earlier ones, and pivot columns.

    matrix: (m, n) balanced residues. Returns a boolean (m,) and the pivot column of each
    independent row, in order; the rank is their number.

    >>> rows, columns = profile(np.array([[0.0, 2.0], [0.0, 4.0], [3.0, 1.0]]), 11863067)
    >>> rows.tolist(), columns.tolist()
    ([True, False, True], [1, 0])
    """
    independent, pivots, _ = _forward(matrix, p)
    return independent, pivots[pivots >= 0]


def echelon(matrix: ResidueArray, p: int) -> tuple[IntArray, ResidueArray]:
    """Reduced row echelon form modulo p, up to the order of its rows.

    matrix: (m, n) balanced residues. Returns the pivot columns (r,) and the (r, n) balanced rows,
    each with 1 in its own pivot column and 0 in the others'. The pivot columns are the
    lexicographically first set of independent columns.

    >>> pivots, rows = echelon(np.array([[0.0, 2.0, 1.0], [3.0, 1.0, 0.0]]), 11)
    >>> pivots.tolist(), (rows % 11).tolist()
    ([1, 0], [[0.0, 1.0, 6.0], [1.0, 0.0, 9.0]])
    """
    _, pivots, rows = _forward(matrix, p)
    _compiled().back(rows, pivots, *_arithmetic(p, matrix.dtype))
    filled = pivots >= 0
    order = np.flatnonzero(filled)
    return pivots[order], rows[order, : matrix.shape[1]]


def subtract(rows: FloatArray, columns: IntArray, product: FloatArray, p: int) -> FloatArray:
    """rows[:, columns] - product modulo p, balanced, in one pass over memory on all cores.

    rows: (m, n) balanced; columns: (k,) int64; product: (m, k), a sum of at most
    `lazy_terms(p, "float64")` products of balanced residues. float64.

    >>> subtract(np.array([[1.0, 2.0, 3.0]]), np.array([2, 0]), np.array([[5.0, 5.0]]), 11).tolist()
    [[-2.0, -4.0]]
    """
    loop, out = _compiled().subtract_range, np.empty(product.shape)

    def work(start: int, stop: int) -> None:
        loop(out, rows, columns, product, start, stop, np.float64(p), np.float64(1.0 / p))

    _spread(work, len(rows), available_threads())
    return out


def _compiled() -> ModuleType:
    """Compiled code, and the compiler with it: half a second that a small proof does not need."""
    from attncert.verify.rank.engines import cpu_compiled

    return cpu_compiled


def _forward(matrix: ResidueArray, p: int) -> tuple[BoolArray, IntArray, ResidueArray]:
    m, n = matrix.shape
    height, width = _ceil(m, PANEL), _ceil(n, _LANES)
    independent = np.zeros(m, dtype=np.bool_)
    pivots = np.full(height, -1, dtype=np.int64)
    rows = np.zeros((height, width), dtype=matrix.dtype)
    panel, multipliers = np.zeros((8, width), matrix.dtype), np.zeros((8, 8), matrix.dtype)
    pivot_row = np.zeros(width, matrix.dtype)
    order, columns = np.arange(m, dtype=np.int64), np.zeros(0, dtype=np.int64)
    matrix = np.ascontiguousarray(matrix)
    space = (independent, pivots, rows, panel, multipliers, pivot_row)
    _compiled().eliminate(matrix, order, columns, space, _arithmetic(p, matrix.dtype))
    return independent, pivots, rows


Arithmetic = tuple[np.floating, np.floating, int]


def _arithmetic(p: int, dtype: np.dtype) -> Arithmetic:
    """(p, 1/p, lazy) in the loops' type; the bound of the module is enforced here."""
    modulus(p, dtype.name, terms=2 * PANEL)
    lazy = lazy_terms(p, dtype.name) // PANEL - 1
    return dtype.type(p), dtype.type(1.0 / p), lazy


def _lengths(
    loop: Callable[..., None], subsets: IntArray, arithmetic: Arithmetic, threads: int
) -> IntArray:
    out = np.zeros(len(subsets), dtype=np.int64)

    def work(start: int, stop: int) -> None:
        loop(subsets, start, stop, out, arithmetic)

    _spread(work, len(subsets), threads)
    return out


def _ceil(n: int, multiple: int) -> int:
    return -(-n // multiple) * multiple


def _spread(work: Callable[[int, int], None], count: int, threads: int) -> None:
    """Run `work` over 0 .. count in ranges on threads; the loops release the GIL."""
    step = max(1, -(-count // (threads * 8)))
    ranges = [(start, min(start + step, count)) for start in range(0, count, step)]
    for _ in parallel_map(lambda ends: work(*ends), ranges, min(threads, max(1, len(ranges)))):
        pass
