"""Matrices with planted ranks, in one table for the tests of all four arithmetics.

Each case states its rank and the reason for it; the code under test computes no rank here.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx, fmpq, fmpq_mat, nmod_mat

from attncert.verify.rank.rational import Relation
from attncert.verify.rank.residues import as_table


@dataclass(frozen=True)
class Case:
    """A matrix, as rows of int or float, and its planted rank over Q."""

    name: str
    matrix: list[list[float]] | list[list[int]] | np.ndarray
    rank: int

    @property
    def shape(self) -> tuple[int, int]:
        if isinstance(self.matrix, np.ndarray):
            return self.matrix.shape
        return len(self.matrix), len(self.matrix[0]) if self.matrix else 0


def planted(rows: int, columns: int, rank: int, seed: int, spread: int = 9) -> np.ndarray:
    """L U, where L and U contain identity blocks of size `rank`, so that the rank is known."""
    rng = np.random.default_rng(seed)
    left = rng.integers(-spread, spread + 1, (rows, rank))
    right = rng.integers(-spread, spread + 1, (rank, columns))
    left[:rank], right[:, :rank] = np.eye(rank, dtype=int), np.eye(rank, dtype=int)
    return left[rng.permutation(rows)] @ right[:, rng.permutation(columns)]


def hilbert_like(n: int) -> list[list[int]]:
    """lcm(1..2n) / (i + j + 1): an invertible Cauchy matrix, which looks singular in floating
    point."""
    scale = int(np.lcm.reduce(np.arange(1, 2 * n)))
    return [[scale // (i + j + 1) for j in range(n)] for i in range(n)]


HUGE = 10**400
CASES = [
    Case("empty", np.zeros((0, 0)), 0),
    Case("no columns", np.zeros((3, 0)), 0),
    Case("no rows", np.zeros((0, 3)), 0),
    Case("1x1", [[5]], 1),
    Case("1x1 zero", [[0]], 0),
    Case("1x1 tiny float", [[5e-324]], 1),
    Case("1x1 huge", [[HUGE]], 1),
    Case("singular", [[1, 2], [2, 4]], 1),
    Case("singular floats", [[0.5, 0.25], [2.0, 1.0]], 1),
    Case("zero row", [[1, 0, 2], [0, 0, 0], [0, 1, 0]], 2),
    Case("repeated row", [[1, 2, 3], [4, 5, 6], [1, 2, 3]], 2),
    Case("permutation", np.eye(20, dtype=int)[::-1], 20),
    Case("wide", planted(5, 40, 5, seed=1), 5),
    Case("tall", planted(40, 5, 5, seed=2), 5),
    Case("square, one relation", planted(33, 33, 32, seed=3), 32),
    Case("wide, planted relations", planted(30, 50, 17, seed=4), 17),
    Case("tall, planted relations", planted(50, 30, 17, seed=5), 17),
    Case("large, planted relations", planted(75, 70, 41, seed=6), 41),
    Case("float32, planted relation", planted(12, 16, 11, seed=7).astype(np.float32) / 64, 11),
    Case("huge entries", [[HUGE, 1], [1, HUGE]], 2),
    Case("huge entries, singular", [[HUGE, 3 * HUGE], [1, 3]], 1),
    Case("huge, off by one", [[HUGE, HUGE + 1], [HUGE + 1, HUGE + 2]], 2),
    Case("scales apart", [[1e300, 0.0], [0.0, 1e-300]], 2),
    Case("last bit", [[1.0, 1.0], [1.0, 1.0 + 2.0**-52]], 2),
    Case("Cauchy", hilbert_like(14), 14),
    Case("multiples of a kernel prime", [[11863067, 0], [0, 1019 * 11863067]], 2),
]


def exact_rank(matrix: object) -> int:
    """Rank over Q by FLINT, entry by entry from Python numbers: the independent oracle."""
    rows = [list(row) for row in (matrix.tolist() if hasattr(matrix, "tolist") else matrix)]
    if not rows or not rows[0]:
        return 0
    return int(fmpq_mat([[_rational(x) for x in row] for row in rows]).rank())


def _rational(x: float) -> fmpq:
    numerator, denominator = x.as_integer_ratio()
    return fmpq(numerator, denominator)


def balls(matrix: list[list[float]] | np.ndarray) -> arb_mat:
    """Floats or integers as balls of radius 0."""
    with ctx.workprec(8192):
        return arb_mat([list(map(arb, row)) for row in np.asarray(matrix).tolist()])


def balanced(matrix: np.ndarray, p: int, dtype: str = "float64") -> np.ndarray:
    """Residues of smallest absolute value."""
    r = matrix % p
    return np.where(r > p // 2, r - p, r).astype(dtype)


def flint_rank(matrix: np.ndarray, p: int) -> int:
    """The rank over Z/p."""
    if 0 in matrix.shape:
        return 0
    return int(nmod_mat(*matrix.shape, [int(x) % p for x in matrix.ravel()], p).rank())


def of_rank(rng: np.random.Generator, m: int, n: int, rank: int, p: int) -> np.ndarray:
    """(m, n) residues of rank at most `rank`, in Python integers."""
    left = rng.integers(0, p, (m, rank)).astype(object)
    right = rng.integers(0, p, (rank, n)).astype(object)
    return (left @ right % p).astype(np.int64) if rank else np.zeros((m, n), np.int64)


def holds(relation: Relation, table: Any) -> bool:
    """Whether a combination of rows with nonzero coefficients is 0, in Fractions."""
    rows = as_table(table).tolist()
    terms = list(zip(relation.indices, relation.coefficients, strict=True))
    total = [sum(c * Fraction(rows[i][j]) for i, c in terms) for j in range(len(rows[0]))]
    return bool(terms) and all(relation.coefficients) and not any(total)
