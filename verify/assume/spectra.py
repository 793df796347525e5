"""One set of vectors against rounding: exact rank, singular values, and what float32 makes of it.

*Exact* is the rank of the stored numbers, over Q. *Numerical* is a count of singular values above a
tolerance; the usual one for float32 is max(m, n)·2^-23·σ_max. Between the two stands what rounding
may have done to the data. None of these says that a set is far from dependent: a matrix of rank 100
with noise of size 10^-3 on top has full rank, far above the rounding of float32. So the *ε-rank*
stands beside it, the number of singular values above ε·σ_max: a set of ε-rank 100 is within ε·σ_max
of rank 100 (Eckart and Young). "Robust" is about rounding alone.

**Rounding.** Let X hold the stored numbers and X' the ones they were rounded from, to nearest in
a format with unit roundoff u and smallest subnormal step s. Then |X - X'| <= u|X'| + s/2
entrywise, hence |X - X'| <= u/(1-u) |X| + s entrywise, and

    ||X - X'||_2 <= ||X - X'||_F <= u/(1-u) ||X||_F + s sqrt(mn) =: rho.

If sigma_min(X) > rho then, by Weyl, X' has full rank whatever it was: *robust*. If not, the bound
cannot exclude that the numbers before rounding were dependent: *within rounding*. Level of both:
numerical, with the error of the computed spectrum allowed for (a backward-stable SVD moves no
singular value by more than c*eps*sigma_max; c = max(m, n) is used).
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from attncert.constructions.arrays import AnyArray, FloatArray
from attncert.constructions.errors import InputError
from attncert.verify.rank import rational
from attncert.verify.rank.modular import modular_rank
from attncert.verify.rank.rational import Relation, find_relation
from attncert.verify.scale.threads import parallel_map

EPSILON = 1e-3


class AgainstRounding(enum.Enum):
    """Of a set of vectors; the value is the phrase that reports use."""

    ROBUST = "robust against rounding"
    NEARLY = "robust against rounding, nearly dependent"
    WITHIN = "independent, but within rounding"
    DEPENDENT = "dependent"


@dataclass(frozen=True)
class Spectrum:
    """number: of the context, or of the subset. size: m vectors.

    rank: over Q, exact. relation: where it is below m. singular: all singular values, float64,
    decreasing. rounding: what rounding may have moved them by, at most; 0 for exact numbers.
    robust: whether the rank is m whatever rounding did. float32: numerical rank at `tolerance`, as
    the paper computes it; -1 beyond float32's range.

    >>> [Spectrum.of(0, np.array([[1.0, 1.0], [1.0, x]])).robust for x in (0.0, 1.0 + 2.0**-52)]
    [True, False]
    """

    number: int
    size: int
    rank: int
    relation: Relation | None
    singular: tuple[float, ...]
    rounding: float
    robust: bool
    float32: int
    tolerance: float

    @classmethod
    def of(cls, number: int, table: AnyArray) -> Spectrum:
        """Of (m, d) vectors, which are rounded to the table's type; integers are exact. Raises
        InputError where a number is beyond float64."""
        relation, floats = find_relation(table[: table.shape[1] + 1]), _floats(table)
        singular, rounding = _singular(floats), _rounding(table, floats)
        error = max(table.shape) * float(np.finfo(np.float64).eps) * singular[0]
        robust = relation is None and (rounding == 0 or singular[-1] - error > rounding)
        rank = len(table) if relation is None else exact_rank(table)
        single = float32_rank(floats)
        return cls(number, len(table), rank, relation, singular, rounding, robust, *single)

    def epsilon_rank(self) -> int:
        """Singular values above ε·σ_max."""
        bound = EPSILON * max(self.singular, default=0.0)
        return sum(1 for sigma in self.singular if sigma > bound)

    @property
    def standing(self) -> AgainstRounding:
        if self.relation is not None:
            return AgainstRounding.DEPENDENT
        if not self.robust:
            return AgainstRounding.WITHIN
        return (
            AgainstRounding.ROBUST if self.epsilon_rank() == self.size else AgainstRounding.NEARLY
        )


def spectra(tables: Iterable[tuple[int, AnyArray]]) -> Iterator[Spectrum]:
    """Of numbered sets (m, d), in their order; a few in memory for each thread."""
    return parallel_map(lambda numbered: Spectrum.of(*numbered), tables)


def exact_rank(table: AnyArray) -> int:
    """Over ℚ. Inputs often repeat: as many distinct rows, or columns, are no less than the rank, so
    that a prime settles most tables.

    >>> exact_rank(np.array([[1.0, 2.0, 0.0]] * 9 + [[0.0, 1.0, 0.0]]))
    2
    """
    distinct = np.unique(table, axis=0) if table.dtype != object else table
    rank = modular_rank(distinct).rank
    return rank if rank == min(distinct.shape) else rational.rank(distinct).rank


def float32_rank(floats: FloatArray) -> tuple[int, float]:
    """Singular values in float32 above max(m, n)·2^-23·σ_max, the usual tolerance, and that; -1 for
    numbers beyond float32."""
    info = np.finfo(np.float32)
    if float(np.abs(floats).max()) > float(info.max):
        return -1, 0.0
    singular = _singular(floats.astype(np.float32))
    tolerance = max(floats.shape) * float(info.eps) * singular[0]
    return sum(1 for x in singular if x > tolerance), tolerance


def _rounding(table: AnyArray, floats: FloatArray) -> float:
    """rho of the module's derivation, with the float error of the norm itself allowed for."""
    if table.dtype.kind != "f":
        return 0.0
    info = np.finfo(table.dtype)
    u, step = float(info.eps) / 2, float(info.smallest_subnormal)
    scale = float(np.abs(floats).max()) or 1.0
    norm = scale * float(np.linalg.norm(floats / scale)) * (1 + floats.size * 2.0**-52)
    return u / (1 - u) * norm + step * math.sqrt(floats.size)


def _singular(floats: FloatArray) -> tuple[float, ...]:
    """All of them, decreasing."""
    return tuple(float(v) for v in np.linalg.svd(floats, compute_uv=False))


def _floats(table: AnyArray) -> FloatArray:
    """The nearest float64. Raises InputError beyond its range."""
    try:
        return table.astype(np.float64)
    except OverflowError:
        raise InputError("table", "numbers in the range of float64", "larger") from None
