"""One head's features for all examples, mod p and in float64, whatever the size of the data.

Contexts of up to 2^22 entries are kept as residues and floats; larger ones stay as they are stored
(one byte an entry, say) and are converted a few examples at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from attncert.constructions.arrays import BoolArray, IntArray, IntegerArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.exact_array import ExactArray
from attncert.constructions.exact import integers
from attncert.constructions.exact.modular import features_float, features_mod, residues
from attncert.constructions.search.placement import Block

_CACHED = 2**22  # entries


class FeatureBlocks:
    """Features of the data's numerators: the common denominator does not change a rank."""

    def __init__(self, data: Dataset, prime: int) -> None:
        self.data, self.prime = data, prime
        self._bits = integers.largest(data.contexts.stored).bit_length()
        self._all: Block | None = None
        if data.contexts.stored.size <= _CACHED:
            self._all = self._converted(slice(None))

    def of(self, logits: IntegerArray) -> Block:
        """z_t = Σ_i 2^k_ti E_ti / Σ_i 2^k_ti for all t: logits (T, n) integers, features (T, d).

        Raises SumVanishes where a denominator is 0 mod p.
        """
        parts = [
            self._mix(logits[where], contexts, self._present(where))
            for where, contexts in self._chunks()
        ]
        if len(parts) == 1:
            return parts[0]
        return Block(
            np.vstack([part.mod for part in parts]), np.vstack([part.float for part in parts])
        )

    def points(self, example: int, logits: IntegerArray) -> Block:
        """The same for one example at several logits: (k, n) to (k, d)."""
        where = slice(example, example + 1)
        return self._mix(logits, self._context(example), self._present(where))

    def rows(self, examples: Sequence[int], rows: IntArray) -> Block:
        """Row `rows[i]` of the context of `examples[i]`: (N, d)."""
        where = np.zeros(len(rows), dtype=np.intp) if self.data.shared else list(examples)
        if self._all is not None:
            return self._all[where, rows]
        return self._block(self.data.contexts[where, rows])

    def _present(self, where: slice) -> BoolArray | None:
        return None if self.data.present is None else self.data.present[where]

    def _mix(self, logits: IntegerArray, contexts: Block, present: BoolArray | None) -> Block:
        return Block(
            features_mod(logits, contexts.mod, self.prime, present),
            features_float(logits, contexts.float, present),
        )

    def _context(self, example: int) -> Block:
        at = 0 if self.data.shared else example
        where = slice(at, at + 1)
        return self._all[where] if self._all else self._converted(where)

    def _chunks(self) -> Iterator[tuple[slice, Block]]:
        if self._all is not None:
            yield slice(None), self._all
            return
        step = max(1, _CACHED // (self.data.n * self.data.d))
        for start in range(0, self.data.T, step):
            where = slice(start, start + step)
            yield where, self._converted(slice(None) if self.data.shared else where)

    def _converted(self, where: slice) -> Block:
        return self._block(self.data.contexts[where])

    def _block(self, part: ExactArray) -> Block:
        if self._bits <= 20:  # below every prime in use: quick
            guide = part.stored.astype(np.float64)
            mod = np.where(guide < 0, guide + self.prime, guide)
            return Block(mod, guide * 2.0**-self._bits)
        numerators = part.numerators
        scaled = numerators >> max(0, self._bits - 900)  # floats of at most 1: none overflows
        return Block(
            residues(numerators, self.prime),
            scaled.astype(np.float64) * 2.0 ** -min(900, self._bits),
        )
