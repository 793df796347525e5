"""The elimination of `cpu.py` on a whole stack of matrices, on a GPU.

The algorithm is the same, but its order suits batches: when rows are finished, their contribution
is subtracted from *all* later rows at once (right-looking), by one batched product per group of
rows. The two expensive steps, the panel and the product, are in `cuda.py`.

A product with few pivot rows is limited by memory bandwidth. So the panels of a group of rows are
first subtracted from the other rows of the group, including earlier rows. This leaves an identity
in the pivot columns of the group, and the whole group is then subtracted from all later rows at
once.

**Bound.** An entry of a later row starts balanced and receives one product per pivot row: `group`
products per group, and `group` more when its own group is eliminated. It is reduced before the next
group could exceed `lazy_terms`: with T = lazy_terms(p, t), after every floor(T / group) - 1 groups
(Lemma 2 of `arithmetic.py`); so 2 * group <= T is required.
"""

from __future__ import annotations

from typing import Any

from array_api_compat import array_namespace

from attncert.verify.rank.engines.arithmetic import lazy_terms, modulus, reduce
from attncert.verify.rank.engines.cuda import WIDTH, CudaKernels

GROUP = 4 * WIDTH  # the largest number of rows in one product with later rows


def prefixes(stack: Any, p: int, kernels: CudaKernels) -> Any:
    """The number of leading rows proved independent modulo p, for each matrix of the stack.

    stack: (S, m, n) balanced residues, float64 on the device; it is overwritten. Returns (S,)
    int64: m if all rows are independent, else the index of the first row that depends, modulo p, on
    earlier rows.
    """
    xp = array_namespace(stack)
    count, m, n = stack.shape
    modulus(p, "float64", terms=2 * WIDTH)
    terms = lazy_terms(p, "float64")
    group = min(GROUP, terms // (2 * WIDTH) * WIDTH)
    alive = xp.ones((count,), dtype=xp.bool, device=stack.device)
    lengths = xp.zeros((count,), dtype=xp.int64, device=stack.device)
    start = pending = 0
    for base in range(0, m, group):
        if start == n:  # every column has a pivot, so all other rows depend on earlier rows
            break
        stop, first = min(base + group, m), start
        columns, independent, start = _eliminate(stack, base, stop, first, p, kernels)
        all_of_them = xp.all(independent, axis=1)
        leading = xp.argmin(xp.astype(independent, xp.int8), axis=1)
        leading = xp.where(all_of_them, xp.full_like(leading, stop - base), leading)
        lengths = lengths + xp.where(alive, leading, xp.zeros_like(leading))
        alive = alive & all_of_them
        if stop == m:
            break
        later = stack[:, stop:, first:]
        factors = _factors(later, columns, independent, start - first == stop - base, p)
        if pending == terms // group - 1:
            stack[:, stop:, first:] = reduce(later, p)
            pending = 0
        kernels.subtract(stack, (base, stop), (stop, m), first, factors)
        pending += 1
    return lengths


def _eliminate(
    stack: Any, base: int, stop: int, first: int, p: int, kernels: CudaKernels
) -> tuple[Any, Any, int]:
    """Eliminate the rows base:stop among themselves, panel by panel. They are balanced afterwards.

    Returns the result of `CudaKernels.panel`, with columns counted from `first`, and the first
    column in which later rows may be nonzero.
    """
    xp = array_namespace(stack)
    start = first
    panels = []
    for top in range(base, stop, WIDTH):
        bottom = min(top + WIDTH, stop)
        if start == stack.shape[2]:
            none = xp.zeros((stack.shape[0], stop - top), dtype=xp.int64, device=stack.device)
            panels.append((none, xp.astype(none, xp.bool)))
            break
        columns, independent = kernels.panel(stack, top, bottom, start, p)
        panels.append((columns + (start - first), independent))
        in_order = xp.arange(bottom - top, device=stack.device)[None, :] == columns
        generic = bool(xp.all(in_order & independent))
        for rows in ((base, top), (bottom, stop)):
            if rows[0] < rows[1]:
                others = stack[:, rows[0] : rows[1], start:]
                factors = _factors(others, columns, independent, generic, p)
                kernels.subtract(stack, (top, bottom), rows, start, factors)
        start += (bottom - top) * generic
    if stop - base > WIDTH:
        stack[:, base:stop, first:] = reduce(stack[:, base:stop, first:], p)
    columns, independent = (xp.concat(parts, axis=1) for parts in zip(*panels, strict=True))
    return columns, independent, start


def _factors(rows: Any, columns: Any, independent: Any, generic: bool, p: int) -> Any:
    """The multiples of pivot rows to subtract from rows. generic: whether row i has its pivot in
    column i, for every i."""
    if generic:
        return reduce(rows[:, :, : columns.shape[1]], p)
    xp = array_namespace(rows)
    factors = reduce(_columns(xp, rows, columns), p)
    return xp.where(independent[:, None, :], factors, xp.zeros_like(factors))


def _columns(xp: Any, rows: Any, columns: Any) -> Any:
    """rows[s, :, columns[s, :]] for every s: (S, m, n) and (S, c) -> (S, m, c)."""
    shape = (rows.shape[0], rows.shape[1], columns.shape[1])
    return xp.take_along_axis(rows, xp.broadcast_to(columns[:, None, :], shape), axis=2)
