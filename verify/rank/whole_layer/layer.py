"""Rank of a whole layer's feature matrix, certified within a stated memory budget.

The rows of Z modulo p are made by `feature_rows`, a few examples at a time, and consumed by
`streaming`; neither Z nor its projection is ever held. Rank T modulo p is rank T over Q
(`modular.py`); a deficit is tried again, first with all columns of Z, then modulo further primes.

**Columns.** Of each head's d columns c = max(n, (T + 64)/H) random combinations are enough where
every head does its share, as in the constructions: its own examples number at most n - 1. Where
one head carries more than c examples that is too few, and the second attempt takes as many
columns as the budget allows, all d of them if it can.

**What the primes cost.** A softmax sum vanishes modulo p about once in p/(TH) layers; then the
next prime is taken. The certificate carries the prime that succeeded, and any checker can use it:
it divides no denominator, and the rank modulo it is T.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.exact.modular import SumVanishes
from attncert.constructions.exact.primes import PRIMES_FLOAT64
from attncert.constructions.layer import Layer
from attncert.constructions.progress import Progress, silent
from attncert.verify.rank.engines.arithmetic import lazy_terms
from attncert.verify.rank.engines.devices import Device, DeviceChoice, choose_device
from attncert.verify.rank.whole_layer.feature_rows import FeatureRows, is_integral
from attncert.verify.rank.whole_layer.sizes import HEIGHT, BlockPlan, Footprint
from attncert.verify.rank.whole_layer.streaming import Elimination

DEFAULT_MEMORY = 4 << 30


@dataclass(frozen=True)
class LayerRank:
    """rank: the largest found, a proved lower bound of rank Z; T where it is certified.

    prime: modulo which. width: columns per head that were used, d where it is Z itself.
    tried: (prime, width, rank or None where a softmax sum vanished).
    device: where, with which versions. bytes: what was counted, beside the data set and the
    libraries.
    """

    rank: int
    prime: int
    width: int
    tried: tuple[tuple[int, int, int | None], ...]
    device: Device
    bytes: int


def layer_rank(
    data: Dataset,
    layer: Layer,
    *,
    device: DeviceChoice = "auto",
    memory: int = DEFAULT_MEMORY,
    primes: Sequence[int] = PRIMES_FLOAT64,
    progress: Progress = silent,
) -> LayerRank:
    """Lower bound of the rank of Z over Q, exact; T proves that the layer memorizes universally.

    data, layer: T examples and H heads; Z is T × H·d. device: auto, cpu or cuda. memory: bytes.
    primes: below 11.8·10^6, each with 2 of order p - 1. progress: called with rows done, of how
    many. The answer depends on the random columns by bad luck only, and is never too large.
    Raises InputError where the budget is too small, and features.NotIntegral.

    >>> from attncert.constructions import width_one
    >>> from attncert.constructions.data import generators
    >>> data = generators.random(T=9, n=3, d=4, seed=1)
    >>> found = layer_rank(data, width_one.build(data).layer, device="cpu")
    >>> found.rank, found.prime
    (9, 11863067)
    """
    where = choose_device(device)
    memory = where.memory(memory)
    _require_exact_products(where.namespace, primes[0])
    exact = not all(is_integral(head, data) for head in layer.heads)
    plans = Footprint.of(data, layer, exact).plans(memory)
    best = LayerRank(0, primes[0], plans[0].width, (), where, plans[0].bytes)
    tried: list[tuple[int, int, int | None]] = []
    for p in primes:
        if data.contexts.denominator % p == 0:
            continue
        plan = plans[0]
        try:
            rank = _rank(data, layer, p, plan, where.namespace, progress)
        except SumVanishes:
            tried.append((p, plan.width, None))
            continue
        tried.append((p, plan.width, rank))
        if rank > best.rank:
            best = replace(best, rank=rank, prime=p, width=plan.width, bytes=plan.bytes)
        if rank == data.T:
            break
        plans = plans[1:] or plans
    return replace(best, tried=tuple(tried))


def _rank(data: Dataset, layer: Layer, p: int, plan: BlockPlan, xp: Any, progress: Progress) -> int:
    """Rank modulo p."""
    rows = FeatureRows(data, layer, p, width=plan.width, xp=xp)
    elimination = Elimination(rows.columns, p)
    for start in range(0, data.T, HEIGHT):
        stop = min(start + HEIGHT, data.T)
        parts = [rows.rows(a, min(a + plan.step, stop)) for a in range(start, stop, plan.step)]
        elimination.add(parts[0] if len(parts) == 1 else xp.concat(parts, axis=0))
        progress(stop, data.T)
    return elimination.rank


def _require_exact_products(xp: Any, p: int) -> None:
    """The largest sums that the bound allows, against integers: refuses emulated doubles."""
    terms, extreme = lazy_terms(p, "float64"), p // 2
    left, right = xp.full((8, terms), float(extreme)), xp.full((terms, 8), -float(extreme))
    left[0, 0] = float(extreme - 1)
    product = left @ right
    exact_sum = -terms * extreme**2
    exact = (
        bool(xp.all(product[1:, :] == float(exact_sum)))
        and float(product[0, 0]) == exact_sum + extreme
    )
    if not exact:
        raise RuntimeError("float64 products are not exact on this device")
