"""Decides, by searching all sets in time O(N^(k-1)), whether every set of k vectors is independent.

**Quotient and hash.** Vectors a < b < ... < y, z are dependent if and only if y and z are parallel
modulo the span of the first k - 2 vectors a, b, .... In coordinates: clear a pivot coordinate of a
in all later vectors and drop this coordinate, do the same with b, and so on. Two of the k
coordinates remain; in this plane, equal directions y/x are found by hashing. So C(N, k-2) planes
with C(N, k-1)/C(N, k-2) points on average decide C(N, k) sets.

**Modulo p, in k coordinates.** Sets that are dependent over Q are also dependent modulo p, and
remain so in fewer coordinates (after a random projection of the table). Hence "no dependent k-set
modulo p" proves that all k-sets are independent over Q. About one in p of all sets is dependent by
chance. Such a set is tested modulo another prime q, in more coordinates. If it is also dependent
modulo q, it is tested exactly, and is either a witness or a false alarm.

The cost is known in advance (`nominal_seconds`). For k = 5 and 6 and many vectors, a
meet-in-the-middle search is quicker (`middle`).

In both cases, the search is divided into independent *pieces*: the sets with a given smallest
index, or the slices of `middle`. Any machine may search any pieces, in any order.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from attncert.constructions.progress import StageProgress, silent
from attncert.verify.claims.words import counted
from attncert.verify.kruskal.bounds import RankBound, witnessed
from attncert.verify.kruskal.methods import middle
from attncert.verify.kruskal.methods.middle import Findings, first_relation
from attncert.verify.kruskal.methods.middle_compiled import REPRESENTATIVES
from attncert.verify.kruskal.methods.quotient_compiled import (
    HITS,
    inverses,
    mixed_coordinates,
    search,
    search_primes,
)
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.sharding.threads import parallel_map

_EXTRA = 4  # coordinates beyond k, to tell dependence over Q from chance
_POINT, _PLANE, _CHECK = 9e-9, 2e-7, 4e-7  # seconds per hashed vector, plane and alarm
_START = 5e-5  # seconds for each choice of the first vector
_SLICES = 8  # slices of `middle` in one task of a thread

Look: TypeAlias = Callable[[tuple[int, int]], Findings]
"""The search of the pieces start .. stop - 1."""


def nominal_seconds(N: int, d: int, k: int, threads: int = 2) -> float:
    """The estimated cost of searching all sets of k among N vectors, by a cost model that errs on
    the high side; infinite beyond the range of floats.

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


def _subsets(N: int, k: int) -> float:
    """C(N, k); infinite if it exceeds the largest float."""
    try:
        return float(math.comb(N, k))
    except OverflowError:
        return math.inf


def pieces(N: int, d: int, k: int) -> int:
    """The number of pieces in the search of all sets of k >= 2 vectors.

    >>> pieces(1782, 16, 4), pieces(1782, 16, 6)
    (1779, 19532)
    """
    if middle.worth_trying(k, N, d):
        return REPRESENTATIVES
    return N - k + 1 if k > 2 else 1


def prepared(vectors: Vectors, k: int, seed: int = 0) -> Look:
    """The prepared search of all sets of k vectors, 2 <= k <= min(N, d).

    seed: the seed of the projection; it affects the number of alarms, but never the answer.
    """
    if middle.worth_trying(k, vectors.N, vectors.d):
        return middle.Middle(vectors, k, seed).look
    p, q = search_primes(vectors.N)
    table = np.ascontiguousarray(mixed_coordinates(vectors, k, p, seed).T)
    wide = mixed_coordinates(vectors, k + _EXTRA, q, seed)
    modulo_p, modulo_q = (inverses(p), float(p)), (inverses(q), float(q))

    def look(piece: tuple[int, int]) -> Findings:
        hits = np.zeros((HITS, k), dtype=np.int64)
        count, alarms = search(table, wide, *piece, k, modulo_p, modulo_q, hits)
        relation, false = first_relation(vectors, hits[: max(count, 0)].tolist())
        return Findings(0 <= count < HITS, relation, int(alarms), false)

    return look


def part(
    look: Look,
    start: int,
    stop: int,
    *,
    step: int = 1,
    threads: int | None = None,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> Findings:
    """The combined findings of the pieces start .. stop - 1, up to the first witness or the first
    piece that is not settled. threads: by default, all cores."""
    total = Findings(True, None, 0, 0)
    ranges = [(first, min(first + step, stop)) for first in range(start, stop, step)]
    for done, findings in enumerate(parallel_map(look, ranges, threads)):
        alarms, false = total.alarms + findings.alarms, total.false_alarms + findings.false_alarms
        total = Findings(findings.settled, findings.relation, alarms, false)
        if total.relation is not None or not total.settled:
            break
        progress(done, len(ranges))
    return total


def decide(
    vectors: Vectors, k: int, *, seed: int = 0, progress: StageProgress = silent
) -> RankBound | None:
    """The bound that decides whether every set of k vectors is independent, 1 <= k <= min(N, d);
    None if too many sets are dependent modulo the primes.

    >>> vectors = Vectors.of([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1], [1, 2, 0]])
    >>> decide(vectors, 2).value, decide(vectors, 3).dependency.indices
    (2, (0, 1, 4))
    """
    N, d = vectors.array.shape
    if k == 1:
        zeros = np.flatnonzero(~(vectors.array != 0).any(axis=1))
        relation = vectors.relation(zeros[:1]) if len(zeros) else None
        return bound(Findings(True, relation, 0, 0), N, d, 1)
    findings = part(
        prepared(vectors, k, seed),
        0,
        pieces(N, d, k),
        step=step(N, d, k),
        progress=lambda done, of: progress(f"all sets of {k}", done, of),
    )
    decided = bound(findings, N, d, k)
    if decided is not None:
        return decided
    smaller = (decide(vectors, size, seed=seed) for size in range(1, k))  # one is likely dependent
    return next((less for less in smaller if less is not None and less.dependency), None)


def step(N: int, d: int, k: int) -> int:
    """The number of pieces in one task of a thread."""
    return _SLICES if middle.worth_trying(k, N, d) else 1


def bound(findings: Findings, N: int, d: int, k: int) -> RankBound | None:
    """The bound on the Kruskal rank that the findings of all pieces prove."""
    count = math.comb(N, k)
    if findings.relation is not None:
        return witnessed(findings.relation, "exhaustive", sets=count)
    if not findings.settled:
        return None
    primes = middle.primes_of(N) if middle.worth_trying(k, N, d) else search_primes(N)
    how = f", modulo {primes[0]} or {primes[1]}" if k > 1 else ""
    if findings.false_alarms:
        how += f", but for {findings.false_alarms} that exact elimination over Q shows to be"
    verb = "is" if count == 1 else "are"
    sets = counted(count, "set", "all").capitalize()
    why = f"{sets} of {counted(k, 'vector')} {verb} independent{how}."
    numbers = {
        "sets": count,
        "dependent modulo the first prime": findings.alarms,
        "dependent modulo both": findings.false_alarms,
    }
    return RankBound("lower", k, "exhaustive", why, numbers=numbers)
