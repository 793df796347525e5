"""The features of one head for all examples, mod p and in float64, for data of any size.

Contexts of up to 2^22 entries are kept as residues and floats; larger ones stay in their dtype
(say, one byte per entry) and are converted a few examples at a time.

In a long shared context E, whose n < d rows are independent mod p, every feature is a combination
of those rows, so its entries in n columns where E is invertible mod p determine it and all ranks.
Only these columns are computed, mod p and as floats; floats are used only to rank candidates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from attncert.constructions.arrays import IntArray, IntegerArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.exact_array import ExactArray
from attncert.constructions.exact import integers
from attncert.constructions.exact.modular import mix, residues, softmax_float, softmax_mod
from attncert.constructions.search.placement import Block, independent_rows, joined

_CACHED = 2**22  # the most entries kept as residues and floats
_TOGETHER = 2**19  # entries converted together
_LONG = 2**14  # entries of a shared context above which fewer columns save time


class FeatureBlocks:
    """Features of the data's numerators: the common denominator does not change a rank. Blocks hold
    the d `columns`, or n of them for a long shared context."""

    def __init__(self, data: Dataset, prime: int) -> None:
        self.data, self.prime = data, prime
        self.columns, self._contexts = np.arange(data.d), data.contexts
        self._bits = integers.largest(data.contexts.stored).bit_length()
        self._all: Block | None = None
        if data.shared and data.n < data.d and data.n * data.d >= _LONG:
            _, columns = independent_rows(self._block(data.contexts)[0], prime)
            if len(columns) == data.n:
                self.columns, self._contexts = np.array(columns), data.contexts[:, :, columns]
        if self._contexts.stored.size <= _CACHED:
            self._all = self._block(self._contexts)

    def in_features(self, pivots: Sequence[int]) -> tuple[int, ...]:
        """The columns of the features that correspond to these columns of a block."""
        return tuple(self.columns[list(pivots)].tolist())

    def of(self, logits: IntegerArray) -> Block:
        """z_t = Σ_i 2^k_ti E_ti / Σ_i 2^k_ti for all t, (T, d), from integer logits (T, n).

        Raises SumVanishes if a denominator is 0 mod p.
        """
        parts = [
            self._features(logits[where], contexts, where) for where, contexts in self._chunks()
        ]
        return joined(parts)

    def points(self, example: int, logits: IntegerArray) -> Block:
        """The features (k, d) of one example for several choices of its logits (k, n)."""
        where = slice(example, example + 1)
        return self._features(logits, self._context(example), where)

    def rows(self, examples: Sequence[int], rows: IntArray) -> Block:
        """Row `rows[i]` of the context of `examples[i]`: (N, d)."""
        where = np.zeros(len(rows), dtype=np.intp) if self.data.shared else list(examples)
        if self._all is not None:
            return self._all[where, rows]
        return self._block(self._contexts[where, rows])

    def _features(self, logits: IntegerArray, contexts: Block, where: slice) -> Block:
        times = None if self.data.times is None else self.data.times[where]
        mod, guide = softmax_mod(logits, self.prime, times), softmax_float(logits, times)
        return Block(mix(mod, contexts.mod, self.prime), mix(guide, contexts.float, None))

    def _context(self, example: int) -> Block:
        at = 0 if self.data.shared else example
        where = slice(at, at + 1)
        return self._all[where] if self._all else self._block(self._contexts[where])

    def _chunks(self) -> Iterator[tuple[slice, Block]]:
        if self._all is not None:
            yield slice(None), self._all
            return
        step = max(1, _TOGETHER // (self.data.n * len(self.columns)))
        for start in range(0, self.data.T, step):
            where = slice(start, start + step)
            yield where, self._block(self._contexts[slice(None) if self.data.shared else where])

    def _block(self, part: ExactArray) -> Block:
        if self._bits <= 20:  # residues of numbers below every prime in use
            guide = part.stored.astype(np.float64)
            mod = np.where(guide < 0, guide + self.prime, guide)
            guide *= 2.0**-self._bits
            return Block(mod, guide)
        numerators = part.numerators
        scaled = numerators >> max(0, self._bits - 900)  # at most 1, so that no float overflows
        return Block(
            residues(numerators, self.prime),
            scaled.astype(np.float64) * 2.0 ** -min(900, self._bits),
        )
