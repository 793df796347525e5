"""Is every set of k vectors independent? Decided by looking at all of them, in O(N^(k-1)).

**Quotient and hash.** Vectors a < b < ... < y, z are dependent just when, modulo the span of
a, b, ... (k - 2 of them), y and z are parallel. In coordinates: clear a pivot coordinate of a in
all later vectors and drop it, do the same with b, and so on; what is left of k coordinates is a
plane, where equal directions y/x are found by hashing. So C(N, k-2) planes of on average
C(N, k-1)/C(N, k-2) points decide C(N, k) sets.

**Modulo p, in k coordinates.** Sets that are dependent over Q are dependent modulo p, and stay so
in fewer coordinates (a random projection of the table). Hence "no dependent k-set modulo p" proves
that all k-sets are independent over Q. About one in p of all sets is dependent by chance; a set
that is found is looked at modulo another prime q, in more coordinates, and what is dependent there
too is looked at exactly: it is a witness or a false alarm, never a guess.

The cost is known before it starts, `nominal_seconds`. For k = 1, 2 hashing does (`parallel`), for
k = 5 and 6 among many vectors meeting in the middle is quicker (`middle`).

Either way the sets are looked at in *pieces* that know nothing of each other: the sets with a given
smallest index, or the slices of `middle`. So `part` does some of them, anywhere, in any order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np

from attncert.constructions.progress import StageProgress, silent
from attncert.verify.claims.words import counted
from attncert.verify.kruskal.bounds import RankBound, witnessed
from attncert.verify.kruskal.methods import middle
from attncert.verify.kruskal.methods.parallel import parallel_classes, zeros
from attncert.verify.kruskal.methods.quotient_compiled import HITS, search
from attncert.verify.kruskal.methods.small_primes import inverses, mixed_coordinates, search_primes
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.rank.rational import Relation
from attncert.verify.scale.threads import parallel_map

_EXTRA = 4  # coordinates beyond k that tell chance from dependence
_TRIES = 4  # pairs of primes and projections, where one is unlucky
_POINT, _PLANE, _CHECK = 9e-9, 2e-7, 4e-7  # seconds, one thread: a vector hashed, a plane, an alarm
_START = 5e-5  # for each first vector
_SLICES = 8  # of the middle, for a thread at a time

Search: TypeAlias = tuple[Callable[[tuple[int, int]], middle.Findings], tuple[int, ...]]
"""What looks at the pieces start .. stop - 1, and its primes."""


@dataclass(frozen=True)
class SetsDecision:
    """independent: whether every k vectors are; None where that could not be decided.

    Of a `part`: whether all of its sets are.
    dependency: the witness where they are not (a circuit, of k vectors or fewer).
    primes: every set is independent modulo one of them, or over Q (false_alarms). sets: C(N, k).
    alarms: sets that were dependent modulo the first prime. false_alarms: modulo both.
    """

    k: int
    independent: bool | None
    dependency: Relation | None
    primes: tuple[int, ...]
    sets: int
    alarms: int
    false_alarms: int

    def bound(self) -> RankBound | None:
        """What it proves of the Kruskal rank."""
        if self.dependency is not None:
            return witnessed(self.dependency, "exhaustive", sets=self.sets)
        if not self.independent:
            return None
        primes = " or ".join(map(str, self.primes))
        how = f", modulo {primes}" if primes else ""
        if self.false_alarms:
            how += f", but for {self.false_alarms} that exact elimination over Q shows to be"
        sets = counted(self.sets, "set", "all")
        verb = "is" if self.sets == 1 else "are"
        why = f"{sets.capitalize()} of {counted(self.k, 'vector')} {verb} independent{how}."
        numbers = {
            "sets": self.sets,
            "dependent modulo the first prime": self.alarms,
            "dependent modulo both": self.false_alarms,
        }
        return RankBound("lower", self.k, "exhaustive", why, numbers=numbers)


def nominal_seconds(N: int, d: int, k: int, threads: int = 2) -> float:
    """Estimated cost of deciding k among N vectors (cost model, rather high than low; infinite
    where floats end).

    >>> [round(nominal_seconds(1782, 16, k), 1) for k in (3, 4)]
    [0.1, 5.7]
    >>> 60 < nominal_seconds(1782, 16, 5) < 180, 200 < nominal_seconds(1782, 16, 6) < 800
    (True, True)
    """
    if k <= 2:
        return 1e-6 * N
    if middle.worth_trying(k, N, d):
        return middle.seconds(k, N, threads)
    p, _ = search_primes(N)
    work = _POINT * _subsets(N, k - 1) + _PLANE * _subsets(N, k - 2)
    return (work + _CHECK * _subsets(N, k) / p + _START * N) / threads


def next_size(shape: tuple[int, int], lower: int, upper: int, seconds: float) -> int | None:
    """Which of the sizes lower + 1 .. upper is best looked at next, with so many seconds remaining.

    The first; but it is passed over where the next one proves it as well (`middle` assumes nothing
    of smaller sets), costs less than ten times as much, and is affordable. None: no size. shape:
    (N, d).

    >>> [next_size((1782, 16), lower, 7, 450.0) for lower in (2, 3, 4, 6, 7)]
    [3, 4, 6, 7, None]
    >>> next_size((1782, 16), 4, 7, 300.0)
    5
    """
    if lower >= upper:
        return None
    size = lower + 1
    while size < upper and middle.worth_trying(size + 1, *shape):
        after = nominal_seconds(*shape, size + 1)
        if after >= min(10 * nominal_seconds(*shape, size), seconds):
            break
        size += 1
    return size


def pieces(N: int, d: int, k: int) -> int:
    """How many pieces the search of all sets of k is cut in, k >= 3.

    >>> pieces(1782, 16, 4), pieces(1782, 16, 6)
    (1779, 19532)
    """
    return middle.REPRESENTATIVES if middle.worth_trying(k, N, d) else N - k + 1


def primes_of(N: int, d: int, k: int) -> list[tuple[int, ...]]:
    """Modulo which a `part` may find its sets independent: one prime or the other of a tuple."""
    if middle.worth_trying(k, N, d):
        return [middle.primes_of(k, N)]
    return [search_primes(N, attempt) for attempt in range(_TRIES)]


def _subsets(N: int, k: int) -> float:
    """C(N, k), infinite above the largest float."""
    try:
        return float(math.comb(N, k))
    except OverflowError:
        return math.inf


def decide(
    vectors: Vectors,
    k: int,
    *,
    seed: int = 0,
    progress: StageProgress = silent,
) -> SetsDecision:
    """Decide whether every k of the vectors are independent over Q, 1 <= k <= min(N, d).

    seed: of the projection; it decides how many alarms there are, never the answer.

    >>> square = Vectors.of([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1], [1, 2, 0]])
    >>> decide(square, 2).independent, decide(square, 3).dependency.indices
    (True, (0, 1, 4))
    """
    if k <= 2:
        return _by_hashing(vectors, k)
    everything = pieces(vectors.N, vectors.d, k)
    decision = part(vectors, k, 0, everything, seed=seed, progress=progress)
    if decision.independent is not None:
        return decision
    for smaller in range(1, k):  # most likely some k - 2 or fewer are dependent
        less = decide(vectors, smaller, seed=seed)
        if less.dependency is not None:
            return replace(less, k=k, sets=decision.sets)
    return decision


def part(
    vectors: Vectors,
    k: int,
    start: int,
    end: int,
    *,
    seed: int = 0,
    threads: int | None = None,
    tables: middle.Middle | None = None,
    progress: StageProgress = silent,
) -> SetsDecision:
    """The pieces start .. end - 1 of all sets of k, 3 <= k <= min(N, d); None where they could not
    be decided. threads: all cores unless given. tables: `middle.Middle` of the same, if already
    prepared."""
    step = 1
    searches: Iterable[Search] = map(partial(_quotients, vectors, k, seed), range(_TRIES))
    if middle.worth_trying(k, vectors.N, vectors.d):
        tables = tables or middle.Middle(vectors, k, seed)
        step, searches = _SLICES, [(tables.look, middle.primes_of(k, vectors.N))]
    for look, primes in searches:  # again where a projection is unlucky
        decision = SetsDecision(k, True, None, primes, math.comb(vectors.N, k), 0, 0)
        starts = range(start, end, step)
        ranges = [(first, min(first + step, end)) for first in starts]
        for (first, _), findings in zip(ranges, parallel_map(look, ranges, threads), strict=False):
            decision = replace(
                decision,
                alarms=decision.alarms + findings.alarms,
                false_alarms=decision.false_alarms + findings.false_alarms,
            )
            if findings.relation is not None:
                return replace(decision, independent=False, dependency=findings.relation, primes=())
            if not findings.settled:
                decision = replace(decision, independent=None)
                break
            progress(f"all sets of {k}", first - start, end - start)
        if decision.independent:
            break
    return decision


def _by_hashing(vectors: Vectors, k: int) -> SetsDecision:
    sets = math.comb(vectors.N, k)
    dependent = [[i] for i in zeros(vectors)] or (parallel_classes(vectors) if k == 2 else [])
    if not dependent:
        return SetsDecision(k, True, None, (), sets, 0, 0)
    return SetsDecision(k, False, vectors.relation(dependent[0][:2]), (), sets, 0, 0)


def _quotients(vectors: Vectors, k: int, seed: int, attempt: int) -> Search:
    """The search by quotients, of the pieces start .. stop - 1, and its primes."""
    p, q = search_primes(vectors.N, attempt)
    table = np.ascontiguousarray(mixed_coordinates(vectors, k, p, seed).T)
    wide = mixed_coordinates(vectors, k + _EXTRA, q, seed)
    modulo_p, modulo_q = (inverses(p), float(p)), (inverses(q), float(q))

    def look(piece: tuple[int, int]) -> middle.Findings:
        hits = np.zeros((HITS, k), dtype=np.int64)
        count, alarms = search(table, wide, *piece, k, modulo_p, modulo_q, hits)
        relation, false = middle.first_relation(vectors, hits[: max(count, 0)].tolist())
        settled = 0 <= count < HITS  # more false alarms than fit the buffer: another prime's luck
        return middle.Findings(settled, relation, int(alarms), false)

    return look, (p, q)
