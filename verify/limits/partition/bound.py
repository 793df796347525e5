"""An upper bound on the number of examples that a grouping can place, from ranks of queries (ours).

Let k be the rank of a set S of queries. The earliest group that contains members of S contains at
most min(first, k) of them. A later group contains at most min(further, k - 1): with k members it
would span all of S, including members of earlier groups. So any grouping places at most

    cap(k) = min(first, k) + (H - 1) min(further, k - 1)        (cap(0) = 0)

examples of S. cap(1) allows one example of any set of parallel queries, and for the rank k of all
queries, cap(k) is the capacity. Sets of parallel queries are disjoint, so their caps add up, and
the sum is also at most the cap of all queries together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.exact.hashing import Hashed, direction


@dataclass(frozen=True)
class Sizes:
    """The sizes of `heads` groups: at most `first` examples in the first group, and at most
    `further` < first in each other group.

    >>> Sizes(3, 2, 4).cap(2), Sizes(3, 2, 4).cap(5)
    (5, 9)
    """

    first: int
    further: int
    heads: int

    def cap(self, rank: int) -> int:
        """The largest number of examples that can be placed if their queries have this rank."""
        return min(self.first, rank) + (self.heads - 1) * min(self.further, max(rank - 1, 0))


@dataclass(frozen=True)
class Part:
    """A set of examples, the rank of their queries, and the largest number of these examples that a
    grouping can place."""

    examples: tuple[int, ...]
    rank: int
    most: int


def upper_bound(data: Dataset, examples: Sequence[int], sizes: Sizes) -> tuple[Part, ...]:
    """Disjoint parts that cover these examples. No grouping places more than Σ part.most of them.

    The parts are the sets of parallel queries, or all examples if their bound is lower. Exact.
    """
    parts = _parallel(data, examples)
    rank = int(data.queries[list(examples)].integer_matrix().rank()) if examples else 0
    if sum(part.most for part in parts) <= sizes.cap(rank):
        return parts
    zero = tuple(part for part in parts if part.rank == 0)
    others = sorted(t for part in parts if part.rank for t in part.examples)
    return (*zero, Part(tuple(others), rank, sizes.cap(rank)))


def _parallel(data: Dataset, examples: Sequence[int]) -> tuple[Part, ...]:
    """The set of zero queries, which cannot be placed, and each set of parallel queries."""
    classes: dict[Hashed | None, list[int]] = {}
    for t in examples:
        classes.setdefault(direction(data.queries.numerators[t].tolist())[0], []).append(t)
    return tuple(
        Part(tuple(sorted(members)), int(key is not None), int(key is not None))
        for key, members in classes.items()
    )
