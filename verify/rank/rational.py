"""Exact rank and relations over Q, with integer witnesses (FLINT).

Candidates are found modulo a prime and confirmed in exact integers. The elimination modulo p of
`cpu.py`, a thousand times faster than one over Q, gives pivot rows, pivot columns and, for a
dependent row, *which* independent rows it needs. This alone proves the lower bound on the rank.
Exact relations prove the upper bound: each is the solution of a square integer system that is only
as large as its support (FLINT's p-adic lifting), and is then checked on all columns. A prime that
gives a wrong rank divides some minor. The check detects this, and the next prime is tried. There
are only finitely many such primes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import fmpz, fmpz_mat

from attncert.constructions.arrays import AnyArray
from attncert.constructions.brief import in_brief
from attncert.constructions.data.exact_array import ExactArray
from attncert.constructions.exact.primes import PRIMES_FLOAT64
from attncert.constructions.numerals import numeral
from attncert.verify.rank.engines import cpu
from attncert.verify.rank.modular import ModularRank, modular_rank
from attncert.verify.rank.residues import as_table, residues


@dataclass(frozen=True)
class Relation:
    """Dependent rows of a table: the sum of coefficients[i] * (row indices[i]) is zero.

    The indices increase. The coefficients are nonzero integers without a common factor, and the
    first is positive. A relation is the witness of a dependent set; anyone can check it with
    integer arithmetic.
    """

    indices: tuple[int, ...]
    coefficients: tuple[int, ...]

    def __repr__(self) -> str:
        return in_brief(self, indices=self.indices, coefficients=self.coefficients)

    @classmethod
    def of(cls, indices: Sequence[int], coefficients: Sequence[int]) -> Relation:
        """The normal form of a nonzero relation, without zeros or a common factor and with a
        positive first coefficient.

        >>> Relation.of([7, 2, 5], [4, -6, 0])
        Relation(indices=(2, 7), coefficients=(3, -2))
        """
        pairs = sorted((int(i), int(c)) for i, c in zip(indices, coefficients, strict=True) if c)
        content = math.gcd(*(c for _, c in pairs)) * (1 if pairs[0][1] > 0 else -1)
        return cls(tuple(i for i, _ in pairs), tuple(c // content for _, c in pairs))

    @property
    def size(self) -> int:
        return len(self.indices)

    def as_dict(self) -> dict[str, list[str] | list[int]]:
        """The witness as JSON, with coefficients as decimal strings."""
        return {
            "indices": list(self.indices),
            "coefficients": [numeral(c) for c in self.coefficients],
        }


def rank(table: Any) -> ModularRank:
    """The rank of a matrix over Q, proved from both sides by its rank modulo a suitable prime.

    table: (m, n), see `residues.as_table`; a float is the dyadic rational it stores.

    >>> rank([[1, 2], [2, 4], [0, 0]])
    ModularRank(rank=1, prime=11863067, rows=(0,), columns=(0,))
    """
    array = as_table(table)
    for p in _primes():
        lower = modular_rank(array, p)
        if (
            lower.rank == min(array.shape)
            or _fundamental(array, lower.rows, lower.columns) is not None
        ):
            return lower
    raise ArithmeticError("every prime misleads")


def relations(table: Any) -> tuple[Relation, ...]:
    """A basis of all relations between the rows: one for each row that is not a pivot row.

    >>> [(r.indices, r.coefficients) for r in relations([[1, 2], [3, 4], [4, 6]])]
    [((0, 1, 2), (1, 1, -1))]
    """
    array = as_table(table)
    proved = rank(array)
    circuits = _fundamental(array, proved.rows, proved.columns)
    assert circuits is not None, "pivots over Q"
    return tuple(circuits)


def find_relation(table: Any, rows: Sequence[int] | None = None) -> Relation | None:
    """A short relation between these distinct rows; None if they are independent. Both are proved.

    It is the smallest of the fundamental circuits of one basis: every proper subset of its rows is
    independent, but a smaller circuit may exist. Only a small system is solved to find
    a small dependent set in a large subset.

    >>> find_relation([[1, 0], [5, 3], [0, 1], [2, 0]])
    Relation(indices=(0, 3), coefficients=(2, -1))
    >>> find_relation([[1, 0], [5, 3], [0, 1], [2, 0]], rows=[1, 2]) is None
    True
    """
    array = as_table(table)
    chosen = list(range(len(array))) if rows is None else [int(i) for i in rows]
    part = array[chosen]
    for p in _primes():
        table = residues(part, p)
        if cpu.profile(table, p)[0].all():
            return None
        pivots, coefficients = cpu.echelon(np.ascontiguousarray(table.T), p)
        dependent = np.setdiff1d(np.arange(len(part)), pivots)
        sizes = np.count_nonzero(coefficients[:, dependent], axis=0)
        row = int(dependent[np.argmin(sizes)])
        support = pivots[np.flatnonzero(coefficients[:, row])].tolist()
        columns = cpu.profile(table[support], p)[1].tolist()
        circuits = _fundamental(part, support, columns, [row])
        if circuits is not None:
            return Relation.of([chosen[i] for i in circuits[0].indices], circuits[0].coefficients)
    raise ArithmeticError("every prime misleads")


def integer_matrix(array: AnyArray) -> fmpz_mat:
    """A table from `as_table` as integers; floats are multiplied by one common power of two.

    >>> integer_matrix(np.array([[0.5, -3.0]]))
    [1, -6]
    """
    return ExactArray.of(array).integer_matrix()


def _fundamental(
    array: AnyArray,
    pivots: Sequence[int],
    columns: Sequence[int],
    targets: Sequence[int] | None = None,
) -> list[Relation] | None:
    """Exact relations between the target rows (default: all other rows) and the pivot rows.

    Solves x A[pivots, columns] = A[target, columns] over Q, then checks every column; None if a
    check fails, that is, if the elimination modulo the prime gave a wrong rank.
    """
    if targets is None:
        targets = sorted(set(range(len(array))) - set(pivots))
    if len(targets) == 0:
        return []
    r, n = len(pivots), array.shape[1]
    table = integer_matrix(array[[*pivots, *targets]]).tolist()
    square = fmpz_mat(r, r, [table[i][j] for j in columns for i in range(r)])
    right = fmpz_mat(r, len(targets), [row[j] for j in columns for row in table[r:]])
    solution, denominator = square.solve(right).numer_denom() if r else (fmpz_mat(0, 0), 1)
    circuits = []
    for t, target in enumerate(targets):
        weights = [*(solution[i, t] for i in range(r)), -denominator]
        rows = fmpz_mat([*table[:r], table[r + t]]) if n else fmpz_mat(r + 1, 0)
        if any((fmpz_mat(1, r + 1, weights) * rows).entries()):
            return None
        circuits.append(Relation.of([*pivots, target], weights))
    return circuits


def _primes() -> Iterator[int]:
    """The primes of PRIMES_FLOAT64, then all smaller primes."""
    yield from PRIMES_FLOAT64
    yield from (p for p in range(PRIMES_FLOAT64[-1] - 2, 10, -2) if fmpz(p).is_prime())
