"""Random sequences of distinct indices that depend on (seed, number) alone.

So a job may be cut into shards anywhere, and run in any order on any machine. Fisher-Yates, stopped
after the first steps: the leading k of a uniformly random permutation, hence a uniformly random
k-subset, in random order. Step j picks floor(u (N - j)) with u uniform on the multiples of 2^-53 in
[0, 1): no pick has a probability that is off by more than 2^-53.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from attncert.constructions.arrays import IntArray

BLOCK = 64
"""Sequences drawn from one generator."""


def sequences(vectors: int, length: int, seed: int, start: int, stop: int) -> IntArray:
    """Sequences number start .. stop-1 of `length` <= `vectors` indices, (stop - start, length).

    Sequence i depends on (seed, vectors, length, i) alone.

    >>> first = sequences(9, 4, seed=1, start=0, stop=200)
    >>> (sequences(9, 4, seed=1, start=70, stop=140) == first[70:140]).all()
    np.True_
    >>> bool((np.diff(np.sort(first), axis=1) > 0).all()), first.min(), first.max()
    (True, np.int64(0), np.int64(8))
    """
    out = np.empty((stop - start, length), dtype=np.int64)
    remaining = vectors - np.arange(length)
    for block in range(start // BLOCK, -(-stop // BLOCK)):
        rng = np.random.default_rng([seed, vectors, length, block])
        picks = (rng.random((BLOCK, length)) * remaining).astype(np.int64)
        base = block * BLOCK
        low, high = max(start, base), min(stop, base + BLOCK)
        _shuffle(picks[low - base : high - base], vectors, out[low - start : high - start])
    return out


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _shuffle(picks: IntArray, vectors: int, out: IntArray) -> None:
    pool = np.empty(vectors, dtype=np.int64)
    for s in range(len(picks)):
        for i in range(vectors):
            pool[i] = i
        for j in range(picks.shape[1]):
            i = j + picks[s, j]
            out[s, j] = pool[i]
            pool[i] = pool[j]
