"""The elimination on CPU threads: one matrix per core, compiled by numba, without BLAS.

**Algorithm** (shared with `batched.py`, which runs it on whole stacks of matrices). The rows are
processed in order, in panels of 4. For each panel:

1. Subtract the contributions of earlier pivot rows. The pivot rows of an earlier panel form the
   identity in their pivot columns, so the multipliers are the panel's own reduced entries in these
   columns, without a triangular solve.
2. For each row of the panel, the first nonzero entry is the pivot (if there is none, the row
   depends on earlier rows modulo p). Scale it to 1 and clear its column in the other three rows.

Nothing is swapped: a pivot may be in any column.

**Bound.** Step 1 starts with balanced entries and adds 4 products to each entry for every earlier
panel. It reduces the panel before an entry has more than `lazy` = `lazy_terms(p, t)` products, and
at the end, so every sum is exact (Lemma 2 of `arithmetic.py`). Every multiplier and every pivot row
is balanced when it is used, and step 2 reduces after one product. Reductions use the floor form of
Lemma 1.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import numpy as np

from attncert.constructions.arrays import BoolArray, IntArray, ResidueArray
from attncert.verify.rank.engines.arithmetic import lazy_terms, modulus
from attncert.verify.sharding.threads import parallel_map

PANEL = 4


def prefixes(table: ResidueArray, subsets: IntArray, p: int, threads: int = 1) -> IntArray:
    """The number of leading vectors proved independent modulo p, for each subset.

    table:   (N, D) balanced residues, float32 or float64, C order.
    subsets: (S, k) int64 row indices. Returns (S,) int64: k if the whole subset is independent,
             else the position of the first vector that depends, modulo p, on earlier vectors.

    >>> table = np.array([[1.0, 2.0], [2.0, 4.0], [0.0, 1.0]])
    >>> prefixes(table, np.array([[0, 2], [0, 1], [2, 1]]), 11863067).tolist()
    [2, 1, 2]
    """
    loop, arithmetic = _compiled().prefix_range, _arithmetic(p, table.dtype)
    lengths = np.zeros(len(subsets), dtype=np.int64)

    def work(start: int, stop: int) -> None:
        loop(table, subsets, start, stop, lengths, arithmetic)

    _spread(work, len(subsets), threads)
    return lengths


Systematic = tuple[ResidueArray, IntArray]


def systematic(table: ResidueArray, p: int) -> Systematic:
    """The rows in terms of a basis of r of them, (N, r), and each row's position in the basis,
    (N,); -1 if it is not in the basis.

    About kr/N rows of a random subset of k rows are in the basis, and are thus distinct unit
    vectors. It remains to show that the other rows are independent in the remaining coordinates, so
    the cubic cost is multiplied by (1 - r/N)^3, which is 0.23 for N = 2,000 and r = 768. (Coding
    theory calls this the systematic form.)

    table: (N, D) balanced residues.
    """
    basis, rows = echelon(np.ascontiguousarray(table.T), p)
    place = np.full(len(table), -1, dtype=np.int64)
    place[basis] = np.arange(len(basis))
    return np.ascontiguousarray(rows.T), place


def independent(form: Systematic, subsets: IntArray, p: int, threads: int = 1) -> BoolArray:
    """Which of the subsets, as (S, k) indices, are proved independent modulo p; (S,).

    >>> form = systematic(np.array([[1.0, 2.0], [2.0, 4.0], [0.0, 1.0]]), 11863067)
    >>> independent(form, np.array([[0, 2], [0, 1], [2, 1]]), 11863067).tolist()
    [True, False, True]
    """
    loop, arithmetic = _compiled().independent_range, _arithmetic(p, form[0].dtype)
    proved = np.zeros(len(subsets), dtype=np.bool_)

    def work(start: int, stop: int) -> None:
        loop(*form, subsets, start, stop, proved, arithmetic)

    _spread(work, len(subsets), threads)
    return proved


def profile(matrix: ResidueArray, p: int) -> tuple[BoolArray, IntArray]:
    """The rank profile modulo p: which rows are independent of earlier rows, and the pivot columns.

    matrix: (m, n) balanced residues. Returns a boolean array (m,) and the pivot column of each
    independent row, in order; the number of these columns is the rank.

    >>> rows, columns = profile(np.array([[0.0, 2.0], [0.0, 4.0], [3.0, 1.0]]), 11863067)
    >>> rows.tolist(), columns.tolist()
    ([True, False, True], [1, 0])
    """
    pivots, _ = _forward(matrix, p)
    return pivots[: len(matrix)] >= 0, pivots[pivots >= 0]


def echelon(matrix: ResidueArray, p: int) -> tuple[IntArray, ResidueArray]:
    """The reduced row echelon form modulo p, up to the order of its rows.

    matrix: (m, n) balanced residues. Returns the pivot columns (r,) and the (r, n) balanced rows,
    each with 1 in its own pivot column and 0 in the other pivot columns. The pivot columns are the
    lexicographically first set of independent columns.

    >>> pivots, rows = echelon(np.array([[0.0, 2.0, 1.0], [3.0, 1.0, 0.0]]), 11)
    >>> pivots.tolist(), (rows % 11).tolist()
    ([1, 0], [[0.0, 1.0, 6.0], [1.0, 0.0, 9.0]])
    """
    pivots, rows = _forward(matrix, p)
    _compiled().back(rows, pivots, _arithmetic(p, matrix.dtype))
    independent = np.flatnonzero(pivots >= 0)
    return pivots[independent], rows[independent]


def _compiled() -> ModuleType:
    """The compiled code, imported when needed, since the compiler takes half a second to load."""
    from attncert.verify.rank.engines import cpu_compiled

    return cpu_compiled


def _forward(matrix: ResidueArray, p: int) -> tuple[IntArray, ResidueArray]:
    """The pivot column of each row (or -1) and the eliminated rows, both padded to whole panels."""
    m, n = matrix.shape
    rows = np.zeros((-(-m // PANEL) * PANEL, n), dtype=matrix.dtype)
    rows[:m] = matrix
    pivots = np.full(len(rows), -1, dtype=np.int64)
    _compiled().eliminate(rows, pivots, False, _arithmetic(p, matrix.dtype))
    return pivots, rows


Arithmetic = tuple[np.floating, np.floating, int]


def _arithmetic(p: int, dtype: np.dtype) -> Arithmetic:
    """(p, 1/p, lazy) in the number type of the loops. Enforces the bound above."""
    modulus(p, dtype.name, terms=2 * PANEL)  # bounds p by 2^26, as `residues` requires
    return dtype.type(p), dtype.type(1.0 / p), lazy_terms(p, dtype.name)


def _spread(work: Callable[[int, int], None], count: int, threads: int) -> None:
    """Run `work` on threads, over ranges that cover 0 .. count-1. The loops release the GIL."""
    step = max(1, -(-count // (threads * 8)))
    ranges = [(start, min(start + step, count)) for start in range(0, count, step)]
    for _ in parallel_map(lambda ends: work(*ends), ranges, min(threads, max(1, len(ranges)))):
        pass
