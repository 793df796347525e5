"""What the tests about all weights, and about given labels, share."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from support.oracles import SAFE_PRIME, features_mod, rank_mod

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Layer
from attncert.verify.claims.evidence import Claim
from attncert.verify.claims.trace import ProofTrace
from attncert.verify.tightness.relations import probes

EYE = [[int(i == j) for j in range(6)] for i in range(6)]


def found(claims: Sequence[Claim]) -> dict[str, Claim]:
    """By id; they form a proof, and are JSON."""
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


def shared(queries: Any, n: int, labels: Any = None) -> Dataset:
    d = len(queries[0])
    context = [[int(i == j) + int(j == d - 1) for j in range(d)] for i in range(n)]
    return Dataset.of(context, queries, [0] * len(queries) if labels is None else labels)
