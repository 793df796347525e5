"""Random bases as shards: the circuits that they show (`circuits`), on any number of machines.

Basis i depends on (seed, i) alone, and each shard looks for circuits below the same size, so its
result depends on the shard alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from attncert.constructions.arrays import AnyArray
from attncert.constructions.errors import InputError
from attncert.verify.kruskal.budget import Budget
from attncert.verify.kruskal.dependency import Dependency
from attncert.verify.kruskal.methods.circuits import (
    depth_for,
    meeting_probability,
    nominal_seconds,
    small_circuits,
)
from attncert.verify.kruskal.sampling.sampled import smallest
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.scale.shards import Plan, Result, Shard

BASES = "bases"
_LARGEST_SHARD = 256
_SHARDS = 16  # at least, where there are enough bases
_SIZES = (2, 3, 5, 8, 12)


@dataclass(frozen=True)
class BasesSearched:
    """So many random bases were looked at. witness: the smallest circuit they showed, or None.

    Finding none proves nothing; `chances` says what was likely to be found.
    """

    vectors: int
    width: int
    seed: int
    planned: int
    bases: int
    witness: Dependency | None

    @property
    def complete(self) -> bool:
        """Whether all that were planned were looked at."""
        return self.bases == self.planned

    def chances(self) -> list[tuple[int, float]]:
        """(size, probability that one of these bases shows a given circuit of that size)."""
        r = min(self.vectors, self.width)
        depth = depth_for(self.vectors, r)
        return [
            (s, 1 - (1 - min(1.0, meeting_probability(s, self.vectors, r, depth))) ** self.bases)
            for s in _SIZES
            if s <= r
        ]

    def as_dict(self) -> dict[str, Any]:
        return {
            "seed": self.seed,
            "planned": self.planned,
            "bases": self.bases,
            "witness": None if self.witness is None else self.witness.as_dict(),
        }


@dataclass(frozen=True)
class BasisSearch:
    """The work of a shard, called as search(shard, table)."""

    vectors: int
    width: int
    count: int
    threads: int | None = None

    @classmethod
    def of(cls, vectors: Vectors, count: int, *, threads: int | None = None) -> BasisSearch:
        if not 1 <= count <= 10**9:
            raise InputError("bases", "a whole number from 1 to 10^9", count)
        return cls(vectors.N, vectors.d, count, threads)

    def plan(self, seed: int) -> Plan:
        """Shards of some seconds, but enough of them to share out; of the settings alone."""
        size = min(_LARGEST_SHARD, int(4 / self.nominal_seconds()), self.count // _SHARDS)
        return Plan(BASES, seed, self.count, max(1, size))

    def nominal_seconds(self) -> float:
        """Of one basis, on one core."""
        depth = depth_for(self.vectors, min(self.vectors, self.width))
        return nominal_seconds(self.vectors, self.width, depth)

    def settings(self) -> dict[str, Any]:
        """What a log of these shards is about."""
        return {"vectors": self.vectors, "width": self.width}

    def __call__(self, shard: Shard, table: AnyArray) -> Result:
        circuits = small_circuits(
            Vectors("table", table),
            below=min(table.shape) + 1,
            budget=Budget(),
            seed=shard.seed,
            threads=self.threads,
            numbers=range(shard.start, shard.stop),
        )
        *_, last = None, *circuits  # each smaller than the one before
        witness = None if last is None else last.dependency.as_dict()
        return {"bases": shard.stop - shard.start, "witness": witness}


def searched_of(
    plan: Plan, settings: Mapping[str, Any], results: Mapping[Shard, Result]
) -> BasesSearched:
    """What shards of a plan found together; `settings` as `BasisSearch.settings` has them."""
    done = sum(result["bases"] for result in results.values())
    return BasesSearched(
        settings["vectors"],
        settings["width"],
        plan.seed,
        plan.count,
        done,
        smallest(results.values()),
    )
