"""The contribution of each head to each example, in float64: how saturated the head is, and which
head carries the example.

In the proofs, every head has a group of examples and is saturated on earlier examples. Here,
weights that a search found are examined in the same way. The output on example t is Σ_h c_h(t) with
c_h(t) = O_hᵀV_hᵀz_h(t). A constant in c_h does not distinguish examples, and heads may exchange
constants. So the head that *carries* example t is the one for which c_h(t) minus the average of c_h
over all examples is largest (in the maximum norm). Its share is this size divided by the sum of
the sizes for all heads: near 1 if one head does the work, near 1/H if all do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from attncert.constructions.arrays import FloatArray, IntArray
from attncert.constructions.given.attention import Shape, attend

SATURATED = 0.99  # the paper's threshold for a head that attends to one token


@dataclass(frozen=True)
class Heads:
    """largest: the largest softmax weights (T, H). carrier: (T,), heads from 0. share: (T,)."""

    largest: FloatArray
    carrier: IntArray
    share: FloatArray

    @property
    def saturated(self) -> tuple[float, ...]:
        """The share of examples whose largest softmax weight exceeds 0.99, for each head."""
        return tuple(float(x) for x in (self.largest > SATURATED).mean(axis=0))

    @property
    def carried(self) -> tuple[int, ...]:
        """The number of examples that each head carries."""
        count = np.bincount(self.carrier, minlength=self.largest.shape[1])
        return tuple(int(x) for x in count)

    def as_dict(self) -> dict[str, Any]:
        """The JSON form, with three decimals for softmax weights and shares."""
        return {
            "saturated": list(self.saturated),
            "carried": list(self.carried),
            "examples": [
                {"carrier": int(h), "share": round(float(s), 3), "largest": np.round(p, 3).tolist()}
                for h, s, p in zip(self.carrier, self.share, self.largest, strict=True)
            ],
        }


def heads(
    contexts: FloatArray,
    queries: FloatArray,
    weights: FloatArray,
    shape: Shape,
    times: FloatArray | None = None,
) -> Heads:
    """What heads with weights in the order of `Shape` do on contexts (T or 1, n, d) and queries
    (T, d), in float64. times (T, n): how often each token occurs."""
    key, query, value, output = shape.split(weights)
    p = attend(contexts, queries, key, query, times)[0]  # (T, n, H)
    scores = np.einsum("tnd,hdm->tnhm", contexts, value @ output)
    return Heads(p.max(axis=1), *carried((p[..., None] * scores).sum(axis=1)))


def carried(contributions: FloatArray) -> tuple[IntArray, FloatArray]:
    """The carrier of each example and its share. contributions: (T, H, m), by head."""
    sizes = np.abs(contributions - contributions.mean(axis=0)).max(axis=2)
    total = sizes.sum(axis=1)
    return sizes.argmax(axis=1), sizes.max(axis=1) / np.where(total > 0, total, 1.0)
