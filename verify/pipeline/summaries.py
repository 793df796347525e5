"""Each head in numbers, for the report's tables and figures; nothing here is evidence."""

from __future__ import annotations

import math
from array import array
from functools import cached_property

import numpy as np

from attncert.constructions.arrays import FloatArray
from attncert.constructions.construction import BuiltLayer, PlacedHead, SteeringHead
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.exact_array import ExactArray
from attncert.constructions.exact import integers
from attncert.constructions.exact.modular import features_float
from attncert.verify import features
from attncert.verify.claims.proof import HeadSummary
from attncert.verify.steps import heads
from attncert.verify.tables import Table, dense, leads, log2_off_peak, ranges

_LARGEST = 400  # examples above which singular values are not computed


def summaries(data: Dataset, construction: BuiltLayer) -> tuple[HeadSummary, ...]:
    """One record per head that places a group, from the layer's own logits."""
    conditioning, out = Conditioning(data), []
    for record, weights in zip(construction.heads, construction.layer.heads, strict=False):
        table = features.logit_table(weights, data)
        steering = record if isinstance(record, SteeringHead) else None
        out.append(
            HeadSummary(
                group=record.group,
                c=steering.c if steering else None,
                bits=steering.gap_bits if steering else None,
                z_bits=int(ranges(table).max()),
                condition=conditioning.add(record, table),
                log2_off_peak=array("d", log2_off_peak(table, data.times).tobytes()),
                rate=_rate(data, steering) if steering else None,
            )
        )
    return tuple(out)


def _rate(data: Dataset, head: SteeringHead) -> int | None:
    """The least lead of a row L_s in what c multiplies, over the earlier examples."""
    if head.selector is None or head.c is None:
        return None
    gaps = leads(heads.lead(data, head), head.targets)
    least = min(gaps, default=0)
    return int(least) if least > 0 and least == int(least) else None


class Conditioning:
    """The condition number of Z, head by head, in float64: printed, and nothing rests on it.

    blocks: the features of the heads so far, (T, d) each. contexts: times a power of two, which
    changes no condition.
    """

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
        if self.data.T > _LARGEST:
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
