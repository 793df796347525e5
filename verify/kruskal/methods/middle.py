"""Is every set of five vectors independent? Decided by meeting in the middle, in O(N^3) (ours).

Over Q the coefficients of a relation cannot be tried one by one; modulo 5 they can. A relation
between five vectors, in integers without a common factor, is a nonzero relation modulo 5. If all
five coefficients are nonzero there, then scaled so that the first is 1

    x_a + c_b x_b + c_c x_c = -(c_d x_d + c_e x_e)    in F_5^w,      a < b < c < d < e,

and the 16 C(N, 2) right-hand sides are hashed, the 16 C(N, 3) left-hand sides looked up: N/64
times less than the C(N, 4) points of `exhaustive.py`. If some coefficients are divisible by 5,
two, three or four of the vectors are dependent modulo 5; there are few such sets, all are listed
in the same way, and all sets of five that contain one are decided by quotient and hash.

A set found modulo 5 is looked at modulo a larger prime, and what is left exactly. The vectors are
made primitive first (no common factor), then mixed to w = 16 coordinates, which fill one word. The
table is cut in 125 slices by three of the coordinates, so that a slice stays in cache; slices are
independent jobs. It pays from some hundred vectors on, and needs rank 12 or more (in fewer
coordinates too many sets agree modulo 5).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from attncert.constructions.arrays import FloatArray, IntArray, WordArray
from attncert.constructions.progress import StageProgress, silent
from attncert.verify.kruskal.dependency import Dependency
from attncert.verify.kruskal.methods.middle_kernels import pairs_of, quadruples, quintuples, slices
from attncert.verify.kruskal.methods.quotient_kernels import HITS, search
from attncert.verify.kruskal.methods.running import in_order
from attncert.verify.kruskal.methods.small_primes import inverses, mixed_coordinates, search_primes
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.rank.directions import direction

__all__ = ["Found", "five", "five_seconds", "worth_trying"]

_WIDTH = 16  # coordinates modulo 5 in one word
_EXTRA = 4
_LISTED = 1 << 14  # sets of four, and hits, per slice
_LEFT, _RIGHT, _SLICE = 1.5e-8, 1e-7, 1e-2  # seconds of one thread, for C(N, 3), 16 C(N, 2), each


def worth_trying(N: int, rank: int) -> bool:
    """Whether this is quicker than quotients."""
    return N >= 200 and rank >= 12


def five_seconds(N: int, threads: int = 2) -> float:
    """Estimated cost (cost model, on the high side).

    >>> 60 < five_seconds(1782) < 150
    True
    """
    return (16 * _LEFT * math.comb(N, 3) + _RIGHT * N * N + 125 * _SLICE) / threads


@dataclass(frozen=True)
class Found:
    """independent: whether every five are; None where it was stopped or had more to list than
    fits, and nothing is claimed. alarms: sets dependent modulo 5, looked at modulo `prime`;
    false_alarms: dependent modulo both, not over Q."""

    independent: bool | None
    dependency: Dependency | None
    prime: int
    alarms: int
    false_alarms: int


def five(
    vectors: Vectors,
    *,
    seed: int = 0,
    threads: int = 1,
    progress: StageProgress = silent,
    stop: Callable[[], bool] | None = None,
) -> Found:
    """Whether every five of the vectors are independent, *provided that every four are*."""
    q, _ = search_primes(vectors.N)
    scaled = _words(vectors, seed)
    if not scaled.all():
        return Found(None, None, q, 0, 0)  # a vector that the mixing sends to 0
    wide = mixed_coordinates(vectors, 5 + _EXTRA, q, seed)
    by_slice = slices(scaled)
    alarms, checked, small = 0, 0, _pairs_and_triples(scaled)
    job = partial(_one_slice, scaled, by_slice, wide, q)
    for target, (fours, fives, seen) in enumerate(in_order(job, range(125), threads)):
        if len(fours) > _LISTED or len(fives) > _LISTED:
            return Found(None, None, q, alarms, checked)
        alarms += seen
        small |= {tuple(sorted(row)) for row in fours.tolist()}
        for members in fives.tolist():
            witness = Dependency.among(vectors, members)
            if witness is not None:
                return Found(False, witness, q, alarms, checked)
            checked += 1
        progress("all sets of 5", target + 1, 125)
        if stop is not None and stop():
            return Found(None, None, q, alarms, checked)
    for members in sorted(small):
        extended = list(_extensions(wide, q, members))
        for five_of_them in extended:
            witness = Dependency.among(vectors, five_of_them)
            if witness is not None:
                return Found(False, witness, q, alarms, checked)
            checked += 1
        if len(extended) >= HITS:
            return Found(None, None, q, alarms, checked)
    return Found(True, None, q, alarms, checked)


Sets = set[tuple[int, ...]]


def _one_slice(
    scaled: WordArray,
    by_slice: tuple[WordArray, IntArray, IntArray],
    wide: FloatArray,
    q: int,
    target: int,
) -> tuple[IntArray, IntArray, int]:
    """Dependent sets of four modulo 5, of five modulo 5 and q; one more than fit if too many."""
    table = pairs_of(target, scaled, *by_slice)
    fours = np.zeros((_LISTED + 1, 4), dtype=np.int64)
    fives = np.zeros((_LISTED + 1, 5), dtype=np.int64)
    n = quadruples(target, table, scaled, *by_slice, fours)
    m, alarms = quintuples(target, table, scaled, by_slice, wide, (inverses(q), float(q)), fives)
    return fours[: int(n)], fives[: int(m)], int(alarms)


def _words(vectors: Vectors, seed: int) -> WordArray:
    """(N, 4) words: each primitive vector, mixed to 16 coordinates modulo 5, times 1, 2, 3, 4."""
    rng = np.random.default_rng([seed, 5])
    rows = [_primitive_mod_five(vectors, i) for i in range(vectors.N)]
    mixing = rng.integers(0, 5, (vectors.d, _WIDTH))
    mixed = np.array(rows) @ mixing % 5
    places = np.uint64(4) * np.arange(_WIDTH, dtype=np.uint64)
    multiples = [(mixed * c % 5).astype(np.uint64) << places for c in range(1, 5)]
    return np.stack([np.bitwise_or.reduce(m, axis=1) for m in multiples], axis=1)


def _primitive_mod_five(vectors: Vectors, i: int) -> list[int]:
    key, _ = direction([int(x) for x in vectors.rows([i]).entries()])
    return [x % 5 for x in key] if key is not None else [0] * vectors.d


def _pairs_and_triples(scaled: WordArray) -> Sets:
    """Sets of two and three that are dependent modulo 5, with every coefficient nonzero."""
    N = len(scaled)
    found: Sets = set()
    flat, owner = scaled.ravel(), np.repeat(np.arange(N), 4)
    order = np.argsort(flat, kind="stable")
    words, owners = flat[order], owner[order]
    for a in range(N):
        others = np.flatnonzero(owner > a)
        sums = _add(scaled[a, 0], flat[others])
        found |= {(a, int(owner[others[t]])) for t in np.flatnonzero(sums == 0)}
        low = np.searchsorted(words, sums, "left")
        high = np.searchsorted(words, sums, "right")
        for t in np.flatnonzero(high > low):
            b = int(owner[others[t]])
            found |= {(a, b, int(c)) for c in owners[low[t] : high[t]] if c > b}
    return found


def _add(x: np.uint64, y: WordArray) -> WordArray:
    total = x + y
    carry = ((total + np.uint64(0x3333333333333333)) & np.uint64(0x8888888888888888)) >> np.uint64(
        3
    )
    reduced: WordArray = total - np.uint64(5) * carry
    return reduced


def _extensions(wide: FloatArray, q: int, members: tuple[int, ...]) -> Iterator[list[int]]:
    """Sets of five that contain these, dependent modulo q: by the quotient by their span.

    Stops after HITS of them.
    """
    table, left = wide, wide.shape[1]
    for i in members:
        pivots = np.flatnonzero(table[i])
        if not len(pivots):  # dependent modulo q: every set that contains them is
            rest = (c for c in itertools.combinations(range(len(wide)), 5 - len(members))
                    if not set(c) & set(members))  # fmt: skip
            yield from ([*members, *c] for c in itertools.islice(rest, HITS))
            return
        j = int(pivots[0])
        factors = np.mod(table[:, j] * pow(int(table[i, j]), -1, q), q)
        table = np.mod(table - np.mod(factors[:, None] * table[i], q), q)
        table = np.delete(table, j, axis=1)
        left -= 1
    others = np.setdiff1d(np.arange(len(wide)), members)
    size = 5 - len(members)
    inside = np.ascontiguousarray(table[others])
    if size == 1:
        hits = np.flatnonzero(~inside.any(axis=1))[:HITS, None]
    else:
        buffer = np.zeros((HITS, size), dtype=np.int64)
        modulus = (inverses(q), float(q))
        narrow = np.ascontiguousarray(inside[:, :size].T)
        count, _ = search(narrow, inside, 0, len(others), size, modulus, modulus, buffer)
        if count < 0:
            count = HITS
        hits = buffer[: int(count)]
    yield from ([*members, *others[row].tolist()] for row in hits)
