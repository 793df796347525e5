"""The outputs of a network on many inputs, or boxes of inputs, at once in float64 (rounding.py).

A box is a sequence of balls, each of which contains all possible vectors of one token. The last
token is also the query. Arrays hold centres and radii of balls that contain the states for all
inputs in the box.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from flint import arb, fmpq_mat

from attncert.constructions.arrays import AnyArray, FloatArray
from attncert.constructions.network.blocks import Block, FeedForward
from attncert.constructions.network.states import States
from attncert.verify.outputs.rounding import REAL, Floats

AT_ONCE = 2**18  # limit on how many numbers the tokens of one evaluation may hold


class Balls(NamedTuple):
    """Numbers within a radius of a centre, entry by entry; the first dimension indexes the
    boxes."""

    centre: FloatArray
    radius: FloatArray

    @classmethod
    def of(cls, x: Any) -> Balls:
        """Convert an array of Arb balls."""
        entries = np.array(x, dtype=object)
        made = REAL.stored([arb(y) for y in entries.ravel().tolist()], *entries.shape)
        return cls(made.centre[..., 0], made.radius[..., 0])


def outputs(blocks: Sequence[Block], tokens: Balls) -> Balls:
    """The queries after the blocks, B×k, for B boxes of n tokens, B×n×d."""
    step = max(1, AT_ONCE // tokens.centre[0].size)
    parts = []
    for start in range(0, len(tokens.centre), step):
        some = Balls(*(x[start : start + step] for x in tokens))
        X = Floats(*some).both(lambda x: np.moveaxis(x, 0, -1).copy())
        parts.append(evaluated(blocks, X, X.both(lambda x: x[-1:])))
    return Balls(*(np.concatenate(some) for some in zip(*parts, strict=True)))


def evaluated(blocks: Sequence[Block], contexts: Floats, queries: Floats) -> Balls:
    """The queries after the blocks, B×k, for B inputs."""
    states = States((contexts,), queries, queries.form.arithmetic)
    with np.errstate(all="ignore"):  # a number that overflows is not finite and proves nothing
        for block in blocks:
            states = block.after(states)
    count = max(x.centre.shape[-1] for x in (contexts, queries))
    made = states.queries.both(lambda x: np.broadcast_to(x[0], (x.shape[1], count)).T)
    return Balls(made.centre, made.radius)


def leads(vectors: Balls, readout: FeedForward, right: AnyArray) -> FloatArray:
    """For each box, a lower bound on the output `right` of a readout minus its largest other
    output; -inf if nothing is known. Columns of the readout are subtracted first, so that common
    parts of the outputs cancel."""
    low = np.empty(len(right))
    for symbol in set(right.tolist()):
        rows = right == symbol
        some = Floats(*Balls(*(x[rows] for x in vectors))).both(lambda x: x.T[None])
        centre, radius = evaluated([less_others(readout, symbol)], some, some)
        low[rows] = np.nextafter(centre - radius, -np.inf).min(axis=1)
    return np.where(np.isnan(low), -np.inf, low)


def less_others(readout: FeedForward, right: int) -> FeedForward:
    """A readout of the differences between the output `right` and each other output.

    >>> less_others(FeedForward(fmpq_mat([[1, 2, 5]]), fmpq_mat([[0, 1, 0]])), 2).weights
    [4, 3]
    """
    others = [v for v in range(int(readout.bias.ncols())) if v != right]
    differences = (
        fmpq_mat([[row[right] - row[v] for v in others] for row in matrix.tolist()])
        for matrix in (readout.weights, readout.bias)
    )
    return FeedForward(*differences)
