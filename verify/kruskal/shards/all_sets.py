"""All sets of k vectors as shards (`exhaustive.part`): on any number of machines, in any order.

A shard is some of the pieces that the search is cut in. If every shard is finished, settled and
without a circuit, every k of the vectors are independent: proved, like the other bounds of the
interval, if all were run here; assumed, if a log or a cluster says so.
"""

from __future__ import annotations

import math
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
from attncert.verify.scale.shards import Plan, Record, Shard

_COUNTED = "settled", "looked at", "false alarms"
_SHARDS, _MOST_SHARDS = 16, 4000  # where there are enough pieces; a shard takes a second or more


@dataclass(frozen=True)
class AllSets:
    """The work of a shard, called as search(shard, table); a process prepares its table once.

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
        """Shards of a second or more, but enough of them to share out; of the settings alone.

        >>> AllSets("", 1782, 16, 6).plan(0).size, AllSets("", 1782, 16, 4).plan(0).size
        (29, 111)
        """
        count = exhaustive.pieces(self.vectors, self.width, self.k)
        price = exhaustive.nominal_seconds(self.vectors, self.width, self.k, threads=1)
        size = min(max(count / price, count / _MOST_SHARDS), count // _SHARDS)
        return Plan(f"all sets of {self.k}", seed, count, max(1, int(size)))

    def settings(self, seed: int) -> dict[str, Any]:
        """What its shards depend on, beside the vectors."""
        return {"method": "middle" if self.by_middle else "quotients"}

    @property
    def items(self) -> str:
        """What its shards count, in words."""
        return f"parts of the search of all sets of {self.k}"

    def fits(self, vectors: Vectors, shard: Shard, record: Any) -> bool:
        """Whether a record can be of this shard: it is settled as a whole or not at all, and
        modulo the primes of one attempt, or by a circuit."""
        primes = dict.fromkeys(map(_modulo, self._primes()), shard.count)
        if not is_record(record, vectors, [*_COUNTED, *primes]):
            return False
        counts, dependent = dict(record["counts"]), record["circuit"] is not None
        settled, looked, false = (counts.pop(name, -1) for name in _COUNTED)
        attempts = exhaustive.primes_of(self.vectors, self.width, self.k)
        searched = [{_modulo(p): shard.count for p in attempt} for attempt in attempts]
        whole = settled == shard.count or (settled == 0 and not dependent)
        return whole and 0 <= false <= looked and counts in ([{}] if dependent else searched)

    def __call__(self, shard: Shard, table: AnyArray) -> Record:
        vectors = Vectors("table", table)
        decision = exhaustive.part(
            vectors, self.k, shard.start, shard.stop, seed=shard.seed, threads=1,
            tables=_prepared(self, vectors, shard.seed),
        )  # fmt: skip
        counts = {
            "settled": 0 if decision.independent is None else shard.count,
            "looked at": decision.alarms,
            "false alarms": decision.false_alarms,
        }
        counts |= {_modulo(p): shard.count for p in decision.primes}
        return record(counts, [] if decision.dependency is None else [decision.dependency])

    def bound(
        self, vectors: Vectors, plan: Plan, records: Collection[Record], assumed: str = ""
    ) -> RankBound | None:
        """What finished shards prove together of the Kruskal rank; None while that is nothing.

        assumed: which records were not computed here, one sentence. That all sets are independent
        is then *assumed*; a dependent set is proved by its relation, whoever found it.
        """
        counts = totals(records)
        independent = True if counts["settled"] == plan.count else None
        bound = exhaustive.SetsDecision(
            self.k,
            independent,
            smallest(records, vectors),
            tuple(p for p in self._primes() if counts[_modulo(p)]),
            math.comb(self.vectors, self.k),
            counts["looked at"],
            counts["false alarms"],
        ).bound()
        if bound is None or bound.end == "upper" or not assumed:
            return bound
        return replace(bound, level=Level.ASSUMED, assumed=assumed)

    @property
    def by_middle(self) -> bool:
        return middle.worth_trying(self.k, self.vectors, self.width)

    def _primes(self) -> list[int]:
        """Modulo which a shard may find its sets independent."""
        attempts = exhaustive.primes_of(self.vectors, self.width, self.k)
        return list(dict.fromkeys(p for primes in attempts for p in primes))


def _modulo(prime: int) -> str:
    """The count of pieces that were searched modulo a prime."""
    return f"modulo {prime}"


_LOCK = threading.Lock()
_PREPARED: dict[tuple[AllSets, int], middle.Middle] = {}


def _prepared(search: AllSets, vectors: Vectors, seed: int) -> middle.Middle | None:
    if not search.by_middle:
        return None
    with _LOCK:
        if (search, seed) not in _PREPARED:
            _PREPARED.clear()
            _PREPARED[search, seed] = middle.Middle(vectors, search.k, seed)
        return _PREPARED[search, seed]
