"""The partition condition for queries alone: groups found in one pass and proved modulo a prime.

Both constructions need groups of at most r, r - 1, r - 1, ... examples with independent queries,
such that no query of an earlier group is in the span of a later group (docs/mathematics.md, section
2). A group is filled with the next independent queries, and earlier queries that may lie in its
span are removed; subsets of admissible groups remain admissible. Modulo a prime, each decision can
be wrong in one direction only, so the remaining groups are proved. For queries in general position,
nothing is removed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attncert.constructions.exact.primes import PRIMES_21
from attncert.constructions.search.grouping import suspects
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.rank.modular import modular_rank
from attncert.verify.rank.residues import residues

Groups = tuple[tuple[int, ...], ...]
_WINDOWS = 8  # the number of inputs searched for a group, relative to its size


@dataclass(frozen=True)
class Placed:
    """The groups of one construction for this layer.

    first: r, the size of the first group. capacity: the examples that the theorem allows. queries:
    groups of all inputs that meet the partition condition. certified: such
    groups of inputs with a given context of rank n; these inputs are proved to be memorized.
    """

    name: str
    first: int
    capacity: int
    queries: Groups
    certified: Groups

    @property
    def examples(self) -> int:
        return sum(map(len, self.queries))

    @property
    def memorized(self) -> int:
        return sum(map(len, self.certified))


def grouped(queries: Vectors, inputs: Sequence[int], first: int, heads: int) -> Groups:
    """At most `heads` groups of these inputs, with at most `first` inputs in the first group and at
    most one less in each other group.

    If `first` is 1, there is one group. The groups are proved, but may not be the largest possible.

    >>> vectors = Vectors.of([[1, 0], [2, 0], [0, 1], [1, 1]])
    >>> grouped(vectors, range(4), 2, 3)
    ((0, 2), (3,))
    """
    table = residues(queries.array, PRIMES_21[0]) % PRIMES_21[0]
    remaining, groups = list(inputs), list[list[int]]()
    while remaining and len(groups) < heads:
        size = first - bool(groups)
        group, remaining = _independent(queries, remaining, size)
        if not group or size == 0:
            break
        doubtful = suspects(table, group, [t for other in groups for t in other])
        if doubtful is None or len(doubtful) >= len(group):  # bad luck, or no gain
            continue
        lost = set(doubtful)
        groups = [[t for t in other if t not in lost] for other in groups]
        groups = [other for other in groups if other]
        groups.append(group)
    return tuple(tuple(group) for group in groups)


def _independent(queries: Vectors, remaining: list[int], size: int) -> tuple[list[int], list[int]]:
    """The first `size` independent inputs, and the inputs after the last of these."""
    window = max(1, size)
    while size and remaining:
        rows = modular_rank(queries.array[remaining[:window]]).rows[:size]
        if len(rows) == size or window >= min(len(remaining), _WINDOWS * size):
            used = rows[-1] + 1 if len(rows) == size else window
            return [remaining[i] for i in rows], remaining[used:]
        window *= 2
    return [], []
