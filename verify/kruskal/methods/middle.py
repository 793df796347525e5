"""Whether every set of five or six vectors is independent: meet in the middle modulo 5 (ours).

The coefficients of a relation cannot be tried one by one over Q, but they can modulo 5. Let k = 6
(or 5) vectors of Z^d be dependent, each primitive (without a common factor). Their relation, in
integers without a common factor, is nonzero modulo 5. Let S be the set of s vectors whose
coefficients are nonzero modulo 5. Then s >= 2, since no vector is 0 modulo 5. So for the indices of
S, in increasing order, some sum

    u = c_1 x_a + c_2 x_b + c_3 x_c = -(c_4 x_d + c_5 x_e + c_6 x_f)        in F_5^16

over the lower half of S (three of six, five or four indices; two of three; one of two) equals such
a sum over the upper half, with all coefficients from 1 to 4. Hence a list of all equal sums of at
most three scaled vectors contains every such S; nothing else is assumed.

- s = k: S is tested modulo larger primes and, if it is dependent modulo them, exactly.
- s < k: every set of k that contains S is tested, in the quotient by the span of S.

**Slices.** The first seven coordinates divide the sums into 5^7 slices, which are searched one
after the other, with 64 C(N, 3) / 5^7 words of memory each. Multiplying a relation by 1, 2, 3 or 4
moves u between four slices (slice 0 is fixed), so one of these four suffices: there are 1 + (5^7 -
1) / 4 = 19,532 *representatives*. They contain 16 C(N, 3) sums in total, compared with C(N, k - 1)
points in `exhaustive.py`. A slice depends only on the vectors and the seed, so slices can be
shards.

**Cost.** Sums of random vectors agree by chance, so 4^(k-1) C(N, k) / 5^16 sets of k are tested.
For N = 1,782 and k = 6 these are 3·10^8 sets (7·10^8 for the digits); for several thousand vectors
they dominate the cost. For seven vectors, sums of four would have to be compared with sums of
three, with 64 C(N, 4) look-ups.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from attncert.constructions.arrays import FloatArray, WordArray
from attncert.constructions.exact.hashing import direction
from attncert.verify.kruskal.methods.determinants import R
from attncert.verify.kruskal.methods.middle_compiled import (
    MOST,
    REPRESENTATIVES,
    equal_sums,
    pairs_by_slice,
)
from attncert.verify.kruskal.methods.quotient_compiled import (
    HITS,
    inverses,
    mixed_coordinates,
    search,
    search_primes,
)
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.rank.rational import Relation

_FROM = {5: 400, 6: 150}  # the number of vectors from which this search is quicker than quotients
_WIDTH = 16  # coordinates modulo 5 in one word
_EXTRA = 4
_LISTED = 1 << 14  # limit on the number of small sets found in one call
_SUM, _ALARM, _SPAN = {5: 1.8e-8, 6: 3.5e-8}, 3e-7, 2e-8  # seconds on one thread
_PARTNER, _START = 2e-7, 2.0


def worth_trying(k: int, N: int, rank: int) -> bool:
    """Whether this method can decide sets of k and is quicker than the search by quotients."""
    return k in _FROM and _FROM[k] <= N <= MOST and rank >= 12


def seconds(k: int, N: int, threads: int = 2) -> float:
    """The estimated cost on idle cores for random vectors; the cost model errs on the high side.

    >>> 60 < seconds(5, 1782) < 200, 200 < seconds(6, 1782) < 800
    (True, True)
    """
    alarms = 4.0 ** (k - 1) * math.comb(N, k) / 5.0**_WIDTH
    spans = 4.0 ** (k - 2) * math.comb(N, k - 1) / 5.0**_WIDTH
    work = 16 * _SUM[k] * math.comb(N, 3) + _PARTNER * 4 * N * REPRESENTATIVES
    return (work + _ALARM * alarms + _SPAN * N * spans) / threads + _START


def primes_of(N: int) -> tuple[int, int]:
    """The primes. A set reported as independent is independent modulo one of these or over Q."""
    return 5, search_primes(N)[0]


@dataclass(frozen=True)
class Findings:
    """The result of some pieces of a search. settled: whether every dependent set of k in them
    was decided; False if the list was too short. relation: a witness, or None. alarms: how many
    sets are dependent modulo the first prime and so tested modulo larger primes. false_alarms: how
    many are also dependent modulo these primes, but not over Q."""

    settled: bool
    relation: Relation | None
    alarms: int
    false_alarms: int


def first_relation(vectors: Vectors, sets: Iterable[Sequence[int]]) -> tuple[Relation | None, int]:
    """The relation of the first dependent set, and the number of sets before it."""
    independent = 0
    for members in sets:
        relation = vectors.relation(members)
        if relation is not None:
            return relation, independent
        independent += 1
    return None, independent


class Middle:
    """The search over these vectors (2 <= N <= MOST). `look` may be called for slices in any order,
    on any thread. seed: the seed of the mixing; it affects the number of alarms, but never the
    answer."""

    def __init__(self, vectors: Vectors, k: int, seed: int = 0) -> None:
        self._vectors, self._k = vectors, k
        self._q, _ = search_primes(vectors.N)
        self._scaled = _words(vectors, seed)
        self._wide = mixed_coordinates(vectors, k + _EXTRA, self._q, seed)
        narrow = mixed_coordinates(vectors, k, self._q, seed + 1)
        six = mixed_coordinates(vectors, 6, R, seed + 2)
        six = np.hstack([six, np.zeros((vectors.N, 6 - six.shape[1]))])
        self._checks = (
            six - R * np.rint(six / R),
            np.ascontiguousarray(narrow.T),
            self._wide,
            inverses(self._q),
            float(self._q),
        )
        self._pairs = pairs_by_slice(self._scaled)

    def look(self, slices: tuple[int, int]) -> Findings:
        """The findings for the representatives start .. stop - 1."""
        start, stop = slices
        if not self._scaled.all():
            return Findings(False, None, 0, 0)  # the mixing maps a vector to 0
        hits = np.zeros((HITS, self._k), dtype=np.int64)
        small = np.full((_LISTED, self._k), -1, dtype=np.int64)
        counts = equal_sums(
            start, stop, self._k, self._scaled, self._pairs, self._checks, hits, small
        )
        met, listed, looked, spans = map(int, counts)
        alarms, settled = looked + spans + listed, met <= len(hits)
        if met < 0 or listed > len(small):
            return Findings(False, None, alarms, 0)
        relation, false = first_relation(self._vectors, hits[:met].tolist())
        for row in small[:listed].tolist():
            if relation is not None:
                break
            extended = list(self._extensions(tuple(i for i in row if i >= 0)))
            relation, independent = first_relation(self._vectors, extended)
            false += independent
            settled &= len(extended) < HITS
        return Findings(settled, relation, alarms, false)

    def _extensions(self, members: tuple[int, ...]) -> Iterator[list[int]]:
        """At most HITS sets of k that contain these members and are dependent modulo q, found in
        the quotient by the span of the members.
        """
        table, q, size = self._wide, self._q, self._k - len(members)
        for i in members:
            pivots = np.flatnonzero(table[i])
            if not len(pivots):  # dependent modulo q, as is every set that contains them
                rest = (c for c in itertools.combinations(range(len(table)), size)
                        if not set(c) & set(members))  # fmt: skip
                yield from ([*members, *c] for c in itertools.islice(rest, HITS))
                return
            j = int(pivots[0])
            factors = np.mod(table[:, j] * pow(int(table[i, j]), -1, q), q)
            table = np.mod(table - np.mod(factors[:, None] * table[i], q), q)
            table = np.delete(table, j, axis=1)
        others = np.setdiff1d(np.arange(len(table)), members)
        inside: FloatArray = np.ascontiguousarray(table[others])
        if size == 1:
            hits = np.flatnonzero(~inside.any(axis=1))[:HITS, None]
        else:
            buffer = np.zeros((HITS, size), dtype=np.int64)
            modulus = (inverses(q), float(q))
            narrow = np.ascontiguousarray(inside[:, :size].T)
            count, _ = search(narrow, inside, 0, len(others), size, modulus, modulus, buffer)
            hits = buffer[: int(count) if count >= 0 else HITS]
        yield from ([*members, *others[row].tolist()] for row in hits)


def _words(vectors: Vectors, seed: int) -> WordArray:
    """Words (N, 4): each primitive vector, mixed to 16 coordinates modulo 5, times 1, 2, 3 and 4.

    Vectors of at most 16 coordinates are mixed by an invertible matrix, which preserves relations.
    """
    rng = np.random.default_rng([seed, 5])
    rows = np.array([_primitive_mod_five(vectors, i) for i in range(vectors.N)])
    if vectors.d <= _WIDTH:
        rows = np.hstack([rows, np.zeros((vectors.N, _WIDTH - vectors.d), dtype=np.int64)])
    mixing = rng.integers(0, 5, (rows.shape[1], _WIDTH))
    if rows.shape[1] == _WIDTH:
        lower, upper = np.tril(mixing, -1), np.triu(rng.integers(0, 5, (_WIDTH, _WIDTH)), 1)
        unit = np.eye(_WIDTH, dtype=np.int64)
        mixing = (lower + unit) @ (upper + unit)
    mixed = rows @ (mixing % 5) % 5
    places = np.uint64(4) * np.arange(_WIDTH, dtype=np.uint64)
    multiples = [(mixed * c % 5).astype(np.uint64) << places for c in range(1, 5)]
    return np.stack([np.bitwise_or.reduce(m, axis=1) for m in multiples], axis=1)


def _primitive_mod_five(vectors: Vectors, i: int) -> list[int]:
    key, _ = direction([int(x) for x in vectors.rows([i]).entries()])
    return [x % 5 for x in key] if key is not None else [0] * vectors.d
