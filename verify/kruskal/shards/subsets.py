"""Random subsets, tested exactly, as shards; `sampled` explains what they show.

Each subset depends only on the seed and its number (`draws`), so that a job can be divided into
shards in any way. Subsets are tested modulo primes, after one projection for all of them
(`verify.rank.modular`). Subsets that no prime proves independent (fewer than one in 10^14 of the
independent subsets) are decided over Q as long as this is cheap; the others remain undecided.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from attncert.constructions.arrays import AnyArray, IntArray
from attncert.verify.kruskal.shards.draws import BLOCK, sequences
from attncert.verify.kruskal.shards.sampled import Samples, is_record, record, smallest, totals
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.rank.engines.devices import DeviceChoice
from attncert.verify.rank.modular import IndependenceTester
from attncert.verify.rank.rational import Relation
from attncert.verify.sharding.shards import Plan, Record, Shard

_LARGEST_SHARD = 4096
_SHARDS = 16  # the minimum number of shards, if there are enough items
_EXACT_WORK = 10**8  # limit on k^3 times the exact tests per shard; one is always allowed


@dataclass(frozen=True)
class Sampler:
    """The work of a shard, called as sampler(shard, table). Each process prepares its table once.

    k: the size of a subset. table: SHA-256 of the vectors. vectors: the number of vectors.
    expected: the number of subsets. device: auto, cpu or cuda.
    """

    k: int
    table: str
    vectors: int
    expected: int
    device: DeviceChoice = "auto"

    @classmethod
    def of(cls, vectors: Vectors, k: int, count: int, *, device: DeviceChoice = "auto") -> Sampler:
        """The sampler of random k-subsets, 1 <= k <= min(N, d)."""
        return cls(k, vectors.sha256, vectors.N, count, device)

    def plan(self, seed: int) -> Plan:
        """Shards that take about a second, but enough of them to distribute the work. They depend
        only on the settings.

        >>> Sampler(197, "", 2000, 100_000).plan(0).size, Sampler(768, "", 2000, 1000).plan(0).size
        (4096, 64)
        """
        seconds = 2e-5 + self.k**3 / 3e10  # one subset on one core
        size = min(_LARGEST_SHARD, 2 ** round(math.log2(1 / seconds)), self.expected // _SHARDS)
        return Plan("subsets", seed, self.expected, max(BLOCK, size))

    @property
    def items(self) -> str:
        """What the shards count, in words."""
        return "random subsets"

    def fits(self, vectors: Vectors, shard: Shard, record: Any) -> bool:
        """Whether a record can belong to this shard: it must count each subset once, and contain a
        circuit if it calls a subset dependent."""
        if not is_record(record, vectors, ("independent", "dependent", "undecided")):
            return False
        counts, witness = record["counts"], record["circuit"] is not None
        agrees = witness == (counts.get("dependent", 0) > 0)
        return agrees and sum(counts.values()) == shard.count

    def __call__(self, shard: Shard, table: AnyArray) -> Record:
        drawn = sequences(len(table), self.k, shard.seed, shard.start, shard.stop)
        return _subsets(_prepared(self, table), Vectors("table", table), drawn)

    def summary(
        self, vectors: Vectors, plan: Plan, records: Collection[Record], assumed: str = ""
    ) -> Samples:
        """The counts of all finished shards. assumed: a sentence about the records that were not
        computed here."""
        witness = smallest(records, vectors)
        return Samples(vectors.N, self.k, plan.seed, totals(records), witness, assumed)


def _subsets(tester: IndependenceTester, vectors: Vectors, drawn: IntArray) -> Record:
    uncertified = np.flatnonzero(~tester.subsets(drawn)).tolist()
    independent = len(drawn) - len(uncertified)
    exact = max(1, _EXACT_WORK // drawn.shape[1] ** 3)
    circuits: list[Relation] = []
    undecided = 0
    for i in uncertified:
        members = set(drawn[i].tolist())
        if any(members.issuperset(circuit.indices) for circuit in circuits):
            continue
        if exact == 0:
            undecided += 1
            continue
        exact -= 1
        relation = vectors.relation(sorted(members))
        if relation is None:
            independent += 1
        else:
            circuits.append(relation)
    dependent = len(drawn) - independent - undecided
    counts = {"independent": independent, "dependent": dependent, "undecided": undecided}
    return record(counts, circuits)


# A process tests one table at a time, on several threads.
_LOCK = threading.Lock()
_PREPARED: dict[Sampler, IndependenceTester] = {}


def _prepared(sampler: Sampler, table: AnyArray) -> IndependenceTester:
    with _LOCK:
        if sampler not in _PREPARED:
            _PREPARED.clear()
            _PREPARED[sampler] = IndependenceTester(
                table, device=sampler.device, threads=1, expected=sampler.expected
            )
        return _PREPARED[sampler]
