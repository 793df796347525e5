"""The condition number of Z, head by head, in float64: printed, and nothing rests on it."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from attncert.constructions.arrays import FloatArray
from attncert.constructions.construction import PlacedHead
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.exact_array import ExactArray
from attncert.constructions.exact import integers
from attncert.constructions.exact.modular import features_float
from attncert.verify.tables import Table, dense

_LARGEST = 400  # rows above which singular values are not computed


class Conditioning:
    """blocks: the features of the heads so far, (T, d) each. contexts: times a power of two, which
    changes no condition."""

    def __init__(self, data: Dataset) -> None:
        self.data = data
        self.blocks: list[FloatArray] = []

    @cached_property
    def contexts(self) -> FloatArray:
        return _scaled(self.data.contexts)

    def add(self, head: PlacedHead, table: Table) -> float | None:
        """After this head, on the examples placed so far; table: its logits (T, n). None where it
        is not computed, or beyond what float64 resolves."""
        rows = [*head.earlier, *head.group]
        if len(rows) > _LARGEST:
            return None
        self.blocks.append(features_float(dense(table), self.contexts, self.data.times))
        spectrum = np.linalg.svd(np.hstack(self.blocks)[rows], compute_uv=False)
        smallest = spectrum[len(rows) - 1] if len(spectrum) >= len(rows) else 0.0
        condition = float(spectrum[0]) / float(smallest) if smallest > 0 else math.inf
        return condition if math.isfinite(condition) else None


def _scaled(array: ExactArray) -> FloatArray:
    """Float64 times the power of two that brings the largest entry below 1."""
    stored, bits = array.stored, integers.largest(array.stored).bit_length()
    if bits > 900:
        stored = stored >> (bits - 900)
    return np.ldexp(stored.astype(np.float64), -min(bits, 900))
