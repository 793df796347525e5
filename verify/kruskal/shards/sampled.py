"""Random subsets of the vectors: what they show and what they do not show.

**What they show.** Suppose that S subsets of k vectors are drawn uniformly and independently and f
are not proved independent. If a fraction q of *all* k-subsets is dependent, then f or fewer
failures occur with probability at most P(Binomial(S, q) <= f). So with 95 % confidence q is at most
the one-sided Clopper-Pearson bound, which is 1 - 0.05^(1/S) for f = 0. Counting an undecided subset
as a failure only raises the bound.

**What they do not show.** q < 0.001 is not a bound on the Kruskal rank, which is at most s - 1 if a
single s-set is dependent. Only the fraction C(N-s, k-s)/C(N, k), about (k/N)^s, of the k-subsets
contains this set, so random subsets rarely contain it. Only a subset that *is* dependent bounds the
Kruskal rank: its relation is an exact witness.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.words import counted
from attncert.verify.kruskal.bounds import Contradiction
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.rank.rational import Relation
from attncert.verify.sharding.shards import Record

CONFIDENCE = 0.95
_MOST = 2**63  # compiled loops cannot count further
_ARITHMETIC = "exact modulo primes; one-sided Clopper-Pearson bound"
_SOURCE = "ours; verify/kruskal/shards/sampled.py"


@dataclass(frozen=True)
class Samples:
    """The result of S random k-subsets.

    counts: the numbers of subsets proved independent, proved dependent, or undecided. witness: the
    first of the smallest dependent sets found, or None. assumed: a sentence about the subsets
    that were not counted here.
    """

    vectors: int
    k: int
    seed: int
    counts: Counter[str]
    witness: Relation | None
    assumed: str = ""

    @property
    def drawn(self) -> int:
        return self.counts.total()

    @property
    def independent(self) -> int:
        return self.counts["independent"]

    @property
    def failing_at_most(self) -> float:
        """The 95 % bound on the fraction of all k-subsets that are dependent."""
        return failing_at_most(self.drawn - self.independent, self.drawn)

    def claim(self) -> Claim:
        """The claim, sampled or assumed, that few subsets are dependent."""
        return Claim(
            ids.sampled(self.k),
            f"With 95 % confidence, at most the fraction {_upward(self.failing_at_most)} of the "
            f"{self.k}-subsets of {counted(self.vectors, 'vector', 'the')} is dependent. This does "
            "not bound the Kruskal rank.",
            Level.ASSUMED if self.assumed else Level.SAMPLED,
            numbers=self.as_dict(),
            arithmetic=_ARITHMETIC,
            rests_on=(ids.KRUSKAL_RECORDS,) if self.assumed else (),
            source=_SOURCE,
        )

    def as_dict(self) -> dict[str, Any]:
        """The JSON form. Floats are rounded so that all versions of the library agree."""
        return {
            "k": self.k,
            "seed": self.seed,
            **{name: self.counts[name] for name in ("independent", "dependent", "undecided")},
            "subsets": self.drawn,
            "failing at most": _upward(self.failing_at_most),
            "confidence": CONFIDENCE,
            "witness": None if self.witness is None else self.witness.as_dict(),
        }


def failing_at_most(failures: int, trials: int) -> float:
    """The one-sided 95 % Clopper-Pearson bound on the failure probability, for `failures` in
    `trials`.

    >>> failing_at_most(0, 5000) == 1 - 0.05 ** (1 / 5000), failing_at_most(3, 3)
    (True, 1.0)
    >>> round(failing_at_most(2, 100), 5), failing_at_most(0, 0)
    (0.06162, 1.0)
    """
    if failures == trials:
        return 1.0
    if failures == 0:
        return 1 - (1 - CONFIDENCE) ** (1 / trials)
    from scipy.stats import binomtest

    interval = binomtest(failures, trials, alternative="less").proportion_ci(CONFIDENCE, "exact")
    return float(interval.high)


def record(counts: Mapping[str, int], circuits: Sequence[Relation] = ()) -> Record:
    """The record of a shard: counts by name, and the members of the smallest circuit found."""
    members = min((circuit.indices for circuit in circuits), key=_size, default=None)
    return {"counts": dict(counts), "circuit": None if members is None else list(members)}


def is_record(record: Any, vectors: Vectors, names: Collection[str]) -> bool:
    """Whether this has the form of a record for these vectors. Only the form of a circuit is
    checked, since `smallest` computes its relation again."""
    if type(record) is not dict or set(record) != {"counts", "circuit"}:
        return False
    counts, circuit = record["counts"], record["circuit"]
    if type(counts) is not dict or not set(counts) <= set(names):
        return False
    if not all(type(n) is int and 0 <= n < _MOST for n in counts.values()):
        return False
    if circuit is None:
        return True
    if type(circuit) is not list or not all(type(i) is int for i in circuit):
        return False
    size = len(circuit)
    increasing = circuit == sorted(set(circuit)) and 0 < size <= min(vectors.N, vectors.d) + 1
    return increasing and circuit[0] >= 0 and circuit[-1] < vectors.N


def totals(records: Iterable[Record]) -> Counter[str]:
    counts = Counter[str]()
    for each in records:
        counts.update(each["counts"])
    return counts


def smallest(records: Iterable[Record], vectors: Vectors) -> Relation | None:
    """The smallest circuit that the shards found (the first by indices if several tie), with its
    relation computed again exactly; None if no circuit was found.

    Raises Contradiction if the vectors are independent, since the record is then false.
    """
    circuits = (tuple(each["circuit"]) for each in records if each["circuit"] is not None)
    members = min(circuits, key=_size, default=None)
    if members is None:
        return None
    dependency = vectors.relation(members)
    if dependency is None:
        raise Contradiction(f"a shard calls vectors {members} dependent, but they are not")
    return dependency


def _size(members: Sequence[int]) -> tuple[int, Sequence[int]]:
    return len(members), members


def _upward(x: float) -> float:
    """Round up to six digits, so that the bound does not depend on the version of a library."""
    if x in (0.0, 1.0):
        return x
    scale = 10.0 ** (5 - math.floor(math.log10(x)))
    return math.ceil(x * scale) / scale
