"""A head's saturation against c, for tables and figures: where to, how fast, and from which c on.

Exact integers; the curve alone is float64, and no claim rests on it.
"""

from __future__ import annotations

import numpy as np

from attncert.constructions.construction import SteeringHead
from attncert.constructions.data.dataset import Dataset
from attncert.verify import features
from attncert.verify.claims.proof import Steered
from attncert.verify.saturation.least import Drops, drops_behind, least_c
from attncert.verify.tables import Table, dense

MOST_EXAMPLES = 200  # up to which ranks are taken at other c
_TRIED = 64  # values of c below the head's own at which the rank is looked for
_POINTS = 24  # of the curve


def steered(
    data: Dataset,
    record: SteeringHead,
    table: Table,
    lead: Table,
    so_far: features.Progressive | None,
    bits: int | None,
) -> Steered | None:
    """Of a head that moves earlier examples. table: its logits (T, n); lead: (v·e_s)·E⁽ˢ⁾u, (N, n);
    so_far: the features mod p of the heads before; bits: of saturation on demand, else None.

    None where what c multiplies is not whole, or where some row L_s does not lead.
    """
    if record.c is None:
        return None
    drops, c = drops_behind(table[list(record.earlier)], lead, record), int(record.c)
    if drops is None or not drops.led:
        return None
    return Steered(
        rows=tuple(int(row) for row in record.targets),
        rate=drops.rate,
        least_for_rank=_least_for_rank(data, record, table, lead, so_far),
        least_for_bits=None if bits is None else least_c(drops, bits),
        least_to_lead=least_c(drops, 1),
        curve=() if drops.rate is None else _curve(drops, c),
    )


def _least_for_rank(
    data: Dataset,
    record: SteeringHead,
    table: Table,
    lead: Table,
    so_far: features.Progressive | None,
) -> int | None:
    """The least c ≥ 1 at which the rows placed so far are independent mod p, all other choices of
    the head as they are; None where nothing was tried, or no c up to the head's own will do."""
    if so_far is None or data.T > MOST_EXAMPLES or record.c is None:
        return None
    earlier, every = list(record.earlier), [*record.earlier, *record.group]
    now, grows = dense(table), dense(lead)
    for c in range(1, min(record.c, _TRIED) + 1):
        moved = now.copy()
        moved[earlier] = now[earlier] + (c - record.c) * grows
        try:
            weights = features.softmax_mod(moved[every], so_far.prime)
        except ZeroDivisionError:
            continue
        block = features.mix_mod(weights, so_far.contexts(every), so_far.prime)
        if so_far.rank(every, block) == len(every):
            return c
    return None


def _curve(drops: Drops, c: int) -> tuple[tuple[int, float], ...]:
    """(c', worst log2(1 - p) over the earlier examples) for some c' up to twice the head's own."""
    last = max(2 * c, 8)
    chosen = sorted({1, c, *(max(1, round(last * k / _POINTS)) for k in range(1, _POINTS + 1))})
    return tuple((k, _worst(drops.near(k), k)) for k in chosen)


def _worst(drops: Drops, c: int) -> float:
    """The largest log2(1 - p) of the rows L_s at this c; float64.

    That is log2(S/(1 + S)) with S = Σ 2^-δ, δ the drops of the other rows (negative: ahead). S is
    between 2^-δ and n·2^-δ for the least δ, so only examples near the least of all matter.
    """
    behind = drops.at(c)
    least = behind.min(axis=1)
    further = np.minimum(behind - least[:, None], 1100).astype(np.float64)
    rest = np.cumsum(np.exp2(-further), axis=1)[:, -1]  # added in order
    far = np.minimum(np.maximum(least, -(10**300)), 10**300).astype(np.float64)
    bits = np.log2(rest) - far
    return float((bits - np.logaddexp2(0.0, bits)).max())
