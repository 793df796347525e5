"""Compares the a-priori bound, which says how large c must be, with the c found (step 8).

Let σ be the least singular value of the limit matrix (every earlier feature replaced by its target
row). With B bits of saturation, each earlier row moves by at most (n-1)·2^-B·diam E⁽ˢ⁾, so by
Weyl's inequality the rank stays full if

    (n-1)·2^-B·sqrt(Σ_s diam(E⁽ˢ⁾)²) < σ.

The group's own rows do not move: their logits do not depend on c. σ is computed in float64, so the
bound is only numerical, and no claim rests on it.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
from flint import fmpq

from attncert.constructions.arrays import FloatArray, ObjectArray
from attncert.constructions.construction import PlacedHead, SteeringHead
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.exact_array import ExactArray
from attncert.constructions.exact import integers
from attncert.constructions.exact.modular import mix, softmax_float
from attncert.verify.features.tables import Table, dense

_LARGEST = 400  # for more examples no singular values are computed


class Conditioning:
    """The condition number of Z, head by head, in float64. It is only printed.

    blocks: the features of the heads so far, (T, d) each. contexts: scaled by a power of two, which
    does not change the condition number.
    """

    def __init__(self, data: Dataset) -> None:
        self.data = data
        self.blocks: list[FloatArray] = []

    @cached_property
    def contexts(self) -> FloatArray:
        return _scaled(self.data.contexts)

    def features(self, table: Table) -> FloatArray:
        """Σ_i 2^(k_ti) E_ti / Σ_i 2^(k_ti) in float64, (T, d); table: the logits k (T, n)."""
        return mix(softmax_float(dense(table), self.data.times), self.contexts, None)

    def add(self, head: PlacedHead, table: Table) -> float | None:
        """The condition number after this head, on the examples placed so far; table: its logits
        (T, n). None if it is not computed or float64 cannot resolve it."""
        rows = [*head.earlier, *head.group]
        if self.data.T > _LARGEST:
            return None
        self.blocks.append(self.features(table))
        spectrum = np.linalg.svd(np.hstack(self.blocks)[rows], compute_uv=False)
        smallest = spectrum[len(rows) - 1] if len(spectrum) >= len(rows) else 0.0
        condition = float(spectrum[0]) / float(smallest) if smallest > 0 else math.inf
        return condition if math.isfinite(condition) else None


def _scaled(array: ExactArray) -> FloatArray:
    """The entries in float64, scaled by a power of two so that the largest is below 1."""
    stored, bits = array.stored, integers.largest(array.stored).bit_length()
    if bits > 900:
        stored = stored >> (bits - 900)
    return np.ldexp(stored.astype(np.float64), -min(bits, 900))


class Apriori(Conditioning):
    """Bounds head by head; call `bound` for a head before `add`."""

    def bound(self, head: SteeringHead, table: Table, lead: Table) -> tuple[int, int] | None:
        """The bounds c and B. table: this head's logits (T, n); lead: (v·e_s)·E⁽ˢ⁾u for the N
        earlier examples s, (N, n). None if float64 cannot resolve them.
        """
        rows = [*head.earlier, *head.group]
        where = [0 if self.data.shared else s for s in head.earlier]
        block = self.features(table)[rows]
        block[: len(where)] = self.contexts[where, list(head.targets)]
        limit = np.hstack([*(b[rows] for b in self.blocks), block])
        spectrum = np.linalg.svd(limit, compute_uv=False)
        moved = (self.data.n - 1) * math.hypot(*self.diameters[where])
        if len(spectrum) < len(rows) or spectrum[len(rows) - 1] <= 0 or moved <= 0:
            return None
        B = max(1, math.floor(math.log2(moved) - math.log2(spectrum[len(rows) - 1])) + 1)
        return least_c(head, dense(table), dense(lead), B), B

    @cached_property
    def diameters(self) -> FloatArray:
        apart = self.contexts[:, :, None] - self.contexts[:, None]
        return np.linalg.norm(apart, axis=3).max(axis=(1, 2))


def least_c(head: SteeringHead, table: ObjectArray, lead: ObjectArray, bits: int) -> int:
    """The least c, computed exactly, at which every target row leads by `bits` bits."""
    finite = table[list(head.earlier)] - head.c * lead
    least = 1
    for row, beta, target in zip(lead, finite, head.targets, strict=True):
        for i in range(len(row)):
            if row[i] != row[target]:  # equal rows stay equal at every c
                need = fmpq(bits + beta[i] - beta[target])
                least = max(least, int((need / fmpq(row[target] - row[i])).ceil()))
    return least
