"""A head's saturation against c, for tables and figures: where to, and how fast.

Exact integers; the curve alone is float64, and no claim rests on it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attncert.constructions.construction import SteeringHead
from attncert.constructions.data.exact_array import narrow
from attncert.constructions.exact import integers
from attncert.verify.claims.proof import Steered
from attncert.verify.saturation.least import Drops, drops_behind
from attncert.verify.tables import Outer, Table, leads

_POINTS = 24  # of the curve


def steered(record: SteeringHead, table: Table, lead: Table) -> Steered | None:
    """Of a head that moves earlier examples. table: its logits (T, n); lead: (v·e_s)·E⁽ˢ⁾u, (N, n).

    None where what c multiplies is not whole, or where some row L_s does not lead.
    """
    if record.c is None:
        return None
    c, now, gaps = int(record.c), table[list(record.earlier)], leads(lead, record.targets)
    tried = _tried(c)
    slowest = _slowest(now, lead, record.targets, [k - c for k in tried])
    targets = [record.targets[s] for s in slowest]
    drops = drops_behind(now[slowest], lead[slowest], c, targets)
    if drops is None or min(gaps, default=1) <= 0:
        return None
    return Steered(
        rows=record.targets,
        rate=int(min(gaps)) if gaps else None,
        curve=tuple((k, _worst(drops, k)) for k in tried) if gaps else (),
    )


def _tried(c: int) -> list[int]:
    """Some c' up to twice the head's own."""
    last = max(2 * c, 8)
    return sorted({1, c, *(max(1, round(last * k / _POINTS)) for k in range(1, _POINTS + 1))})


def _slowest(now: Table, lead: Table, targets: Sequence[int], steps: Sequence[int]) -> list[int]:
    """Examples among which the one with the largest 1 - p is, with c larger by any of these steps.

    At width one in a shared context the logits of s are b_s·r, the same r for all s. Of those with
    the same L it is the one with the least b_s where r is largest at L, else the largest b_s.
    """
    if not (isinstance(now, Outer) and isinstance(lead, Outer) and len(now.rows) == 1):
        return list(range(len(now)))
    if not np.array_equal(now.rows, lead.rows):
        return list(range(len(now)))
    row, chosen = now.rows[0], set[int]()
    by, more = (narrow(table.by.tolist(), table.by.shape) for table in (now, lead))
    moved = narrow(list(steps), (len(steps), 1))
    for target in set(targets):
        those = np.flatnonzero(np.asarray(targets) == target)
        numbers = integers.add(by[those], integers.multiply(moved, more[those]))
        last = row[target] == row.max()
        chosen |= set(those[numbers.argmin(axis=1) if last else numbers.argmax(axis=1)].tolist())
    return sorted(chosen)


def _worst(drops: Drops, c: int) -> float:
    """The largest log2(1 - p) of the rows L_s at this c; float64.

    That is log2(S/(1 + S)) with S = Σ 2^-δ, δ the drops of the other rows (negative: ahead).
    """
    behind = drops.at(c)
    least = behind.min(axis=1)
    further = np.minimum(behind - least[:, None], 1100).astype(np.float64)
    rest = np.cumsum(np.exp2(-further), axis=1)[:, -1]  # added in order
    near = least.astype(object)
    far = np.minimum(np.maximum(near, -(10**300)), 10**300).astype(np.float64)
    bits = np.log2(rest) - far
    return float((bits - np.logaddexp2(0.0, bits)).max())
