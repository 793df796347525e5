"""What the tests about all weights, and about given labels, share."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from attncert.constructions.data.dataset import Dataset
from attncert.verify.claims.evidence import Claim
from attncert.verify.claims.trace import ProofTrace

EYE = [[int(i == j) for j in range(6)] for i in range(6)]


def found(claims: Sequence[Claim]) -> dict[str, Claim]:
    """By id; they form a proof, and are JSON."""
    trace = ProofTrace(claims)
    json.dumps(trace.as_dict(), allow_nan=False)
    return {claim.id: claim for claim in claims}


def shared(queries: Any, n: int, labels: Any = None) -> Dataset:
    d = len(queries[0])
    context = [[int(i == j) + int(j == d - 1) for j in range(d)] for i in range(n)]
    return Dataset.of(context, queries, [0] * len(queries) if labels is None else labels)
