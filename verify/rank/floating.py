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
used), or enclosed when `sigma_min` comes from `ball.smallest_singular_value`.
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from attncert.constructions.arrays import AnyArray, FloatArray
from attncert.constructions.errors import InputError
from attncert.verify.rank.decide import Decision, decide
from attncert.verify.rank.residues import as_table

_FORMATS: dict[str, Any] = {"float16": np.float16, "float32": np.float32, "float64": np.float64}


class Verdict(enum.Enum):
    """What is known about a set of vectors, data rounding included."""

    ROBUST = "robustly independent"
    WITHIN_ROUNDING = "independent but within rounding"
    DEPENDENT = "dependent"


@dataclass(frozen=True)
class NumericalRank:
    """rank: singular values above `tolerance`; both are to be multiplied by 2^exponent.

    spectrum: all singular values, decreasing, computed in `dtype`. exponent: 0 except for
    integers beyond the range of floats. This is a heuristic, never a proof.
    """

    rank: int
    tolerance: float
    spectrum: tuple[float, ...]
    dtype: str
    exponent: int = 0


@dataclass(frozen=True)
class Robustness:
    """verdict, and the three things it rests on.

    exact:      the decision on the stored numbers, with its evidence.
    sigma_min:  smallest singular value; `error` what it may be wrong by.
    rounding:   rho, the largest perturbation (2-norm) that rounding to `stored_as` may have been.
    level:      "proved" for dependence (exact witness), else "numerical" or "enclosed".
    spectrum:   all singular values, decreasing, computed in float64.
    """

    verdict: Verdict
    exact: Decision
    sigma_min: float
    error: float
    rounding: float
    stored_as: str
    level: str
    spectrum: tuple[float, ...]


def numerical_rank(
    table: Any, *, dtype: str = "float64", tolerance: float | None = None
) -> NumericalRank:
    """Number of singular values above a tolerance.

    table:     (m, n), see `residues.as_table`. dtype: of the SVD, float32 or float64.
    tolerance: absolute; by default max(m, n) * eps(dtype) * sigma_max, the usual one.

    >>> numerical_rank([[1.0, 0.0], [0.0, 1e-20]]).rank
    1
    >>> numerical_rank([[1.0, 0.0], [0.0, 1e-20]], tolerance=0.0).rank
    2
    """
    if dtype not in ("float32", "float64"):
        raise InputError("dtype", "float32 or float64", dtype)
    if tolerance is not None and not (math.isfinite(tolerance) and tolerance >= 0):
        raise InputError("tolerance", "a finite number >= 0", tolerance)
    array, exponent = _floats(as_table(table))
    largest = float(np.abs(array).max(initial=0.0))
    if largest > float(np.finfo(_FORMATS[dtype]).max):
        raise InputError("table", f"numbers in the range of {dtype}", f"up to {largest:.3g}")
    values = _spectrum(array.astype(dtype))
    if tolerance is None:
        eps = float(np.finfo(_FORMATS[dtype]).eps)
        tolerance = max(array.shape) * eps * max(values, default=0.0)
    else:
        tolerance = math.ldexp(tolerance, -exponent)
    count = sum(1 for value in values if value > tolerance)
    return NumericalRank(count, tolerance, values, dtype, exponent)


def robustness(
    table: Any,
    *,
    stored_as: str | None = None,
    exact: Decision | None = None,
    sigma_min: float | None = None,
) -> Robustness:
    """Are the rows independent, and would they be had the data not been rounded?

    table:     (m, n) with m <= n rows that are vectors.
    stored_as: the format the data were rounded to, float16, float32 or float64; by default the
               table's own type, "exact" (rho = 0) for integers and fractions.
    exact:     the decision on the stored numbers, if already made. sigma_min: a proved lower
               bound on the smallest singular value, from `ball.smallest_singular_value`.

    >>> robustness([[1.0, 0.0], [0.0, 1.0]]).verdict
    <Verdict.ROBUST: 'robustly independent'>
    >>> robustness([[1.0, 1.0], [1.0, 1.0 + 2.0**-52]]).verdict
    <Verdict.WITHIN_ROUNDING: 'independent but within rounding'>
    >>> robustness([[1, 2], [2, 4]]).exact.relation.coefficients
    (2, -1)
    """
    array = as_table(table)
    stored = stored_as or (array.dtype.name if array.dtype.kind == "f" else "exact")
    if stored not in _FORMATS and stored != "exact":
        raise InputError("stored_as", "float16, float32, float64 or exact", stored)
    exact = exact or decide(array)
    floats, exponent = _floats(array)
    if exponent:
        raise InputError("table", "numbers in the range of float64", f"entries near 2^{exponent}")
    values = _spectrum(floats)
    largest = max(values, default=0.0)
    smallest = min(values, default=0.0) if array.shape[0] <= array.shape[1] else 0.0
    rounding = _rounding(floats, stored)
    error = max(1, *floats.shape) * float(np.finfo(np.float64).eps) * largest
    level = "numerical"
    if sigma_min is not None:
        smallest, error, level = sigma_min, 0.0, "enclosed"
    if not exact.independent:
        verdict, level = Verdict.DEPENDENT, "proved"
    elif stored == "exact":
        verdict, level = Verdict.ROBUST, "proved"
    else:
        robust = smallest - error > rounding
        verdict = Verdict.ROBUST if robust else Verdict.WITHIN_ROUNDING
    return Robustness(verdict, exact, smallest, error, rounding, stored, level, values)


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


def _floats(array: AnyArray) -> tuple[FloatArray, int]:
    """float64 values and an exponent e with array = values * 2^e; e = 0 unless out of range."""
    if array.dtype != object:
        return array.astype(np.float64), 0
    flat = [int(x) for x in array.ravel().tolist()]
    bits = max((abs(x).bit_length() for x in flat), default=0)
    exponent = max(0, bits - 1000)
    values = [float(x >> exponent) if exponent else float(x) for x in flat]
    return np.array(values, dtype=np.float64).reshape(array.shape), exponent
