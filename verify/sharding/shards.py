"""Shards: a long job divided into pieces whose records do not depend on how the job is run.

A shard (kind, seed, start, stop) consists of items start .. stop-1 of an infinite sequence that is
determined by the kind and the seed. Its record depends only on the shard, and not on the order of
the shards, the machine, the number of processes, or earlier work. So shards can be run anywhere, in
any order and any number of times, and nothing is counted twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Record = Mapping[str, Any]
"""A value that JSON can hold."""


@dataclass(frozen=True)
class Shard:
    """The items start .. stop-1 of the sequence that `kind` and `seed` determine."""

    kind: str
    seed: int
    start: int
    stop: int

    @property
    def count(self) -> int:
        return self.stop - self.start


@dataclass(frozen=True)
class Plan:
    """The first `count` items of a sequence, in shards of `size` items (the last may be shorter).

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
