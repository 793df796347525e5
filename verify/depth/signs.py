r"""Signs of the numbers before a ReLU that no softmax weights change.

Modulo a prime a number has no sign. But the softmax weights of a row are in [0, 1], whatever its
logits. So a network is evaluated in balls in which each softmax weight is the ball 1/2 ± 1/2: if
the ball of a number before a ReLU does not contain 0, the number has this sign for *all* keys and
queries, with all other weights as given. Therefore the sign holds at the weights with scaled keys
and at those with unscaled keys (`verify/derivatives/tower.py`). Near these weights the ReLU is the
linear map x ↦ s x with the slope s = 1 or 0, at which the tower evaluates it and its derivative.
States stay rational (with scaled keys), so both proofs of `tower.py` go through.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from attncert.constructions.arrays import FloatArray, ObjectArray
from attncert.verify.derivatives.balls import TINY, UNIT, BallArray
from attncert.verify.derivatives.engine import Arithmetic, Array, Block, run


class SignUnknown(Exception):
    """The ball of a number before a ReLU contains 0."""


def slopes(
    blocks: list[Block], tokens: BallArray, queries: BallArray, times: Any
) -> list[FloatArray]:
    """The slopes of all ReLUs, in the order in which `run` evaluates them. blocks, tokens, queries:
    of `balls`. Arithmetic: balls. Raises SignUnknown."""
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

    with np.errstate(all="ignore"):  # numbers beyond the range of float64 have no known sign
        run(blocks, tokens, queries, Arithmetic(any_weights, relu, 1, BallArray.joined), times)
    return found


def balls(table: ObjectArray, denominator: int) -> BallArray:
    """Integers over one denominator; Python rounds such a quotient correctly. Raises SignUnknown
    for numbers beyond the range of float64."""
    try:
        quotients = [x / denominator for x in table.ravel().tolist()]
    except OverflowError:
        raise SignUnknown from None
    mid = np.array(quotients, dtype=np.float64).reshape(table.shape)
    return BallArray(mid, np.abs(mid) * (4 * UNIT) + TINY)


def relu_of(known: list[FloatArray]) -> Any:
    """The ReLU of an arithmetic without signs, with these slopes in turn."""
    left = iter(known)

    def relu(sums: Array) -> tuple[Array, FloatArray]:
        some = next(left)
        return sums * some, some

    return relu
