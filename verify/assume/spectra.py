"""One set of vectors against rounding: exact rank, singular values, and what float32 makes of it.

*Exact* is the rank of the stored numbers, over Q. *Numerical* is a count of singular values above a
tolerance; the usual one for float32 is max(m, n)·2^-23·σ_max. Between the two stands what rounding
may have done to the data (`rank.floating`). None of these says that a set is far from dependent: a
matrix of rank 100 with noise of size 10^-3 on top has full rank, far above the rounding of float32.
So the *ε-rank* stands beside it, the number of singular values above ε·σ_max: a set of ε-rank 100
is within ε·σ_max of rank 100 (Eckart and Young). "Robust" is about rounding alone.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice

import numpy as np

from attncert.constructions.arrays import AnyArray
from attncert.verify.rank import rational
from attncert.verify.rank.engines.cpu import available_threads
from attncert.verify.rank.floating import RoundingVerdict, numerical_rank, robustness
from attncert.verify.rank.modular import modular_rank
from attncert.verify.rank.rational import Relation

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
    float32: numerical rank at `tolerance`, as the paper computes it; -1 beyond float32's range.
    """

    number: int
    size: int
    rank: int
    relation: Relation | None
    verdict: RoundingVerdict
    singular: tuple[float, ...]
    rounding: float
    float32: int
    tolerance: float

    def epsilon_rank(self, epsilon: float = EPSILON) -> int:
        """Singular values above epsilon·σ_max."""
        bound = epsilon * max(self.singular, default=0.0)
        return sum(1 for sigma in self.singular if sigma > bound)

    @property
    def standing(self) -> AgainstRounding:
        if self.verdict is RoundingVerdict.DEPENDENT:
            return AgainstRounding.DEPENDENT
        if self.verdict is RoundingVerdict.WITHIN_ROUNDING:
            return AgainstRounding.WITHIN
        return (
            AgainstRounding.ROBUST if self.epsilon_rank() == self.size else AgainstRounding.NEARLY
        )


def spectra(tables: Iterable[tuple[int, AnyArray]]) -> Iterator[Spectrum]:
    """Of numbered sets (m, d), in their order; as many in memory as there are threads."""
    threads, numbered = available_threads(), iter(tables)
    with ThreadPoolExecutor(threads) as pool:
        while block := list(islice(numbered, threads)):
            yield from pool.map(_spectrum, *zip(*block, strict=True))


def exact_rank(table: AnyArray) -> int:
    """Over ℚ. Inputs often repeat: as many distinct rows, or columns, are no less than the rank, so
    that a prime settles most tables.

    >>> exact_rank(np.array([[1.0, 2.0, 0.0]] * 9 + [[0.0, 1.0, 0.0]]))
    2
    """
    distinct = np.unique(table, axis=0) if table.dtype != object else table
    rank = modular_rank(distinct).rank
    return rank if rank == min(distinct.shape) else rational.rank(distinct).rank


def _spectrum(number: int, table: AnyArray) -> Spectrum:
    against = robustness(table)
    try:
        single = numerical_rank(table, dtype="float32")
        float32, tolerance = single.rank, single.tolerance
    except ValueError:
        float32, tolerance = -1, 0.0
    rank = len(table) if against.relation is None else exact_rank(table)
    return Spectrum(
        number, len(table), rank, against.relation, against.verdict, against.spectrum,
        against.rounding, float32, tolerance,
    )  # fmt: skip
