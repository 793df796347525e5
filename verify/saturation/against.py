"""A head's saturation against c, for tables and figures: where to, and how fast.

Exact integers; the curve alone is float64, and no claim rests on it.
"""

from __future__ import annotations

import numpy as np

from attncert.constructions.construction import SteeringHead
from attncert.verify.claims.proof import Steered
from attncert.verify.saturation.least import Drops, drops_behind
from attncert.verify.tables import Table, leads

_POINTS = 24  # of the curve


def steered(record: SteeringHead, table: Table, lead: Table) -> Steered | None:
    """Of a head that moves earlier examples. table: its logits (T, n); lead: (v·e_s)·E⁽ˢ⁾u, (N, n).

    None where what c multiplies is not whole, or where some row L_s does not lead.
    """
    if record.c is None:
        return None
    c, now, gaps = int(record.c), table[list(record.earlier)], leads(lead, record.targets)
    drops = drops_behind(now, lead, c, record.targets)
    if drops is None or min(gaps, default=1) <= 0:
        return None
    return Steered(
        rows=record.targets,
        rate=int(min(gaps)) if gaps else None,
        curve=tuple((k, _worst(drops, k)) for k in _tried(c)) if gaps else (),
    )


def _tried(c: int) -> list[int]:
    """Some c' up to twice the head's own."""
    last = max(2 * c, 8)
    return sorted({1, c, *(max(1, round(last * k / _POINTS)) for k in range(1, _POINTS + 1))})


def _worst(drops: Drops, c: int) -> float:
    """The largest log2(1 - p) of the rows L_s at this c; float64.

    That is log2(S/(1 + S)) with S = Σ 2^-δ, δ the drops of the other rows (negative: ahead).
    """
    behind = drops.at(c)
    least = behind.min(axis=1)
    further = np.minimum(behind - least[:, None], 1100).astype(np.float64)
    rest = np.cumsum(np.exp2(-further), axis=1)[:, -1]  # added in order
    far = np.minimum(np.maximum(least, -(10**300)), 10**300).astype(np.float64)
    bits = np.log2(rest) - far
    return float((bits - np.logaddexp2(0.0, bits)).max())
