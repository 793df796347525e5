"""Random networks of several layers of attention, with small integer weights."""

from __future__ import annotations

import numpy as np
from flint import fmpq_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.given.zeros import draw_groups
from attncert.constructions.layer import Head
from attncert.constructions.network.blocks import Attention
from attncert.constructions.network.network import Network
from attncert.verify.depth.law import Architecture

BOUND = 9  # of the entries
_ZERO_BOUND = 999  # of the entries of a last layer whose outputs are 0


def draw_network(data: Dataset, shape: Architecture, seed: int = 0) -> Network:
    """Layers of independent integers from -BOUND to BOUND, none of them 0: all but the last change
    every token and the query, with a skip connection, and the last reads out at the query.

    >>> from attncert.constructions.data.generators import random
    >>> draw_network(random(T=4, n=2, d=3), Architecture(2, 1, 1, 1)).parameters
    22
    """
    rng = np.random.default_rng([seed, shape.layers, shape.heads])

    def draw(rows: int, columns: int) -> fmpq_mat:
        signs = rng.choice([-1, 1], rows * columns)
        return fmpq_mat(rows, columns, (signs * rng.integers(1, BOUND + 1, len(signs))).tolist())

    d, w, v = data.d, shape.head_width, shape.value_width
    blocks = []
    for layer in range(1, shape.layers + 1):
        last = layer == shape.layers
        heads = tuple(Head(draw(d, w), draw(d, w), draw(d, v)) for _ in range(shape.heads))
        output = draw(shape.heads * v, data.m if last else d)
        blocks.append(Attention(heads, output, of="query" if last else "all", residual=not last))
    return Network(tuple(blocks))


def draw_zero(data: Dataset, shape: Architecture, sizes: tuple[int, ...], seed: int = 0) -> Network:
    """The same, but all outputs are 0, whatever the data: heads of the last layer in sets of these
    sizes have equal keys and queries, and their products V O add up to 0.

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
