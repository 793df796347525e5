"""Figures about each head for the tables and plots of a report; they are not evidence."""

from __future__ import annotations

from array import array

from attncert.constructions.construction import BuiltLayer, SteeringHead
from attncert.constructions.data.dataset import Dataset
from attncert.verify.claims.proof import HeadSummary
from attncert.verify.features import features
from attncert.verify.features.tables import leads, log2_off_peak, ranges
from attncert.verify.statements.steps import heads


def summaries(data: Dataset, construction: BuiltLayer) -> tuple[HeadSummary, ...]:
    """A record for each head that places a group of examples, computed from the layer's logits."""
    out = []
    for record, weights in zip(construction.heads, construction.layer.heads, strict=False):
        table = features.logit_table(weights, data)
        steering = record if isinstance(record, SteeringHead) else None
        out.append(
            HeadSummary(
                group=record.group,
                c=steering.c if steering else None,
                bits=steering.gap_bits if steering else None,
                z_bits=int(ranges(table).max()),
                log2_off_peak=array("d", log2_off_peak(table, data.times).tobytes()),
                rate=_rate(data, steering) if steering else None,
            )
        )
    return tuple(out)


def _rate(data: Dataset, head: SteeringHead) -> int | None:
    """The least lead of a row L_s in the coefficient of c, over all earlier examples; None if it
    is not a whole number above 0."""
    if head.selector is None or head.c is None:
        return None
    gaps = leads(heads.lead(data, head), head.targets)
    least = min(gaps, default=0)
    return int(least) if least > 0 and least == int(least) else None
