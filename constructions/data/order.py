"""The order of tokens in contexts if one row of `Dataset.contexts` represents several tokens."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attncert.constructions.arrays import IntArray


@dataclass(frozen=True, eq=False)
class Order:
    """The row of each token: `order[t][i]` is the row of token i of example t. Each sequence
    of rows is stored once; an example is its sequence's number and the length of a prefix.

    >>> order = Order((np.array([0, 1, 0]),), ((0, 2), (0, 3)))
    >>> order[0].tolist(), order[1].tolist(), order.counts(2).tolist()
    ([0, 1], [0, 1, 0], [[1, 1], [2, 1]])
    """

    sequences: tuple[IntArray, ...]
    examples: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]]) -> Order:
        """The order of the tokens of examples that share no sequence."""
        sequences = tuple(np.array(x, dtype=np.int64) for x in rows)
        return cls(sequences, tuple((s, len(x)) for s, x in enumerate(sequences)))

    def __getitem__(self, t: int) -> IntArray:
        s, tokens = self.examples[t]
        return self.sequences[s][:tokens]

    def take(self, examples: Sequence[int]) -> Order:
        return Order(self.sequences, tuple(self.examples[t] for t in examples))

    def counts(self, n: int) -> IntArray:
        """The number of tokens that each of n rows stands for, (T, n).

        A prefix has the tokens of the next shorter prefix and some more, so the counts of one
        sequence are the sums of these increases.
        """
        members = defaultdict[int, list[int]](list)
        for t in sorted(range(len(self.examples)), key=lambda t: self.examples[t][1]):
            members[self.examples[t][0]].append(t)
        counts = np.zeros((len(self.examples), n), dtype=np.int64)
        for s, where in members.items():
            ends = [self.examples[t][1] for t in where]
            rows = self.sequences[s][: ends[-1]]
            shortest = np.searchsorted(ends, np.arange(len(rows)), side="right")  # prefix with it
            steps = np.bincount(shortest * n + rows, minlength=len(where) * n)
            counts[where] = np.cumsum(steps.reshape(len(where), n), axis=0)
        return counts
