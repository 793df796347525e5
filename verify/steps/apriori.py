"""How large "large enough" is: the a-priori bound on c beside the c that was found (step 8).

Let the limit matrix (every earlier feature replaced by its target row) have least singular value
σ. With B bits of saturation each earlier row moves by at most (n-1)·2^-B·diam E⁽ˢ⁾, so by Weyl's
inequality full rank survives as soon as

    (n-1)·2^-B·sqrt(Σ_s diam(E⁽ˢ⁾)²) < σ.

The group's own rows do not move: their logits do not depend on c. σ is computed in float64, so the
bound is numerical: it is printed for comparison and nothing rests on it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from flint import fmpq

from attncert.constructions.arrays import FloatArray, ObjectArray
from attncert.constructions.construction import PlacedHead, SteeringHead
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.exact_array import ExactArray
from attncert.constructions.exact import integers
from attncert.constructions.exact.modular import features_float
from attncert.verify.tables import Table, dense

_LARGEST = 400  # rows above which singular values are not computed


@dataclass(frozen=True)
class HeadNumbers:
    """c and B of the a-priori bound, and the condition number of Z after this head (float64).

    None where they are not computed or beyond what float64 resolves.
    """

    apriori_c: int | None
    apriori_bits: int | None
    condition: float | None


class Conditioning:
    """Condition numbers and a-priori bounds, head by head, in float64."""

    def __init__(self, data: Dataset) -> None:
        self.data = data
        self._contexts = _scaled(data.contexts)  # bits and conditions do not change with the scale
        self._diameters: dict[int, float] = {}
        self._blocks: list[FloatArray] = []

    def add(self, head: PlacedHead, table: Table, rows_of_u: Table | None) -> HeadNumbers:
        """table: this head's logits (T, n); rows_of_u: (v·e_s)·E⁽ˢ⁾u for its earlier s (N, n)."""
        rows = [*head.earlier, *head.group]
        if len(rows) > _LARGEST:
            return HeadNumbers(None, None, None)
        logits = dense(table)
        block = features_float(logits, self._contexts, self.data.times)
        c = bits = None
        if isinstance(head, SteeringHead) and rows_of_u is not None and self.data.n > 1:
            bits = self._bits(head, block, rows)
            c = None if bits is None else _least_c(head, logits, dense(rows_of_u), bits)
        self._blocks.append(block)
        spectrum = np.linalg.svd(np.hstack(self._blocks)[rows], compute_uv=False)
        smallest = spectrum[len(rows) - 1] if len(spectrum) >= len(rows) else 0.0
        condition = float(spectrum[0]) / float(smallest) if smallest > 0 else math.inf
        return HeadNumbers(c, bits, condition if math.isfinite(condition) else None)

    def _bits(self, head: SteeringHead, block: FloatArray, rows: list[int]) -> int | None:
        limit = block[rows].copy()
        where = [0 if self.data.shared else s for s in head.earlier]
        limit[: len(where)] = self._contexts[where, list(head.targets)]
        spectrum = np.linalg.svd(
            np.hstack([*(b[rows] for b in self._blocks), limit]), compute_uv=False
        )
        if len(spectrum) < len(rows) or spectrum[len(rows) - 1] <= 0:
            return None
        moved = (self.data.n - 1) * math.hypot(*map(self._diameter, where))
        if moved <= 0:
            return None  # the contexts of the earlier examples are lost beside larger ones
        return max(1, math.floor(math.log2(moved) - math.log2(spectrum[len(rows) - 1])) + 1)

    def _diameter(self, context: int) -> float:
        if context not in self._diameters:
            tokens = self._contexts[context]
            apart = (np.linalg.norm(tokens - token, axis=1).max() for token in tokens)
            self._diameters[context] = float(max(apart))
        return self._diameters[context]


def _least_c(head: SteeringHead, table: ObjectArray, lead: ObjectArray, bits: int) -> int:
    """The least c at which every target row leads by `bits`; exact."""
    assert head.c is not None
    finite = table[list(head.earlier)] - head.c * lead
    least = 1
    for row, beta, target in zip(lead, finite, head.targets, strict=True):
        for i in range(len(row)):
            if row[i] != row[target]:  # equal rows of a context are equal at every c
                need = fmpq(bits + beta[i] - beta[target])
                least = max(least, int((need / fmpq(row[target] - row[i])).ceil()))
    return least


def _scaled(array: ExactArray) -> FloatArray:
    """Float64 times the power of two that brings the largest entry below 1."""
    stored, bits = array.stored, integers.largest(array.stored).bit_length()
    if bits > 900:
        stored = stored >> (bits - 900)
    return np.ldexp(stored.astype(np.float64), -min(bits, 900))
