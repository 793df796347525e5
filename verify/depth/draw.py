"""Random networks of several attention layers with small integer weights.

**ReLU blocks.** x + B relu(A x + a) + b is a group of two feed-forward blocks. The signs of A x + a
must not depend on softmax weights (`verify/depth/signs.py`). So the values of earlier layers are
divided by SMALL, and each entry of a puts the threshold of its unit into a wide gap between the
values of A x. A unit that has the same sign on all tokens adds fewer dimensions (docs/depth.md). So
CHOICE times as many units are drawn as needed, and those that divide tokens and queries most evenly
are used.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from flint import fmpq, fmpq_mat

from attncert.constructions.arrays import FloatArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.given.zeros import draw_groups
from attncert.constructions.layer import Head
from attncert.constructions.network.blocks import Attention, Block, FeedForward
from attncert.constructions.network.composed import Group
from attncert.constructions.network.network import Network
from attncert.verify.depth.law import Architecture

BOUND = 9  # the largest entry
_ZERO_BOUND = 999  # the largest entry in a last layer whose outputs are 0

SMALL = 2**40  # the divisor of values in layers before a ReLU block
CHOICE = 4  # the number of units drawn for each unit used
_WIDE = 2**-10  # the smallest gap that may hold a threshold, relative to the widest gap


def draw_network(data: Dataset, shape: Architecture, seed: int = 0) -> Network:
    """Layers of independent nonzero integers from -BOUND to BOUND. All but the last layer change
    every token and the query, with a skip connection; the last layer reads out at the query.

    >>> from attncert.constructions.data.generators import random
    >>> draw_network(random(T=4, n=2, d=3), Architecture(2, 1, 1, 1)).parameters
    22
    """
    rng = np.random.default_rng([seed, shape.layers, shape.heads])

    def draw(rows: int, columns: int) -> fmpq_mat:
        signs = rng.choice([-1, 1], rows * columns)
        return fmpq_mat(rows, columns, (signs * rng.integers(1, BOUND + 1, len(signs))).tolist())

    d, w, v, units = data.d, shape.head_width, shape.value_width, shape.feed_forward
    blocks = list[Block]()
    states = [data.contexts.floats().reshape(-1, d), data.queries.floats()]
    for layer in range(1, shape.layers + 1):
        last = layer == shape.layers
        heads = tuple(Head(draw(d, w), draw(d, w), draw(d, v)) for _ in range(shape.heads))
        output = draw(shape.heads * v, data.m if last else d)
        output = output / SMALL if units and not last else output
        blocks.append(Attention(heads, output, of="query" if last else "all", residual=not last))
        if units and not last:
            block = _feed_forward(states, draw(d, CHOICE * units), draw(units, d), draw(1, d))
            blocks.append(block)
            states = [_after(some, block) for some in states]
    return Network(tuple(blocks))


def _feed_forward(states: list[FloatArray], A: fmpq_mat, B: fmpq_mat, b: fmpq_mat) -> Group:
    """A ReLU block with the best columns of A, one for each row of B."""
    tokens, queries = (some @ _floats(A) for some in states)
    found = [_threshold(*pair) for pair in zip(tokens.T, queries.T, strict=True)]
    order = sorted(range(len(found)), key=lambda k: -found[k][0])[: B.nrows()]
    columns = fmpq_mat([[row[k] for k in order] for row in A.tolist()])
    a = [fmpq(*found[k][1].as_integer_ratio()) for k in order]
    hidden = FeedForward(columns, fmpq_mat(1, len(a), a), of="all", activation="relu")
    return Group((hidden, FeedForward(B, b, of="all")), of="all", residual=True)


def _threshold(*groups: FloatArray) -> tuple[float, Fraction]:
    """How evenly a threshold in a wide gap between values divides the groups, and the threshold
    with its sign changed."""
    values = np.unique(np.concatenate(groups))
    if len(values) == 1:
        return 0.0, Fraction(1) - Fraction(values[0])
    worth = (np.diff(values) >= _WIDE * np.diff(values).max()).astype(float)
    for group in groups:
        below = np.searchsorted(np.sort(group), values[:-1], side="right")
        worth *= 1 + np.minimum(below, len(group) - below)
    k = int(worth.argmax())
    middle = Fraction((values[k] + values[k + 1]) / 2)
    return float(worth[k]), -middle.limit_denominator(10**6)


def _after(states: FloatArray, block: Group) -> FloatArray:
    """The vectors after a ReLU block, in float64."""
    A, a, B, b = map(_floats, block.matrices)
    made: FloatArray = states + np.maximum(states @ A + a, 0) @ B + b
    return made


def _floats(matrix: fmpq_mat) -> FloatArray:
    entries = [float(Fraction(int(x.p), int(x.q))) for x in matrix.entries()]
    return np.array(entries).reshape(int(matrix.nrows()), int(matrix.ncols()))


def draw_zero(data: Dataset, shape: Architecture, sizes: tuple[int, ...], seed: int = 0) -> Network:
    """Like `draw_network`, but all outputs are 0 for any data: the heads of the last layer form
    sets of these sizes with equal keys and queries, and in each set the products V O add up to 0.

    >>> from attncert.constructions.data.generators import random
    >>> data = random(T=4, n=2, d=3)
    >>> draw_zero(data, Architecture(2, 2, 1, 1), (2,)).blocks[-1].heads[1].value
    [-182]
    [-575]
    [-101]
    """
    network = draw_network(data, shape, seed)
    layer = draw_groups(
        data, sizes, head_width=shape.head_width, value_width=shape.value_width,
        bound=_ZERO_BOUND, seed=seed,
    ).layer  # fmt: skip
    assert layer.output is not None
    return Network((*network.blocks[:-1], Attention(layer.heads, layer.output)))
