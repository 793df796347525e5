"""The rank of the feature matrix of a whole layer, certified within a memory budget.

`feature_rows` computes the rows of Z modulo p, a few examples at a time, and `streaming` eliminates
them; neither Z nor its projection is ever stored. If the rank modulo p is T, so is the rank over Q
(`modular.py`). If it is smaller, a second attempt uses all columns of Z; then further primes are
tried.

**Columns.** c = max(n, (T + 64)/H) random combinations of each head's d columns suffice if heads
contribute evenly, as in the constructions, where a head places at most n - 1 examples. If one head
contributes more than c to the rank, c is too small, and the second attempt uses all d columns, or
as many as the budget allows.

**Primes.** A softmax sum vanishes modulo p in about one layer in p/(TH); then the next prime is
tried. The certificate states the prime that succeeded, and any checker can use this prime: it
divides no denominator, and the rank modulo it is T.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.exact.modular import SumVanishes
from attncert.constructions.exact.primes import PRIMES_FLOAT64
from attncert.constructions.layer import Layer
from attncert.constructions.progress import Progress, silent
from attncert.verify.rank.engines.arithmetic import require_exact_products
from attncert.verify.rank.engines.devices import Device, DeviceChoice, choose_device
from attncert.verify.rank.whole_layer.feature_rows import FeatureRows
from attncert.verify.rank.whole_layer.sizes import HEIGHT, widths
from attncert.verify.rank.whole_layer.spread import spread_rank
from attncert.verify.rank.whole_layer.streaming import Elimination
from attncert.verify.sharding.engine import Cluster

DEFAULT_MEMORY = 8 << 30  # bytes, enough for 60,000 examples


@dataclass(frozen=True)
class LayerRank:
    """rank: the largest rank found, modulo `prime`; a proved lower bound on rank Z. width:
    the columns used per head; d means Z itself. tried: triples (prime, width, rank); the rank is
    None if a softmax sum vanished.
    """

    rank: int
    prime: int
    width: int
    tried: tuple[tuple[int, int, int | None], ...]
    device: Device


def layer_rank(
    data: Dataset,
    layer: Layer,
    *,
    device: DeviceChoice = "auto",
    memory: int = DEFAULT_MEMORY,
    primes: Sequence[int] = PRIMES_FLOAT64,
    cluster: Cluster | None = None,
    progress: Progress = silent,
) -> LayerRank:
    """An exact lower bound on the rank of Z over Q. If it is T, the layer memorizes universally.

    data, layer: T examples and H heads; Z is T × H·d. device: auto, cpu or cuda. memory: bytes.
    primes: primes p below 11.8·10^6 modulo which 2 has order p - 1. cluster: eliminates on its
    workers instead (`spread.py`), whose memory is then the budget; the rank is the same, but
    assumed. progress: called with the number of finished rows and the number of all rows. The rank
    is never too large; it is too small only if the random columns are unlucky. Raises InputError if
    the budget is too small, and features.NotIntegral.

    >>> from attncert.constructions import width_one
    >>> from attncert.constructions.data import generators
    >>> data = generators.random(T=9, n=3, d=4, seed=1)
    >>> found = layer_rank(data, width_one.build(data).layer, device="cpu")
    >>> found.rank, found.prime
    (9, 11863067)
    """
    where = choose_device(device)
    memory = where.memory(memory) if cluster is None else sys.maxsize
    xp = where.namespace
    require_exact_products(xp, primes[0])
    width, *wider = widths(data, len(layer.heads), memory)
    best = LayerRank(0, primes[0], width, (), where)
    tried: list[tuple[int, int, int | None]] = []
    for p in primes:
        if data.contexts.denominator % p == 0:
            continue
        try:
            make = partial(FeatureRows, layer=layer, p=p, width=width)
            if cluster is None:
                rank = _rank(make(data, xp=xp), xp, progress)
            else:
                rank = spread_rank(make, data, p, data.T, cluster, progress)
        except SumVanishes:
            tried.append((p, width, None))
            continue
        tried.append((p, width, rank))
        if rank > best.rank:
            best = replace(best, rank=rank, prime=p, width=width)
        if rank == data.T:
            break
        width = max([width, *wider])
    return replace(best, tried=tuple(tried))


def _rank(rows: FeatureRows, xp: Any, progress: Progress) -> int:
    elimination, T, step = Elimination(rows.columns, rows.p), rows.data.T, rows.at_once
    for start in range(0, T, HEIGHT):
        stop = min(start + HEIGHT, T)
        parts = [rows.rows(a, min(a + step, stop)) for a in range(start, stop, step)]
        elimination.add(parts[0] if len(parts) == 1 else xp.concat(parts, axis=0))
        progress(stop, T)
    return elimination.rank
