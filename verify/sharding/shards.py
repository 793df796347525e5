"""Shards: a long job cut into pieces whose records do not depend on how it is run.

A shard is (kind, seed, start, stop): items start .. stop-1 of an endless sequence that the kind and
the seed determine. Its record depends on the shard alone: not on the order of the shards, the
machine, the number of processes, or earlier work. So shards can be run anywhere, in any order, any
number of times, and nothing is counted twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Record = Mapping[str, Any]
"""JSON-able."""


@dataclass(frozen=True)
class Shard:
    """Items start .. stop-1 of the sequence that `kind` and `seed` determine."""

    kind: str
    seed: int
    start: int
    stop: int

    @property
    def count(self) -> int:
        return self.stop - self.start


@dataclass(frozen=True)
class Plan:
    """The first `count` items of one sequence, in shards of `size` items (the last may be short).

    >>> [(s.start, s.stop) for s in Plan("subsets", 7, count=10, size=4).shards()]
    [(0, 4), (4, 8), (8, 10)]
    """

    kind: str
    seed: int
    count: int
    size: int

    def shards(self) -> list[Shard]:
        starts = range(0, self.count, self.size)
        return [
            Shard(self.kind, self.seed, start, min(start + self.size, self.count))
            for start in starts
        ]
