"""The exact rank of a set of vectors, its singular values, and the effect of rounding on them.

The rank of the stored numbers is *exact*, over Q; singular values are float64. An exact rank does
not say that a set is far from dependent: a matrix of rank 100 plus noise of size 10^-3 has full
rank, and the noise is far larger than the rounding of float32. So the *ε-rank*, the number of
singular values above ε·σ_max, is computed as well: a set of ε-rank 100 is within ε·σ_max of a set
of rank 100 (Eckart and Young). "Robust" refers only to rounding.

**Rounding.** Let X be the stored numbers and X' the numbers before rounding to nearest in a format
with unit roundoff u and smallest subnormal step s. Then |X - X'| <= u|X'| + s/2
entrywise, hence |X - X'| <= u/(1-u) |X| + s entrywise, and

    ||X - X'||_2 <= ||X - X'||_F <= u/(1-u) ||X||_F + s sqrt(mn) =: rho.

If sigma_min(X) > rho, then by Weyl's inequality every such X' has full rank: *robust*. Otherwise,
the numbers before rounding may have been dependent: *within rounding*. Both verdicts are numerical,
and account for the error of the computed singular values (a backward-stable SVD moves no singular
value by more than c*eps*sigma_max; c = max(m, n) is used).
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
from attncert.verify.sharding.threads import parallel_map

EPSILON = 1e-3


class AgainstRounding(enum.Enum):
    """The verdict on a set of vectors; the value is the phrase that reports use."""

    ROBUST = "robust against rounding"
    NEARLY = "robust against rounding, nearly dependent"
    WITHIN = "independent, but within rounding"
    DEPENDENT = "dependent"


@dataclass(frozen=True)
class Spectrum:
    """The spectrum of a set of vectors. number: the number of the context or subset. size: m.

    rank: the exact rank over Q. relation: a relation, if the rank is below m. least, largest:
    float64 singular values; least is the m-th, or 0 if m > d. rounding: how far rounding may have
    moved them; 0 for exact numbers. robust: whether the rank is m for every rounding. epsilon_rank:
    the number of singular values above ε·σ_max.

    >>> [Spectrum.of(0, np.array([[1.0, 1.0], [1.0, x]])).robust for x in (0.0, 1.0 + 2.0**-52)]
    [True, False]
    """

    number: int
    size: int
    rank: int
    relation: Relation | None
    least: float
    largest: float
    rounding: float
    robust: bool
    epsilon_rank: int

    @classmethod
    def of(cls, number: int, table: AnyArray) -> Spectrum:
        """The spectrum of (m, d) vectors, which were rounded to the table's type unless they are
        integers. Raises InputError for a number beyond float64."""
        relation, floats = find_relation(table[: table.shape[1] + 1]), _floats(table)
        singular, rounding = np.linalg.svd(floats, compute_uv=False), _rounding(table, floats)
        largest = float(singular[0])
        least = float(singular[-1]) if len(table) == len(singular) else 0.0
        error = max(table.shape) * float(np.finfo(np.float64).eps) * largest
        robust = relation is None and (rounding == 0 or least - error > rounding)
        rank = len(table) if relation is None else exact_rank(table)
        above = int((singular > EPSILON * largest).sum())
        return cls(number, len(table), rank, relation, least, largest, rounding, robust, above)

    @property
    def standing(self) -> AgainstRounding:
        if self.relation is not None:
            return AgainstRounding.DEPENDENT
        if not self.robust:
            return AgainstRounding.WITHIN
        return AgainstRounding.ROBUST if self.epsilon_rank == self.size else AgainstRounding.NEARLY


def spectra(tables: Iterable[tuple[int, AnyArray]]) -> Iterator[Spectrum]:
    """The spectra of numbered sets (m, d), in order, with a few sets per thread in memory."""
    return parallel_map(lambda numbered: Spectrum.of(*numbered), tables)


def exact_rank(table: AnyArray) -> int:
    """The rank over ℚ. Inputs often repeat, so for most tables it suffices that the rank modulo a
    prime equals the number of distinct rows or of columns.

    >>> exact_rank(np.array([[1.0, 2.0, 0.0]] * 9 + [[0.0, 1.0, 0.0]]))
    2
    """
    distinct = np.unique(table, axis=0) if table.dtype != object else table
    rank = modular_rank(distinct).rank
    return rank if rank == min(distinct.shape) else rational.rank(distinct).rank


def _rounding(table: AnyArray, floats: FloatArray) -> float:
    """The bound rho derived above, including the float error of the norm."""
    if table.dtype.kind != "f":
        return 0.0
    info = np.finfo(table.dtype)
    u, step = float(info.eps) / 2, float(info.smallest_subnormal)
    scale = float(np.abs(floats).max()) or 1.0
    norm = scale * float(np.linalg.norm(floats / scale)) * (1 + floats.size * 2.0**-52)
    return u / (1 - u) * norm + step * math.sqrt(floats.size)


def _floats(table: AnyArray) -> FloatArray:
    """The numbers rounded to float64. Raises InputError for numbers beyond its range."""
    try:
        return table.astype(np.float64)
    except OverflowError:
        raise InputError("table", "numbers in the range of float64", "larger") from None
