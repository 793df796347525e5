"""Random subsets that depend only on (seed, number), so that a job can be divided into shards in
any way and run in any order on any machine."""

from __future__ import annotations

import numpy as np

from attncert.constructions.arrays import IntArray

BLOCK = 64
"""The number of subsets drawn from one generator."""


def sequences(vectors: int, length: int, seed: int, start: int, stop: int) -> IntArray:
    """Random subsets start .. stop-1, each of `length` <= `vectors` indices, (stop - start,
    length): the first `length` indices of uniformly random permutations.

    Permutation i depends only on (seed, vectors, i).

    >>> first = sequences(9, 4, seed=1, start=0, stop=200)
    >>> (sequences(9, 4, seed=1, start=70, stop=140) == first[70:140]).all()
    np.True_
    >>> bool((np.diff(np.sort(first), axis=1) > 0).all()), first.min(), first.max()
    (True, np.int64(0), np.int64(8))
    """
    blocks = range(start // BLOCK, -(-stop // BLOCK))
    out = np.empty((BLOCK * len(blocks), length), dtype=np.int64)
    unshuffled = np.tile(np.arange(vectors), (BLOCK, 1))
    for place, block in enumerate(blocks):
        rng = np.random.default_rng([seed, vectors, block])
        permutations = rng.permuted(unshuffled, axis=1)
        out[BLOCK * place : BLOCK * (place + 1)] = permutations[:, :length]
    first = start - BLOCK * blocks.start
    return out[first : first + stop - start]
