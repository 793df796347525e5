"""All sets of k vectors as shards (`exhaustive`), for any number of machines and in any order.

A shard is a range of the pieces of the search. If every shard is finished, settled and without a
circuit, any k of the vectors are independent. This is proved, like the other bounds of the
interval, if all shards ran here, and assumed if records come from a cluster.
"""

from __future__ import annotations

import threading
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

from attncert.constructions.arrays import AnyArray
from attncert.verify.claims.evidence import Level
from attncert.verify.kruskal.bounds import RankBound
from attncert.verify.kruskal.methods import exhaustive, middle
from attncert.verify.kruskal.shards.sampled import is_record, record, smallest, totals
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.sharding.shards import Plan, Record, Shard

_COUNTED = ("settled", "looked at", "false alarms")
_SHARDS, _MOST_SHARDS = 16, 4000  # limits on the number of shards, if there are enough pieces


@dataclass(frozen=True)
class AllSets:
    """The work of a shard, called as search(shard, table). Each process prepares its table once.

    table: its SHA-256. k: 3 to min(vectors, width).
    """

    table: str
    vectors: int
    width: int
    k: int

    @classmethod
    def of(cls, vectors: Vectors, k: int) -> AllSets:
        return cls(vectors.sha256, vectors.N, vectors.d, k)

    def plan(self, seed: int) -> Plan:
        """Shards that take a second or more, but enough of them to distribute the work. They depend
        only on the settings.

        >>> AllSets("", 1782, 16, 6).plan(0).size, AllSets("", 1782, 16, 4).plan(0).size
        (29, 111)
        """
        shape = self.vectors, self.width, self.k
        count = exhaustive.pieces(*shape)
        price = exhaustive.nominal_seconds(*shape, threads=1)
        size = min(max(count / price, count / _MOST_SHARDS), count // _SHARDS)
        return Plan(f"all sets of {self.k}", seed, count, max(1, int(size)))

    @property
    def items(self) -> str:
        """What the shards count, in words."""
        return f"parts of the search of all sets of {self.k}"

    def fits(self, vectors: Vectors, shard: Shard, record: Any) -> bool:
        """Whether a record can belong to this shard: it must be completely settled, contain a
        circuit, or not be settled at all."""
        if not is_record(record, vectors, _COUNTED) or len(record["counts"]) != len(_COUNTED):
            return False
        settled, looked, false = (record["counts"][name] for name in _COUNTED)
        return settled in (0, shard.count) and false <= looked

    def __call__(self, shard: Shard, table: AnyArray) -> Record:
        shape = self.vectors, self.width, self.k
        look, step = _prepared(self, table, shard.seed), exhaustive.step(*shape)
        findings = exhaustive.part(look, shard.start, shard.stop, step=step, threads=1)
        settled = findings.settled or findings.relation is not None
        numbers = (shard.count * settled, findings.alarms, findings.false_alarms)
        relations = [] if findings.relation is None else [findings.relation]
        return record(dict(zip(_COUNTED, numbers, strict=True)), relations)

    def bound(
        self, vectors: Vectors, plan: Plan, records: Collection[Record], assumed: str = ""
    ) -> RankBound | None:
        """The bound on the Kruskal rank that the finished shards prove together, if any.

        assumed: a sentence about the records that were not computed here. If there are any, it is
        only *assumed* that all sets are independent; a dependent set is proved by its relation,
        wherever it was found.
        """
        counts = totals(records)
        findings = middle.Findings(
            counts["settled"] == plan.count,
            smallest(records, vectors),
            counts["looked at"],
            counts["false alarms"],
        )
        bound = exhaustive.bound(findings, self.vectors, self.width, self.k)
        if bound is None or bound.end == "upper" or not assumed:
            return bound
        return replace(bound, level=Level.ASSUMED, assumed=assumed)


_LOCK = threading.Lock()
_PREPARED: dict[tuple[AllSets, int], exhaustive.Look] = {}


def _prepared(search: AllSets, table: AnyArray, seed: int) -> exhaustive.Look:
    with _LOCK:
        if (search, seed) not in _PREPARED:
            _PREPARED.clear()
            _PREPARED[search, seed] = exhaustive.prepared(Vectors("table", table), search.k, seed)
        return _PREPARED[search, seed]
