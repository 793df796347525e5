"""For tests about all weights: checks, and weights that a careless statement might overlook."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence

import numpy as np
from flint import fmpq_mat
from support.oracles import SAFE_PRIME, features_mod, rank_mod

from attncert.constructions import layer as layers
from attncert.constructions.arrays import IntegerArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Layer, scaled_head
from attncert.verify.claims.evidence import Claim
from attncert.verify.claims.trace import ProofTrace
from attncert.verify.features import features
from attncert.verify.limits.tightness.relations import probes

EYE = [[int(i == j) for j in range(6)] for i in range(6)]


def found(claims: Sequence[Claim]) -> dict[str, Claim]:
    """The claims by id; they form a proof and can be written as JSON."""
    trace = ProofTrace(claims)
    json.dumps(trace.as_dict(), allow_nan=False)
    return {claim.id: claim for claim in claims}


def random_layers(data: Dataset, heads: int, seed: int, count: int = 2) -> list[Layer]:
    rng = np.random.default_rng(seed)
    return [
        probes.random_layer(data, heads, width, bound, rng)
        for width, bound in itertools.islice(itertools.product((1, data.d), (1, 4)), count)
    ]


def true_rank(data: Dataset, layer: Layer) -> int:
    return rank_mod(features_mod(data, layer), SAFE_PRIME)


_EXACT_BITS = 200_000  # Z is computed over ℚ only up to this sum of exponents


def adversarial_layers(data: Dataset, heads: int, seed: int) -> Iterator[tuple[str, Layer]]:
    """Named layers of every kind that a careless statement about all weights might overlook."""
    rng = np.random.default_rng(seed)
    d = data.d
    key, query, full = (rng.integers(-3, 4, (d, width)) for width in (1, 1, d))
    zero, unit = np.zeros((d, 1), dtype=np.int64), np.eye(d, dtype=np.int64)

    def layer(*parts: tuple[IntegerArray, IntegerArray]) -> Layer:
        return Layer(tuple(scaled_head(data, *parts[h % len(parts)]) for h in range(heads)))

    yield "zero heads", layer((zero, zero))
    yield "one head, repeated", layer((key, query))
    yield "a head and its negative", layer((key, query), (key, -query))
    yield "a head and a zero head", layer((key, query), (zero, zero))
    yield "heads of full width", layer((full, unit), (unit, full), (full, full))
    yield (
        "the same direction, from small to saturated",
        layer(*((key, query * 4**k) for k in range(31))),  # up to 3·2^60, inside int64
    )
    yield "one entry huge", layer((key, query), (key * 10**4, query))
    huge = 2**200 + 1
    yield "all entries huge", layer((key.astype(object) * huge, query.astype(object) * (huge - 2)))


def feature_matrix(data: Dataset, layer: Layer) -> fmpq_mat | None:
    """Z over ℚ, T×(H·d); None if its numbers would be too long."""
    tables = [features.logits(head, data) for head in layer.heads]
    spans = (int(x) for table in tables for x in table.max(axis=1) - table.min(axis=1))
    if sum(spans) > _EXACT_BITS:
        return None
    blocks = [layers.features(head, data).tolist() for head in layer.heads]
    rows = [x for t in range(data.T) for block in blocks for x in block[t]]
    return fmpq_mat(data.T, len(layer.heads) * data.d, rows)
