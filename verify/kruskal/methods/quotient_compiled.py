"""The compiled search that `exhaustive.py` uses to find dependent k-sets modulo a small prime, by
quotients, and the search's primes, inverses and coordinates.

All entries are integers 0 <= x < p stored as float64. Coordinates are along the first axis, so that
the inner loops run over contiguous vectors. If p < 2^18, a product is below 2^36, and

    x - p * floor(x / p + 1/(2p))   with |x| <= 2^37

is exactly the residue in [0, p): x/p is an integer or at least 1/p below the next integer, and the
computed quotient is off by less than 2^37/p * 2^-51 < 1/(4p).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numba import njit

from attncert.constructions.arrays import FloatArray, ResidueArray
from attncert.constructions.exact.primes import safe_primes_below
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.rank.engines.arithmetic import matmul
from attncert.verify.rank.residues import residues

HITS = 64  # maximum number of sets reported per call

_compiled = njit(cache=True, nogil=True)
_inlined = njit(nogil=True, forceinline=True)


@lru_cache(maxsize=16)
def search_primes(N: int) -> tuple[int, int]:
    """Two primes, small enough for tables to stay in the cache and large enough for few alarms."""
    p, q = safe_primes_below(1 << (16 if N <= 4000 else 18), 2)
    return p, q


@lru_cache(maxsize=16)
def inverses(p: int) -> ResidueArray:
    """A table with 1/x modulo p at position x, and 0 at 0. float32 is exact for integers below
    2^24."""
    table = np.zeros(p, dtype=np.float32)
    table[1] = 1
    for x in range(2, p):
        table[x] = (p - p // x) * int(table[p % x]) % p
    return table


def mixed_coordinates(vectors: Vectors, width: int, p: int, seed: int) -> FloatArray:
    """A random projection of the vectors, residues (N, width) in [0, p); the vectors are
    mixed even if d <= width."""
    rng = np.random.default_rng([seed, p])
    table = residues(vectors.array, p)
    mixing = rng.integers(0, p, (vectors.d, min(width, vectors.d))) - p // 2
    return np.mod(matmul(table, mixing.astype(np.float64), p), p)


@_inlined
def _residue(x, p, over_p, half):  # type: ignore[no-untyped-def]
    return x - p * np.floor(x * over_p + half)


@_compiled
def _quotient(table, i, out, m, inverses, p):  # type: ignore[no-untyped-def]
    """The vectors after vector i, modulo vector i, in m of m + 1 coordinates. Returns False if this
    vector is 0.

    table: (m + 1, N), out: (m, N); only columns after i are read and written.
    """
    over_p, half, n = 1.0 / p, 0.5 / p, np.uint64(table.shape[1])
    pivot = -1
    for j in range(m + 1):
        if table[j, i] != 0:
            pivot = j
            break
    if pivot < 0:
        return False
    scale = inverses[np.int64(table[pivot, i])]
    row = 0
    for j in range(m + 1):
        if j == pivot:
            continue
        factor = _residue(table[j, i] * scale, p, over_p, half)
        for c in range(np.uint64(i + 1), n):
            out[row, c] = _residue(table[j, c] - factor * table[pivot, c], p, over_p, half)
        row += 1
    return True


@_compiled
def dependent(wide, members, k, work, inverses, p):  # type: ignore[no-untyped-def]
    """Whether these k vectors are dependent modulo p in the coordinates of `wide` (N, w)."""
    w = wide.shape[1]
    over_p, half = 1.0 / p, 0.5 / p
    for r in range(k):
        for j in range(w):
            work[r, j] = wide[members[r], j]
    for r in range(k):
        pivot = -1
        for j in range(w):
            if work[r, j] != 0:
                pivot = j
                break
        if pivot < 0:
            return True
        scale = inverses[np.int64(work[r, pivot])]
        for below in range(r + 1, k):
            if work[below, pivot] != 0:
                factor = _residue(work[below, pivot] * scale, p, over_p, half)
                for j in range(w):
                    work[below, j] = _residue(work[below, j] - factor * work[r, j], p, over_p, half)
    return False


@_compiled
def note(rows, count, members, size):  # type: ignore[no-untyped-def]
    """Set rows[count] = members[:size] if there is room. Entries are copied one by one, since
    assigning a row takes far longer to compile. Returns count + 1."""
    if count < len(rows):
        for i in range(size):
            rows[count, i] = members[i]
    return count + 1


@_compiled
def _keys(table, start, keys, inverses, p):  # type: ignore[no-untyped-def]
    """The directions in the plane of the vectors from `start` on: y/x, or p if x = 0, or p + 1 for
    the zero vector."""
    over_p, half = 1.0 / p, 0.5 / p
    for c in range(np.uint64(start), np.uint64(table.shape[1])):
        x, y = table[0, c], table[1, c]
        ratio = _residue(y * inverses[np.int64(x)], p, over_p, half)
        keys[c] = np.int32(ratio)
        if x == 0:
            keys[c] = np.int32(p) + np.int32(y == 0)


@_compiled
def search(table, wide, start, stop, k, modulo_p, modulo_q, hits):  # type: ignore[no-untyped-def]
    """Find the k-sets with the smallest index in start .. stop - 1 (any index if k = 2) that are
    dependent modulo p and q.

    table: (k, N) coordinates modulo p. wide: (N, w) coordinates of the same vectors modulo another
    prime q, or more coordinates modulo p, to distinguish dependence from chance. modulo_p,
    modulo_q: the inverses of all residues, and the prime. hits: (HITS, k), output. Every k-set that
    is dependent in all coordinates is reported, unless the number of hits is negative or HITS.
    Returns (number of hits, sets tested in `wide`). If the number is HITS, there may be more hits.
    If it is -1, some k - 2 or fewer vectors are dependent in the k coordinates, and nothing is
    claimed.
    """
    inverses, p = modulo_p
    wide_inverses, q = modulo_q
    N = table.shape[1]
    levels = k - 2  # how many vectors are divided out
    stack = np.empty((max(levels, 1), k, N))
    chosen, cursor = np.zeros(k, np.int64), np.zeros(k + 1, np.int64)
    keys, previous = np.zeros(N, np.int32), np.empty(N, np.int64)
    latest = np.zeros(np.int64(p) + 2, np.int64)  # (tag of the plane, last vector with this key)
    work = np.empty((k, wide.shape[1]))
    nothing = np.int32(np.int64(p) + 1)
    tag, count, alarms, depth = 0, np.int64(0), 0, 0  # literals would make `note` compile twice
    cursor[0] = start
    while True:
        if depth < levels:
            i = cursor[depth]
            if i > N - (k - depth) or (depth == 0 and i >= stop):
                if depth == 0:
                    return count, alarms
                depth -= 1
                continue
            cursor[depth] = i + 1
            chosen[depth] = i
            above = table if depth == 0 else stack[depth - 1]
            if not _quotient(above, i, stack[depth], k - depth - 1, inverses, p):
                return -1, alarms
            depth += 1
            cursor[depth] = i + 1
            continue
        plane = table if levels == 0 else stack[levels - 1]
        begin = 0 if levels == 0 else chosen[levels - 1] + 1
        _keys(plane, begin, keys, inverses, p)
        tag += 1
        low = tag << 32
        for c in range(begin, N):
            key = keys[c]
            before = latest[key] - low if latest[key] >= low else np.int64(-1)
            previous[c] = before
            latest[key] = low + c
            b = np.int64(begin) if key == nothing else before  # all vectors, or those with this key
            while 0 <= b < N:
                if b != c and not (key == nothing and b < c and keys[b] == nothing):
                    chosen[k - 2], chosen[k - 1] = min(b, c), max(b, c)
                    alarms += 1
                    if dependent(wide, chosen, k, work, wide_inverses, q):
                        count = note(hits, count, chosen, k)
                        if count == HITS:
                            return count, alarms
                b = b + 1 if key == nothing else previous[b]
        if levels == 0:
            return count, alarms
        depth -= 1
