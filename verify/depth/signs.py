r"""Signs of the inputs to ReLUs, where they do not depend on softmax weights.

Modulo a prime a number has no sign. But the softmax weights of a row are in [0, 1], whatever its
logits. So the network is evaluated in balls, with the ball 1/2 ± 1/2 for each softmax weight. If
the ball of an input to a ReLU does not contain 0, this input has the same sign for *all* keys and
queries, with all other weights as given. So the sign is valid both for scaled and for unscaled keys
(`verify/derivatives/tower.py`). Near these weights the ReLU is the linear map x ↦ s x with the
slope s = 1 or 0; the tower uses this map and this slope. States stay rational (with scaled keys),
so both proofs in `tower.py` go through.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from attncert.constructions.arrays import FloatArray, ObjectArray
from attncert.verify.derivatives.balls import TINY, UNIT, BallArray
from attncert.verify.derivatives.engine import Arithmetic, Array, Block, run


class SignUnknown(Exception):
    """The ball of an input to a ReLU contains 0."""


def slopes(
    blocks: list[Block], tokens: BallArray, queries: BallArray, times: Any
) -> list[FloatArray]:
    """The slopes of all ReLUs, in the order in which `run` evaluates them. blocks, tokens, queries:
    arrays made by `balls`. Arithmetic: balls. Raises SignUnknown."""
    found: list[FloatArray] = []

    def any_weights(logits: BallArray, counts: Any) -> BallArray:
        halves = np.full(logits.shape, 0.5)
        if counts is not None:
            halves = halves * (np.asarray(counts) > 0)
        return BallArray(halves, halves)

    def relu(sums: BallArray) -> tuple[BallArray, FloatArray]:
        if not bool((np.abs(sums.mid) > sums.rad).all()):
            raise SignUnknown
        found.append((sums.mid > 0).astype(np.float64))
        return sums * found[-1], found[-1]

    with np.errstate(all="ignore"):  # beyond the range of float64, no sign is known
        run(blocks, tokens, queries, Arithmetic(any_weights, relu, 1, BallArray.joined), times)
    return found


def balls(table: ObjectArray, denominator: int) -> BallArray:
    """Balls around integers over one denominator; Python rounds the quotients correctly. Raises
    SignUnknown for numbers beyond the range of float64."""
    try:
        quotients = [x / denominator for x in table.ravel().tolist()]
    except OverflowError:
        raise SignUnknown from None
    mid = np.array(quotients, dtype=np.float64).reshape(table.shape)
    return BallArray(mid, np.abs(mid) * (4 * UNIT) + TINY)


def relu_of(known: list[FloatArray]) -> Any:
    """A ReLU for an arithmetic without signs; each call uses the next array of known slopes."""
    left = iter(known)

    def relu(sums: Array) -> tuple[Array, FloatArray]:
        some = next(left)
        return sums * some, some

    return relu
