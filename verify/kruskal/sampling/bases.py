"""Random bases as shards: the circuits that they show (`circuits`), on any number of machines.

Basis i depends on (seed, i) alone, and each shard looks for circuits below the same size, so its
result depends on the shard alone.
"""

from __future__ import annotations

from collections.abc import Collection
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
from attncert.verify.kruskal.sampling.sampled import is_record, record, smallest, totals
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.scale.shards import Plan, Record, Shard

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

    def settings(self, seed: int) -> dict[str, Any]:
        """What its shards depend on, beside the vectors: nothing."""
        return {}

    def fits(self, shard: Shard, value: Any, vectors: Vectors) -> bool:
        """Whether this can be the record of the shard."""
        return is_record(value, vectors, ["bases"]) and value["counts"] == {"bases": shard.count}

    def __call__(self, shard: Shard, table: AnyArray) -> Record:
        circuits = small_circuits(
            Vectors("table", table),
            below=min(table.shape) + 1,
            budget=Budget(),
            seed=shard.seed,
            threads=self.threads,
            numbers=range(shard.start, shard.stop),
        )
        return record({"bases": shard.count}, [circuit.dependency for circuit in circuits])

    def summary(self, vectors: Vectors, plan: Plan, records: Collection[Record]) -> BasesSearched:
        """What the finished shards show together."""
        bases, witness = totals(records)["bases"], smallest(records, vectors)
        return BasesSearched(self.vectors, self.width, plan.seed, plan.count, bases, witness)
