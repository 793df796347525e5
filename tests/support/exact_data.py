"""Exact data sets with stated properties; the same arguments and seed give the same data set."""

from __future__ import annotations

import numpy as np
from flint import fmpz_mat

from attncert.constructions.arrays import AnyArray, IntArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.exact_array import ExactArray
from attncert.constructions.errors import InputError

_DRAWS = 1000  # attempts to draw a matrix of full rank


def family(
    T: int,
    n: int,
    d: int,
    *,
    contexts: str = "random",
    queries: str = "random",
    m: int = 1,
    shared: bool = False,
    bound: int = 9,
    seed: int = 0,
) -> Dataset:
    """Integer data with contexts of rank n ≤ d and queries of the given kind.

    contexts:
        random    entries in [-bound, bound]
        permuted  one matrix, with its rows in a different order for every example
    queries:
        random        entries in [-bound, bound]
        moment-curve  (1, t, …, t^(d-1)) at T distinct integers t: any d are independent
    Requires n ≤ d. Raises InputError if no context of rank n was drawn (if the bound is too small).
    """
    rng = np.random.default_rng(seed)
    count, permuted = 1 if shared else T, contexts == "permuted"
    drawn = [_full_rank(rng, n, d, bound) for _ in range(1 if permuted else count)]
    if permuted:
        drawn = [drawn[0][rng.permutation(n)] for _ in range(count)]
    curve = queries == "moment-curve"
    e = _moment_curve(T, d) if curve else rng.integers(-bound, bound, (T, d), endpoint=True)
    y = rng.integers(-bound, bound, (T, m), endpoint=True)
    name = f"{contexts}-contexts-{queries}-queries"
    return Dataset(ExactArray(np.stack(drawn)), ExactArray.of(e), ExactArray(y), name)


def step_seven_trap() -> Dataset:
    """Contexts {e1, e2, e3} (three times), {e3, e4, e5} (twice); queries I_5; n = 3, d = 5.

    With H = 2, d_h = 3, the second group's two examples add the same new direction: it is not
    enough that each is outside the span of the *earlier* rows; it must be outside that of all rows
    so far.
    """
    unit = np.eye(5, dtype=np.int64)
    contexts = np.stack([unit[:3]] * 3 + [unit[2:]] * 2)
    return Dataset.of(contexts, unit, np.arange(1, 6), "step-seven-trap")


def _moment_curve(T: int, d: int) -> AnyArray:
    """Powers of the T smallest distinct integers, a Vandermonde matrix of Python integers."""
    points = np.arange(T) - T // 2
    powers: AnyArray = points.astype(object)[:, None] ** np.arange(d)
    return powers


def _full_rank(rng: np.random.Generator, rows: int, columns: int, bound: int) -> IntArray:
    for _ in range(_DRAWS):
        matrix = rng.integers(-bound, bound, (rows, columns), endpoint=True)
        if fmpz_mat(matrix.tolist()).rank() == rows:
            return matrix
    raise InputError("bound", f"large enough for {rows}×{columns} matrices of full rank", bound)
