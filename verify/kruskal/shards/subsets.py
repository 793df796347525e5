"""Random subsets, tested exactly, as shards; `sampled` has what they say.

Each subset is drawn from (seed, its number) alone (`draws`), so that shards may be cut anywhere.
Subsets are tested modulo primes, in one projection for all of them (`verify.rank.modular`); what
all primes leave over (one independent subset in more than 10^14) is decided over Q while that is
cheap, and undecided then.
"""

from __future__ import annotations

import hashlib
import math
import threading
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from attncert.constructions.arrays import AnyArray, IntArray
from attncert.verify.kruskal.shards.draws import BLOCK, sequences
from attncert.verify.kruskal.shards.sampled import (
    Samples,
    is_record,
    record,
    smallest,
    totals,
)
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.rank.engines.devices import DeviceChoice
from attncert.verify.rank.modular import IndependenceTester, modular_rank
from attncert.verify.rank.rational import Relation
from attncert.verify.scale.shards import Plan, Record, Shard

SUBSETS, PREFIXES = "subsets", "prefixes"
_LARGEST_SHARD = 4096
_SHARDS = 16  # at least, where there are enough items
_EXACT_WORK = 10**8  # k^3 for each exact decision of a shard, at least one of them


@dataclass(frozen=True)
class Sampler:
    """The work of a shard, called as sampler(shard, table); a process prepares its table once.

    kind: SUBSETS (of k vectors) or PREFIXES (of permutations, up to k vectors). table: its
    SHA-256. vectors, width: its shape. expected: subsets in all. device: auto, cpu or cuda.
    """

    kind: str
    k: int
    table: str
    vectors: int
    width: int
    expected: int
    device: DeviceChoice = "auto"

    @classmethod
    def of(
        cls, vectors: Vectors, k: int | None, count: int, *, device: DeviceChoice = "auto"
    ) -> Sampler:
        """Random k-subsets, 1 <= k <= min(N, d), or with k None the sweep over all k."""
        kind, size = (PREFIXES, min(vectors.N, vectors.d)) if k is None else (SUBSETS, k)
        return cls(kind, size, vectors.sha256, vectors.N, vectors.d, count, device)

    def plan(self, seed: int) -> Plan:
        """Shards of about a second, but enough of them to share out; of the settings alone.

        >>> Sampler(SUBSETS, 197, "", 2000, 768, 100_000).plan(0).size
        4096
        >>> Sampler(SUBSETS, 768, "", 2000, 768, 1000).plan(0).size
        64
        """
        seconds = 2e-5 + self.k**3 / 3e10  # of one subset, on one core
        size = min(_LARGEST_SHARD, 2 ** round(math.log2(1 / seconds)), self.expected // _SHARDS)
        return Plan(self.kind, seed, self.expected, max(BLOCK, size))

    def settings(self, seed: int) -> dict[str, Any]:
        """What its shards depend on, beside the vectors; `draws` changes if another library draws
        other sets."""
        first = sequences(self.vectors, self.k, seed, 0, BLOCK)
        return {"k": self.k, "draws": hashlib.sha256(first.astype("<i8").tobytes()).hexdigest()}

    @property
    def items(self) -> str:
        """What its shards count, in words."""
        return "random permutations" if self.kind == PREFIXES else "random subsets"

    def fits(self, vectors: Vectors, shard: Shard, record: Any) -> bool:
        """Whether a record can be of this shard: it counts each item once, and shows a circuit if
        it calls a subset dependent."""
        sweep = self.kind == PREFIXES
        names = map(str, range(self.k + 1)) if sweep else ("independent", "dependent", "undecided")
        if not is_record(record, vectors, [*names]):
            return False
        counts, witness = record["counts"], record["circuit"] is not None
        agrees = sweep or witness == (counts.get("dependent", 0) > 0)
        return agrees and sum(counts.values()) == shard.count

    def __call__(self, shard: Shard, table: AnyArray) -> Record:
        drawn = sequences(len(table), self.k, shard.seed, shard.start, shard.stop)
        tester, rank = _prepared(self, table)
        if self.kind == PREFIXES:
            return _prefixes(tester, Vectors("table", table), drawn, rank)
        return _subsets(tester, Vectors("table", table), drawn)

    def summary(
        self, vectors: Vectors, plan: Plan, records: Collection[Record], assumed: str = ""
    ) -> Samples:
        """What the finished shards say together. assumed: which were not computed here."""
        every, witness = self.kind == PREFIXES, smallest(records, vectors)
        return Samples(vectors.N, self.k, plan.seed, every, totals(records), witness, assumed)


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


def _prefixes(tester: IndependenceTester, vectors: Vectors, drawn: IntArray, rank: int) -> Record:
    """The lengths, and the circuit that ends the shortest one.

    A prefix as long as the rank of all vectors ends with nothing new: more vectors than their rank
    are dependent anyway.
    """
    lengths = tester.prefixes(drawn)
    shortest = int(np.argmin(lengths))
    length = int(lengths[shortest])
    circuits = []
    if length < min(rank, drawn.shape[1]):
        relation = vectors.relation(sorted(drawn[shortest, : length + 1].tolist()))
        circuits = [relation] if relation is not None else []
    counts = Counter(lengths.tolist())
    return record({str(length): counts[length] for length in sorted(counts)}, circuits)


# A process tests one table at a time, on several threads.
_LOCK = threading.Lock()
_PREPARED: dict[Sampler, tuple[IndependenceTester, int]] = {}


def _prepared(sampler: Sampler, table: AnyArray) -> tuple[IndependenceTester, int]:
    """The tester of this process, and the rank of the table where the sampler asks for it."""
    with _LOCK:
        if sampler not in _PREPARED:
            _PREPARED.clear()
            tester = IndependenceTester(table, device=sampler.device, threads=1)
            rank = modular_rank(table).rank if sampler.kind == PREFIXES else 0
            _PREPARED[sampler] = tester, rank
        return _PREPARED[sampler]
