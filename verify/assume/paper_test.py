"""The paper's own test, as its public code runs it: random subsets, one at a time, in float32.

A subset of k vectors counts as independent where the float32 rank at the usual tolerance is k. This
is numerical; it stands beside the exact answer on the same vectors (docs/models-and-layers.md).
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from attncert.constructions.progress import StageProgress, silent
from attncert.verify.kruskal.shards.draws import sequences
from attncert.verify.kruskal.vectors import Vectors

_MOST = 1e37  # above it there is no float32 rank


@dataclass(frozen=True)
class Float32Test:
    """ranks: how many of the subsets of k vectors have which float32 rank. seconds: they took."""

    k: int
    ranks: Mapping[int, int]
    seconds: float = field(compare=False)

    @property
    def subsets(self) -> int:
        return sum(self.ranks.values())

    @property
    def full(self) -> int:
        """Subsets of rank k."""
        return self.ranks.get(self.k, 0)


def float32_test(
    vectors: Vectors, sizes: Sequence[tuple[int, int]], seed: int, progress: StageProgress = silent
) -> tuple[Float32Test, ...]:
    """sizes: (k, how many subsets). The subsets are those that are tested exactly, from the first.

    >>> vectors = Vectors.of([[1.0, 0.0], [1.0, 1e-9], [0.0, 1.0]])
    >>> [dict(test.ranks) for test in float32_test(vectors, [(2, 50), (1, 3)], seed=0)]
    [{1: 14, 2: 36}, {1: 3}]
    """
    if float(np.abs(vectors.array).max()) > _MOST:
        return ()
    table, tests = vectors.array.astype(np.float32), []
    for k, count in sizes:
        start, ranks = time.monotonic(), Counter[int]()
        for i, rows in enumerate(sequences(vectors.N, k, seed, 0, count)):
            ranks[int(np.linalg.matrix_rank(table[rows]))] += 1
            progress(f"float32, k = {k}", i + 1, count)
        if count:
            tests.append(Float32Test(k, dict(sorted(ranks.items())), time.monotonic() - start))
    return tuple(tests)
