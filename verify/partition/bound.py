"""How many examples a grouping can place at most, by the ranks of sets of queries (ours).

Let k be the rank of a set S of queries. Of the groups that contain some of S, the earliest holds at
most min(first, k) of them. A later one holds at most min(further, k - 1): with k it would span all
of S, the earlier ones included. So any grouping places at most

    cap(k) = min(first, k) + (H - 1) min(further, k - 1)        (cap(0) = 0)

examples of S. With k = 1: one of any parallel queries; with the rank of all of them: the capacity.
If disjoint parts S_j cover S and at most m_j of S_j can be placed, then at most Σ_j m_j of S, and
at most cap(rank S): the parts are merged where that is less, up to the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.exact.hashing import Hashed, direction


@dataclass(frozen=True)
class Sizes:
    """At most `first` examples in the first group, `further` < first in each other, `heads` groups.

    >>> Sizes(3, 2, 4).cap(2), Sizes(3, 2, 4).cap(5)
    (5, 9)
    """

    first: int
    further: int
    heads: int

    def cap(self, rank: int) -> int:
        """How many examples can be placed, at most, whose queries have this rank."""
        return min(self.first, rank) + (self.heads - 1) * min(self.further, max(rank - 1, 0))


@dataclass(frozen=True)
class Part:
    """A set of examples, the rank of their queries, and how many of them a grouping can place."""

    examples: tuple[int, ...]
    rank: int
    most: int


def upper_bound(
    data: Dataset, examples: Sequence[int], sizes: Sizes, left_out: Sequence[int] = ()
) -> tuple[Part, ...]:
    """Disjoint parts that cover these examples; no grouping places more than Σ part.most of them.

    Examined: parallel queries; the span of the examples that a search left out; and that of all.
    Exact.
    """
    parts = _parallel(data, examples)
    lines = [part.examples[0] for part in parts if part.rank]  # one query of each direction
    flat = _span(data, lines, left_out)
    inside = [part for part in parts if part.rank and part.examples[0] in flat]
    parts = _merged(parts, inside, _rank(data, flat), sizes)
    return tuple(_merged(parts, parts, _rank(data, examples), sizes))


def _merged(parts: list[Part], inside: list[Part], rank: int, sizes: Sizes) -> list[Part]:
    """The parts, those `inside` a set of that rank made one where the cap of the rank is less."""
    cap = sizes.cap(rank)
    if sum(part.most for part in inside) <= cap:
        return parts
    union = Part(tuple(sorted(t for part in inside for t in part.examples)), rank, cap)
    return [*(part for part in parts if part not in inside), union]


def _parallel(data: Dataset, examples: Sequence[int]) -> list[Part]:
    """Zero queries, of which none can be placed, and each set of parallel ones."""
    classes: dict[Hashed | None, list[int]] = {}
    for t in examples:
        classes.setdefault(direction(data.queries.numerators[t].tolist())[0], []).append(t)
    return [
        Part(tuple(sorted(members)), int(key is not None), int(key is not None))
        for key, members in classes.items()
    ]


def _span(data: Dataset, lines: Sequence[int], basis: Sequence[int]) -> tuple[int, ...]:
    """Those of the queries `lines` that lie in the span of the queries `basis`, in order."""
    if not basis:
        return ()
    null_space, nullity = data.queries[list(basis)].integer_matrix().nullspace()
    if nullity == 0:
        return tuple(lines)
    images = (data.queries[list(lines)].integer_matrix() * null_space).tolist()
    return tuple(t for t, row in zip(lines, images, strict=True) if not any(row))


def _rank(data: Dataset, examples: Sequence[int]) -> int:
    return int(data.queries[list(examples)].integer_matrix().rank()) if examples else 0
