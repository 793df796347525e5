"""Each head in numbers, for the report's tables and figures; nothing here is evidence."""

from __future__ import annotations

from attncert.constructions.construction import Construction, SteeringHead
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.exact.modular import softmax_float
from attncert.verify import features
from attncert.verify.claims.proof import HeadSummary
from attncert.verify.pipeline.condition import Conditioning
from attncert.verify.saturation.against import steered
from attncert.verify.steps import shared
from attncert.verify.tables import dense, log2_off_peak, ranges


def summaries(data: Dataset, construction: Construction) -> tuple[HeadSummary, ...]:
    """One record per head that places a group, from the layer's own logits."""
    conditioning, out = Conditioning(data), []
    for record, weights in zip(construction.heads, construction.layer.heads, strict=False):
        table = features.logit_table(weights, data)
        steering = record if isinstance(record, SteeringHead) else None
        moved = steering if steering and steering.selector is not None else None
        group = list(record.group)
        times = None if data.times is None else data.times[group]
        own = softmax_float(dense(table[group]), times)
        out.append(
            HeadSummary(
                group=record.group,
                c=steering.c if steering else None,
                bits=steering.gap_bits if steering else None,
                z_bits=int(ranges(table).max()),
                condition=conditioning.add(record, table),
                log2_off_peak=tuple(log2_off_peak(table, data.times).tolist()),
                own_weights=tuple(
                    tuple(row[: data.kinds(t)]) for t, row in zip(group, own.tolist(), strict=True)
                ),
                steered=steered(moved, table, shared.lead(data, moved)) if moved else None,
            )
        )
    return tuple(out)
