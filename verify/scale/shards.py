"""Shards: a long job cut into pieces whose results do not depend on how it is run.

A shard is (kind, seed, start, stop): items start .. stop-1 of an endless sequence that the kind and
the seed fix. Its result is a JSON record that depends on the shard alone: not on the order of the
shards, the machine, the number of processes, or on what was done before. So shards can be run
anywhere, in any order, any number of times, and united without double counting.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from attncert.constructions.errors import InputError

Result = Mapping[str, Any]
"""JSON-able."""

Identity = Mapping[str, Any]
"""What two logs must agree on to belong to one run: version, input_sha256, plans, and by the kind
of each plan its settings, whole numbers and texts. JSON-able."""


@dataclass(frozen=True, order=True)
class Shard:
    """Items start .. stop-1 of the sequence that `kind` and `seed` fix."""

    kind: str
    seed: int
    start: int
    stop: int

    def as_list(self) -> list[str | int]:
        return [self.kind, self.seed, self.start, self.stop]


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

    def has(self, shard: Shard) -> bool:
        """Whether it is one of `shards`, without making them.

        >>> plan = Plan("subsets", 7, count=10, size=4)
        >>> plan.has(Shard("subsets", 7, 8, 10)), plan.has(Shard("subsets", 7, 8, 12))
        (True, False)
        """
        start = shard.start
        return (
            (shard.kind, shard.seed) == (self.kind, self.seed)
            and 0 <= start < self.count
            and start % self.size == 0
            and shard.stop == min(start + self.size, self.count)
        )

    @classmethod
    def of(cls, value: Any) -> Plan | None:
        """The plan that `as_dict` made this of; None for anything else."""
        names = ("kind", "seed", "count", "size")
        if type(value) is not dict or set(value) != set(names):
            return None
        fits = [type(value[name]) for name in names] == [str, int, int, int]
        return cls(**value) if fits and value["count"] >= 0 and value["size"] >= 1 else None

    def as_dict(self) -> dict[str, str | int]:
        return asdict(self)


def plans_of(run: Any) -> tuple[Plan, ...] | None:
    """The plans of an `Identity`, one for each kind of its settings; None for anything else."""
    names = {"version": str, "input_sha256": str, "settings": dict, "plans": list}
    if type(run) is not dict or {name: type(x) for name, x in run.items()} != names:
        return None
    plans = tuple(plan for plan in map(Plan.of, run["plans"]) if plan is not None)
    kinds, settings = {plan.kind for plan in plans}, run["settings"]
    if not kinds or len(kinds) != len(run["plans"]) or kinds != set(settings):
        return None
    flat = all(
        type(x) is dict and {int, str} >= set(map(type, x.values())) for x in settings.values()
    )
    return plans if flat else None


@dataclass(frozen=True)
class Part:
    """Part `number` of `of`, counted from 1: every of-th shard, so that dear ones are spread.

    >>> plan = Plan("subsets", 0, count=50, size=10)
    >>> [shard.start for shard in Part.parse("2/3").of_shards(plan.shards())]
    [10, 40]
    >>> Part.parse("4/3")
    Traceback (most recent call last):
    attncert.InputError: --shard: must be i/k with 1 <= i <= k, not 4/3
    """

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Part:
        match = re.fullmatch("([0-9]{1,6})/([0-9]{1,6})", text)
        number, of = (int(match[1]), int(match[2])) if match else (0, 0)
        if not 1 <= number <= of:
            raise InputError("--shard", "i/k with 1 <= i <= k", text)
        return cls(number, of)

    def of_shards(self, shards: list[Shard]) -> list[Shard]:
        return shards[self.number - 1 :: self.of]
