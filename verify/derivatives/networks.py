"""Conversion of a network of exact blocks, and of data, to the arrays of the engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from flint import fmpq_mat

from attncert.constructions.arrays import AnyArray, ObjectArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.network.blocks import Attention as ExactAttention
from attncert.constructions.network.blocks import Block as ExactBlock
from attncert.constructions.network.blocks import FeedForward as ExactFeedForward
from attncert.constructions.network.composed import Group
from attncert.constructions.network.file import kind_of
from attncert.constructions.network.network import Network
from attncert.verify.derivatives.engine import Array, Attention, Block, FeedForward

Entries = Callable[[ObjectArray, int], Array]  # converts integers over one denominator to an array


class NotDifferentiable(Exception):
    """The engine cannot differentiate this block; the message gives the reason as a clause."""


def blocks_of(network: Network, entries: Entries) -> list[Block]:
    """The blocks with their weights as arrays. Raises NotDifferentiable."""
    return [
        _block(number, one, residual, entries)
        for number, block in enumerate(network.blocks, 1)
        for one, residual in _flat(number, block)
    ]


def features_of(network: Network) -> int:
    """The number of features of the last block, which must be attention: the width of Z."""
    last = network.blocks[-1]
    assert isinstance(last, ExactAttention)
    return len(last.heads) * int(last.heads[0].key.nrows())


def weights_of(network: Network) -> int:
    """The number of weights in the blocks: the width of the Jacobian."""
    return sum(int(m.nrows() * m.ncols()) for one in network.blocks for m in one.matrices)


def _flat(number: int, block: ExactBlock) -> list[tuple[ExactBlock, int]]:
    """The block or a group's blocks, each with the number of blocks its skip connection spans."""
    if not isinstance(block, Group):
        return [(block, int(block.residual))]
    inner = [pair for one in block.blocks for pair in _flat(number, one)]
    last, residual = inner[-1]
    if any(one.of != block.of for one, _ in inner) or (block.residual and residual):
        raise NotDifferentiable(
            f"block {number} is a group whose blocks do not change the same vectors as the group, "
            "or has two skip connections"
        )
    return [*inner[:-1], (last, len(inner))] if block.residual else inner


def _block(number: int, one: ExactBlock, residual: int, entries: Entries) -> Block:
    whole = one.of == "all"
    if type(one) is ExactAttention:
        if one.rule == "hardmax" or isinstance(one.mask, tuple):
            raise NotDifferentiable(
                f"block {number} has hardmax attention or a mask other than the causal one"
            )
        keys = [head.key for head in one.heads], [head.query for head in one.heads]
        values = [head.value for head in one.heads]
        output = _together([one.output], entries)
        return Attention(
            _together(keys[0], entries),
            _together(keys[1], entries),
            _together(values, entries),
            output.reshape(len(one.heads), -1, output.shape[-1]),
            whole,
            residual,
            one.mask == "causal",
            one.rule == "linear",
        )
    if not isinstance(one, ExactFeedForward):
        raise NotDifferentiable(f"block {number} is a block of kind {kind_of(one)}")
    if one.of == "row" or one.activation not in ("identity", "relu"):
        raise NotDifferentiable(
            f"block {number} reads all tokens as one row, or has an activation other than ReLU"
        )
    bias = _together([one.bias], entries)
    return FeedForward(
        _together([one.weights], entries)[0], bias[0, 0], whole, residual, one.activation
    )


def _together(matrices: Any, entries: Entries) -> Array:
    """The matrices as one array (count, rows, columns) over one denominator."""
    stacked = [x for matrix in matrices for x in matrix.entries()]
    first: fmpq_mat = matrices[0]
    flat = fmpq_mat(1, len(stacked), stacked)
    numerators, denominator = flat.numer_denom()
    table = np.array([int(x) for x in numerators.entries()], dtype=object)
    shape = len(matrices), int(first.nrows()), int(first.ncols())
    return entries(table.reshape(shape), int(denominator))


def tokens_of(
    data: Dataset, start: int, stop: int, blocks: Sequence[Block] = ()
) -> tuple[AnyArray, AnyArray, AnyArray | None]:
    """The numerators of tokens (b or 1, n, d) and queries (b, d) of the examples from `start` to
    `stop`, and how often each token occurs in its context, (b or 1, 1, 1, n) or None.

    blocks: the blocks of the network. If any of them is causal, equal tokens are listed separately,
    in the order of the context, and the padding of shorter contexts comes last, with count 0.
    """
    queries = data.queries.numerators[start:stop]
    causal = any(getattr(block, "causal", False) for block in blocks)
    if causal and data.order is not None:
        tokens, once = _in_order(data, start, stop)
        return tokens, queries, once
    rows = slice(0, 1) if data.shared else slice(start, stop)
    times = None if data.times is None else data.times[rows, None, None, :]
    return data.contexts.numerators[rows], queries, times


def _in_order(data: Dataset, start: int, stop: int) -> tuple[AnyArray, AnyArray]:
    assert data.order is not None
    places = [data.order[t] for t in range(start, stop)]
    longest = max(map(len, places))
    rows = np.zeros((len(places), longest), dtype=np.int64)
    times = np.zeros((len(places), 1, 1, longest), dtype=np.int64)
    for k, some in enumerate(places):
        rows[k, : len(some)], times[k, ..., : len(some)] = some, 1
    which = np.zeros(len(places), dtype=np.int64) if data.shared else np.arange(start, stop)
    return data.contexts.numerators[which[:, None], rows], times
