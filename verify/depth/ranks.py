"""Ranks of a deep network's Jacobian and of its last features, modulo a tower of primes.

Each rank is a lower bound on the rank for real weights (`verify/derivatives/tower.py`). Rows are
computed in blocks of examples and eliminated by the same code as for one layer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from attncert.constructions.arrays import ObjectArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.exact.modular import SumVanishes
from attncert.constructions.network.network import Network
from attncert.constructions.progress import Progress, silent
from attncert.verify.depth import signs
from attncert.verify.depth.signs import SignUnknown
from attncert.verify.derivatives import engine, networks, tower
from attncert.verify.derivatives.tower import TowerArray, tower_array
from attncert.verify.rank.engines.arithmetic import require_exact_products
from attncert.verify.rank.whole_layer.jacobian_rows import rank_of
from attncert.verify.sharding.engine import Cluster

_NUMBERS = 2**22  # how many entries of the Jacobian and the states are computed at a time


@dataclass(frozen=True)
class DeepRank:
    """A rank modulo primes[0], a lower bound on the rank for real weights. rows: the largest
    possible rank. slope: λ, which replaces ln 2."""

    rank: int
    rows: int
    primes: tuple[int, ...]
    slope: int

    @property
    def full(self) -> bool:
        return self.rank == self.rows


class NetworkRows:
    """Rows of the Jacobian for all weights, or of the last block's features, modulo primes[0].

    slope: λ. Raises NotDifferentiable, SumVanishes, SignUnknown.
    """

    def __init__(
        self,
        data: Dataset,
        network: Network,
        primes: tuple[int, ...],
        slope: int,
        *,
        features: bool = False,
        xp: Any = np,
    ) -> None:
        self.data, self.network, self.p = data, network, primes[0]
        self._primes, self._features, self._xp = primes, features, xp
        self._blocks = networks.blocks_of(network, self._entries)
        self._slope = slope
        relu = any(getattr(block, "activation", "") == "relu" for block in network.leaves)
        self._in_balls = networks.blocks_of(network, signs.balls) if relu else None
        width = networks.features_of if features else networks.weights_of
        self.columns = np.arange(width(network))

    @property
    def at_once(self) -> int:
        """The number of examples whose rows are computed at a time."""
        inner = self.data.n * max(self.data.n, self.data.d) * len(self._primes)
        return max(1, _NUMBERS // (len(self.columns) * self.data.m + 4 * inner))

    def rows(self, start: int, stop: int) -> Any:
        """The rows of these examples, (b·m, columns), in balanced float64, grouped by example."""
        tokens, queries, times = networks.tokens_of(self.data, start, stop, self._blocks)
        contexts = self._entries(tokens, self.data.contexts.denominator)
        asking = self._entries(queries, self.data.queries.denominator)
        often = None if times is None else self._xp.asarray(times.astype(np.float64))
        relu = None
        if self._in_balls is not None:
            around = signs.balls(tokens, self.data.contexts.denominator)
            asked = signs.balls(queries, self.data.queries.denominator)
            relu = signs.relu_of(signs.slopes(self._in_balls, around, asked, times))
        on = tower.arithmetic(self._slope, relu)
        done = engine.run(self._blocks, contexts, asking, on, often)
        if self._features:
            means = done.saved[-1][1][-2].parts[0]  # (b, H, 1, k)
            return means.reshape(stop - start, -1)
        return engine.jacobian(done, partial(self._entries, denominator=1)).parts[0]

    def _entries(self, table: ObjectArray, denominator: int) -> TowerArray:
        return tower_array(table, self._primes, denominator, self._xp)


def deep_rank(
    data: Dataset,
    network: Network,
    *,
    features: bool = False,
    seed: int = 0,
    xp: Any = np,
    cluster: Cluster | None = None,
    progress: Progress = silent,
) -> DeepRank:
    """The rank of J, or of the last features Z, modulo the first chain in which no sum vanishes. It
    is exact, and a lower bound for the real weights of `tower.py`; 0 if the sign of an input to a
    ReLU is not known. xp: the array namespace. cluster: as for `jacobian_rows.rank_of`. Raises
    NotDifferentiable.

    >>> from attncert.constructions.data.generators import random
    >>> from attncert.verify.depth.draw import draw_network
    >>> from attncert.verify.depth.law import Architecture, DeepSpans
    >>> data, shape = random(T=40, n=3, d=3, seed=1), Architecture(2, 1, 1, 1)
    >>> deep_rank(data, draw_network(data, shape)).rank, DeepSpans.of(data).bound(shape)
    (18, 18)
    """
    require_exact_products(xp, tower.LARGEST)
    softmax = sum(getattr(block, "rule", "") == "softmax" for block in network.leaves)
    slope = int(np.random.default_rng([seed, 1]).integers(2, 2**20))
    rows = data.T * (1 if features else data.m)
    for primes in tower.chains(softmax):
        make = partial(NetworkRows, network=network, primes=primes, slope=slope, features=features)
        try:
            rank = rank_of(
                make,
                data,
                primes[0],
                rows,
                xp=xp,
                cluster=cluster,
                progress=progress,
                errors=(SumVanishes, SignUnknown),
            )
            return DeepRank(rank, rows, primes, slope)
        except SumVanishes:
            continue
        except SignUnknown:
            break
    return DeepRank(0, rows, primes, slope)
