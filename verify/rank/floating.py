"""Numerical rank, and what it can and cannot say about stored numbers.

Three different questions, which one number hides: the rank of the numbers as stored (exact, from
`modular` or `rational`); their *numerical* rank, a count of singular values above a stated
tolerance; and whether the smallest singular value exceeds what rounding may have done to the data.

**Rounding.** Let X hold the stored numbers and X' the ones they were rounded from, to nearest in
a format with unit roundoff u and smallest subnormal step s. Then |X - X'| <= u|X'| + s/2
entrywise, hence |X - X'| <= u/(1-u) |X| + s entrywise, and

    ||X - X'||_2 <= ||X - X'||_F <= u/(1-u) ||X||_F + s sqrt(mn) =: rho.

If sigma_min(X) > rho then, by Weyl, X' has full rank whatever it was: *robustly independent*. If
not, the bound cannot exclude that the numbers before rounding were dependent: *independent but
within rounding*. Level of both: numerical, with the error of the computed spectrum allowed for
(a backward-stable SVD moves no singular value by more than c*eps*sigma_max; c = max(m, n) is
used).
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from attncert.constructions.arrays import AnyArray, FloatArray
from attncert.constructions.errors import InputError
from attncert.verify.rank.rational import Relation, find_relation
from attncert.verify.rank.residues import as_table

_FORMATS: dict[str, Any] = {"float16": np.float16, "float32": np.float32, "float64": np.float64}


class RoundingVerdict(enum.Enum):
    """What is known about a set of vectors, data rounding included."""

    ROBUST = "robustly independent"
    WITHIN_ROUNDING = "independent but within rounding"
    DEPENDENT = "dependent"


@dataclass(frozen=True)
class NumericalRank:
    """rank: singular values above `tolerance`. A heuristic, never a proof."""

    rank: int
    tolerance: float


@dataclass(frozen=True)
class Robustness:
    """verdict, and what it rests on. Dependence is proved, as is what holds for exact data; the
    rest is numerical.

    relation: between the stored numbers, exact; None where they are independent.
    rounding: rho, the largest perturbation (2-norm) that rounding may have been; 0 of exact data.
    spectrum: all singular values, decreasing, computed in float64.
    """

    verdict: RoundingVerdict
    relation: Relation | None
    rounding: float
    spectrum: tuple[float, ...]


def numerical_rank(table: Any, *, dtype: str = "float64") -> NumericalRank:
    """Number of singular values above max(m, n) * eps(dtype) * sigma_max, the usual tolerance.

    table: (m, n), see `residues.as_table`. dtype: of the SVD, float32 or float64. Raises InputError
    where a number is beyond it.

    >>> numerical_rank([[1.0, 0.0], [0.0, 1e-20]]).rank
    1
    """
    array = _floats(as_table(table))
    largest = float(np.abs(array).max(initial=0.0))
    if largest > float(np.finfo(_FORMATS[dtype]).max):
        raise InputError("table", f"numbers in the range of {dtype}", f"up to {largest:.3g}")
    values = _spectrum(array.astype(dtype))
    tolerance = max(array.shape) * float(np.finfo(_FORMATS[dtype]).eps) * max(values, default=0.0)
    count = sum(1 for x in values if x > tolerance)
    return NumericalRank(count, tolerance)


def robustness(table: Any) -> Robustness:
    """Are the rows independent, and would they be had the data not been rounded?

    table: (m, n) with m <= n rows that are vectors, rounded to its own type: float16, float32 or
        float64; integers and fractions are exact (rho = 0).
    Raises InputError where a number is beyond float64.

    >>> robustness([[1.0, 0.0], [0.0, 1.0]]).verdict
    <RoundingVerdict.ROBUST: 'robustly independent'>
    >>> robustness([[1.0, 1.0], [1.0, 1.0 + 2.0**-52]]).verdict
    <RoundingVerdict.WITHIN_ROUNDING: 'independent but within rounding'>
    >>> robustness([[1, 2], [2, 4]]).relation.coefficients
    (2, -1)
    """
    array = as_table(table)
    stored = array.dtype.name if array.dtype.kind == "f" else "exact"
    relation = find_relation(array[: array.shape[1] + 1])
    floats = _floats(array)
    values = _spectrum(floats)
    largest = max(values, default=0.0)
    smallest = min(values, default=0.0) if array.shape[0] <= array.shape[1] else 0.0
    rounding = _rounding(floats, stored)
    error = max(1, *floats.shape) * float(np.finfo(np.float64).eps) * largest
    if relation is not None:
        verdict = RoundingVerdict.DEPENDENT
    elif stored == "exact" or smallest - error > rounding:
        verdict = RoundingVerdict.ROBUST
    else:
        verdict = RoundingVerdict.WITHIN_ROUNDING
    return Robustness(verdict, relation, rounding, values)


def _rounding(array: FloatArray, stored: str) -> float:
    """rho of the module's derivation, with the float error of the norm itself allowed for."""
    if stored == "exact" or array.size == 0:
        return 0.0
    info = np.finfo(_FORMATS[stored])
    u, step = float(info.eps) / 2, float(info.smallest_subnormal)
    scale = float(np.abs(array).max()) or 1.0
    norm = scale * float(np.linalg.norm(array / scale)) * (1 + array.size * 2.0**-52)
    return u / (1 - u) * norm + step * math.sqrt(array.size)


def _spectrum(array: FloatArray) -> tuple[float, ...]:
    if 0 in array.shape:
        return ()
    return tuple(float(v) for v in np.linalg.svd(array, compute_uv=False))


def _floats(array: AnyArray) -> FloatArray:
    """The nearest float64. Raises InputError beyond its range."""
    try:
        return array.astype(np.float64)
    except OverflowError:
        raise InputError("table", "numbers in the range of float64", "larger") from None
