"""All sets of k vectors as shards (`exhaustive.part`): on any number of machines, in any order.

A shard is some of the pieces that the search is cut in. Where every shard is finished, settled and
without a witness, every k of the vectors are independent: proved, like the bounds of the interval,
where they were run here; assumed, where a log says so (`records.py`).

With `--all-sets` one size is asked for, and its shards are of the kind "sets". The interval's own
search looks at several sizes, of the kinds "sets of 4", "sets of 5" and so on. To which of them it
comes depends on the budget; the kinds of its log do not (`sizes`).
"""

from __future__ import annotations

import math
import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from attncert.constructions.arrays import AnyArray
from attncert.constructions.errors import InputError
from attncert.verify.claims.evidence import Level
from attncert.verify.kruskal.bounds import Bound
from attncert.verify.kruskal.dependency import Dependency
from attncert.verify.kruskal.methods import exhaustive, middle
from attncert.verify.kruskal.sampling.sampled import smallest
from attncert.verify.kruskal.sampling.subsets import table_sha256
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.rank.engines.cpu import available_threads
from attncert.verify.scale.shards import Plan, Result, Shard

SETS = "sets"
_QUICK, _DEAREST = 1.0, 1e7  # seconds of one core: what is not worth a log, and what no search ends
_SHARDS, _MOST_SHARDS = 16, 4000  # where there are enough pieces; a shard takes a second or more


def sizes(N: int, d: int) -> list[int]:
    """The sizes whose sets are kept in the log of an interval's search: those that take a second or
    more, up to the first that is beyond every budget.

    >>> sizes(1782, 16), sizes(20, 10)
    ([4, 5, 6], [])
    """
    found = []
    for k in range(3, min(N, d) + 1):
        price = exhaustive.nominal_seconds(N, d, k, threads=1)
        if price > _DEAREST:
            break
        if price >= _QUICK:
            found.append(k)
    return found


def kind_of(k: int) -> str:
    """The kind of an interval's shards of one size.

    >>> kind_of(5), is_sets(kind_of(5)), is_sets(SETS), is_sets("subsets")
    ('sets of 5', True, True, False)
    """
    return f"{SETS} of {k}"


def is_sets(kind: str) -> bool:
    """Whether shards of this kind are all sets of one size."""
    return kind.partition(" ")[0] == SETS


@dataclass(frozen=True)
class SetsSearched:
    """So many pieces of all sets of k were looked at. settled: those of them that were decided.
    looked_at: sets that were dependent modulo the first prime; false_alarms: modulo all `primes`,
    not over Q. witness: a circuit, or None. logged: pieces that were read from a log and not looked
    at: whether they hide a dependent set is the word of whoever wrote it."""

    vectors: int
    width: int
    k: int
    seed: int
    planned: int
    pieces: int
    settled: int
    looked_at: int
    false_alarms: int
    primes: tuple[int, ...]
    witness: Dependency | None
    logged: int = 0

    @property
    def complete(self) -> bool:
        """Whether all pieces were looked at."""
        return self.pieces == self.planned

    @property
    def bound(self) -> Bound | None:
        """What it proves of the Kruskal rank; assumed where the log could hide a dependent set."""
        independent = True if self.settled == self.planned else None
        sets = math.comb(self.vectors, self.k)
        found = exhaustive.Decision(
            self.k, independent, self.witness, self.primes, sets, self.looked_at, self.false_alarms
        ).bound()
        if found is None or found.end == "upper" or not self.logged:
            return found
        return replace(found, level=Level.ASSUMED, statement=f"{found.statement} {self.in_log}")

    @property
    def in_log(self) -> str:
        """What the log is trusted with, one sentence."""
        of = f"{self.logged:,} of {self.planned:,}"
        return f"The log has {of} parts of this search; they were not looked at again."

    def as_dict(self) -> dict[str, Any]:
        return {
            "k": self.k,
            "seed": self.seed,
            "planned": self.planned,
            "pieces": self.pieces,
            "settled": self.settled,
            "from a log": self.logged,
            "looked at": self.looked_at,
            "false alarms": self.false_alarms,
            "primes": list(self.primes),
            "witness": None if self.witness is None else self.witness.as_dict(),
        }


@dataclass(frozen=True)
class AllSets:
    """The work of a shard, called as search(shard, table); a process prepares its table once.

    table: its `table_sha256`. k: 3 to min(vectors, width). threads: in each process; None for all.
    kind: of the shards.
    """

    table: str
    vectors: int
    width: int
    k: int
    threads: int | None = None
    kind: str = SETS

    @classmethod
    def of(cls, vectors: Vectors, k: int | None, *, threads: int | None = None) -> AllSets:
        most = min(vectors.N, vectors.d)
        if k is None or not 3 <= k <= most:
            raise InputError("--all-sets", f"given with --k from 3 to min(N, d) = {most}", k)
        return cls(table_sha256(vectors.array), vectors.N, vectors.d, k, threads)

    def plan(self, seed: int) -> Plan:
        """Shards of a second or more, but enough of them to share out; of the settings alone.

        >>> AllSets("", 1782, 16, 6).plan(0).size, AllSets("", 1782, 16, 4).plan(0).size
        (29, 111)
        """
        count = exhaustive.pieces(self.vectors, self.width, self.k)
        price = exhaustive.nominal_seconds(self.vectors, self.width, self.k, threads=1)
        size = min(max(count / price, count / _MOST_SHARDS), count // _SHARDS)
        return Plan(self.kind, seed, count, max(1, int(size)))

    def settings(self) -> dict[str, Any]:
        """What a log of these shards is about."""
        by_middle = middle.worth_trying(self.k, self.vectors, self.width)
        method = "middle" if by_middle else "quotients"
        return {"vectors": self.vectors, "width": self.width, "k": self.k, "method": method}

    def primes(self) -> list[tuple[int, ...]]:
        """Modulo which a shard may have found its sets independent."""
        return exhaustive.primes_of(self.vectors, self.width, self.k)

    def __call__(self, shard: Shard, table: AnyArray) -> Result:
        vectors = Vectors("table", table)
        found = exhaustive.part(
            vectors, self.k, shard.start, shard.stop, seed=shard.seed,
            threads=self.threads or available_threads(),
            tables=_prepared(self, vectors, shard.seed),
        )  # fmt: skip
        witness = None if found.dependency is None else found.dependency.as_dict()
        settled = 0 if found.independent is None else shard.stop - shard.start
        return {
            "settled": settled,
            "looked at": found.alarms,
            "false alarms": found.false_alarms,
            "primes": list(found.primes),
            "witness": witness,
        }


# As in `subsets`: workers of a cluster may be threads of one process.
_LOCK = threading.Lock()
_PREPARED: dict[tuple[AllSets, int], middle.Middle] = {}


def _prepared(search: AllSets, vectors: Vectors, seed: int) -> middle.Middle | None:
    if not middle.worth_trying(search.k, search.vectors, search.width):
        return None
    with _LOCK:
        if (search, seed) not in _PREPARED:
            _PREPARED.clear()
            _PREPARED[search, seed] = middle.Middle(vectors, search.k, seed)
        return _PREPARED[search, seed]


def sets_of(
    plan: Plan,
    settings: Mapping[str, Any],
    results: Mapping[Shard, Result],
    logged: Collection[Shard] = (),
) -> SetsSearched:
    """What shards of a plan found together; `settings` as `AllSets.settings` has them. logged:
    those whose results were read from a log."""
    found = results.values()
    return SetsSearched(
        settings["vectors"],
        settings["width"],
        settings["k"],
        plan.seed,
        plan.count,
        sum(shard.stop - shard.start for shard in results),
        sum(result["settled"] for result in found),
        sum(result["looked at"] for result in found),
        sum(result["false alarms"] for result in found),
        tuple(dict.fromkeys(p for result in found for p in result["primes"])),
        smallest(found),
        sum(shard.stop - shard.start for shard in results if shard in logged),
    )
