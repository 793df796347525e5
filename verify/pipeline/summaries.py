"""Each head in numbers, for the report's tables and figures; nothing here is evidence."""

from __future__ import annotations

from attncert.constructions.construction import Construction, SteeringHead
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.exact.modular import softmax_float
from attncert.verify import features
from attncert.verify.claims.proof import HeadSummary
from attncert.verify.saturation.against import MOST_EXAMPLES, steered
from attncert.verify.steps import shared
from attncert.verify.steps.apriori import Conditioning
from attncert.verify.tables import dense, log2_off_peak, ranges


def summaries(
    data: Dataset, construction: Construction, bits: int | None = None
) -> tuple[HeadSummary, ...]:
    """One record per head that places a group, from the layer's own logits.

    bits: of saturation, where they were asked for.
    """
    primes = features.usable_primes(data) if data.T <= MOST_EXAMPLES else ()
    features_so_far = features.Progressive(data, primes[0]) if primes else None
    conditioning, out = Conditioning(data), []
    for record, weights in zip(construction.heads, construction.layer.heads, strict=False):
        table = features.logit_table(weights, data)
        steering = record if isinstance(record, SteeringHead) else None
        moved = steering if steering and steering.selector is not None else None
        lead = shared.lead(data, moved) if moved else None
        numbers = conditioning.add(record, table, lead)
        group = list(record.group)
        times = None if data.times is None else data.times[group]
        own = softmax_float(dense(table[group]), times)
        out.append(
            HeadSummary(
                group=record.group,
                c=steering.c if steering else None,
                bits=steering.gap_bits if steering else None,
                apriori_c=numbers.apriori_c,
                apriori_bits=numbers.apriori_bits,
                z_bits=int(ranges(table).max()),
                condition=numbers.condition,
                log2_off_peak=tuple(log2_off_peak(table, data.times).tolist()),
                own_weights=tuple(
                    tuple(row[: data.kinds(t)]) for t, row in zip(group, own.tolist(), strict=True)
                ),
                steered=steered(data, moved, table, lead, features_so_far, bits)
                if moved and lead is not None
                else None,
            )
        )
        if features_so_far is not None:
            features_so_far.append(shared.features_of(table, features_so_far))
    return tuple(out)
