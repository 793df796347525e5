"""Random small integer weights, and the ranks of their features.

Keys and queries are integers times the denominators of the data, so that all logits are integers in
units of ln 2 and features have exact residues modulo a prime.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attncert.constructions.arrays import IntArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Layer, scaled_head
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.words import counted
from attncert.verify.features import features

_BOUNDS = (1, 3, 9, 30, 999)  # bounds on the entries of random keys and queries, tried in turn


@dataclass(frozen=True)
class RankedLayer:
    """A layer whose features have this rank modulo the prime, and at least this rank over ℚ."""

    rank: int
    prime: int
    layer: Layer
    draws: int


def enough(reached: RankedLayer) -> Claim:
    """The claim that some weights work for all labels at once. reached: a layer of rank T."""
    return Claim(
        ids.UNIVERSAL_ENOUGH,
        f"Some weights of {counted(len(reached.layer.heads), 'head')} of width 1 have rank $Z=T$.",
        Level.PROVED,
        numbers={
            "heads": len(reached.layer.heads),
            "rank": reached.rank,
            "prime": reached.prime,
        },
        arithmetic=f"features and rank mod {reached.prime}",
        source="ours; docs/tightness.md",
    )


def random_layer(
    data: Dataset, heads: int, width: int, bound: int, rng: np.random.Generator
) -> Layer:
    """Keys and queries with independent integer entries from -bound to bound."""

    def draw() -> IntArray:
        return rng.integers(-bound, bound, (data.d, width), endpoint=True)

    return Layer(tuple(scaled_head(data, draw(), draw()) for _ in range(heads)))


def best_rank(
    data: Dataset, heads: int, enough: int, *, width: int = 1, draws: int = 8, seed: int = 0
) -> RankedLayer:
    """The random layer with the largest rank in a few draws, which stop at rank `enough`."""
    rng = np.random.default_rng(seed)
    best: RankedLayer | None = None
    for draw in range(draws):
        layer = random_layer(data, heads, width, _BOUNDS[draw % len(_BOUNDS)], rng)
        rank, prime = features.rank_of(data, layer)
        if best is None or rank > best.rank:
            best = RankedLayer(rank, prime, layer, draw + 1)
        if rank >= enough:
            break
    assert best is not None
    return best
