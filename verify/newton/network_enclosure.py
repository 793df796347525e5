"""A network of blocks and its derivatives over a box of weights, in balls. True exponential.

The derivatives are those of `verify/derivatives/engine.py`: if they are evaluated on balls that
hold a box of weights, each resulting ball holds the value at every point of the box. Exponentials
are Arb's, everything else is float64 with radii (`balls.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx

from attncert.constructions.arrays import IntArray, ObjectArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.network.blocks import Block as ExactBlock
from attncert.constructions.network.network import Network
from attncert.verify.derivatives import engine, networks
from attncert.verify.derivatives.engine import Arithmetic, Attention, Block
from attncert.verify.newton.balls import BallArray
from attncert.verify.newton.enclosure import BOX_BITS

_NUMBERS = 2**22  # entries of the Jacobian computed at a time


def errors(data: Dataset, network: Network, bits: int) -> BallArray:
    """(T·m) outputs less labels at the weights themselves, each ball from `bits` bits."""
    with ctx.workprec(bits):
        differences = network.enclosures(data, bits) - arb_mat(data.label_matrix)
        return BallArray.of(differences.entries(), (data.T * data.m,))


def derivatives(
    data: Dataset, network: Network, unknowns: Sequence[int], radius: Fraction
) -> BallArray:
    """(T·m, N): derivatives of the outputs by the N unknowns, anywhere within `radius` of the
    weights; the others are constant. Weights are numbered as in `engine.derivatives`."""
    with ctx.workprec(BOX_BITS):
        blocks = _boxed(networks.blocks_of(network, _balls), unknowns, radius)
        blocks = [_natural(x, y) for x, y in zip(blocks, network.blocks, strict=True)]
        step = max(1, _NUMBERS // (networks.weights_of(network) * data.m))
        parts = []
        for start in range(0, data.T, step):
            stop = min(start + step, data.T)
            tokens, queries, times = networks.tokens_of(data, start, stop, blocks)
            contexts = _balls(tokens, data.contexts.denominator)
            asking = _balls(queries, data.queries.denominator)
            done = engine.run(blocks, contexts, asking, _ARITHMETIC, times)
            parts.append(engine.jacobian(done, _points)[:, list(unknowns)])
        return BallArray.joined(parts, 0)


def _balls(table: ObjectArray, denominator: int) -> BallArray:
    """Integers over a denominator, rounded to float64 and outwards."""
    entries = (arb(int(x)) / denominator for x in table.ravel())
    return BallArray.of(entries, table.shape)


def _points(table: IntArray) -> BallArray:
    return BallArray(table.astype(float), np.zeros(table.shape))


def _natural(block: Block, written: ExactBlock) -> Block:
    """Logits in units of ln 2 as natural ones: the query weights times ln 2. Derivatives by keys
    and queries are then those by the written ones, divided or multiplied by ln 2."""
    if getattr(written, "unit", None) != "ln 2":
        return block
    assert isinstance(block, Attention)
    ln2 = BallArray.of([arb.const_log2()], ())
    return replace(block, query=block.query * ln2)


def _boxed(blocks: list[Block], unknowns: Sequence[int], radius: Fraction) -> list[Block]:
    """The balls of the weights, with the radius added to those of the unknowns."""
    moving, first, boxed = np.asarray(unknowns, dtype=np.int64), 0, list[Block]()
    reach = float(np.nextafter(float(radius), np.inf)) * (1 + 2.0**-50)
    for block in blocks:
        numbers = engine.numbered(block)
        size = sum(x.size for x in numbers)
        here = np.zeros(size)
        here[moving[(moving >= first) & (moving < first + size)] - first] = reach
        names = [field.name for field in fields(block)][: len(numbers)]
        changed: dict[str, Any] = {}
        for name, places in zip(names, numbers, strict=True):
            ball: BallArray = getattr(block, name)
            changed[name] = BallArray(ball.mid, (ball.rad + here[places]) * (1 + 2.0**-50))
        boxed.append(replace(block, **changed))
        first += size
    return boxed


def _softmax(logits: BallArray, times: Any) -> BallArray:
    """Softmax by Arb, row by row, shifted by the midpoint of a largest logit."""
    shape = logits.shape
    often = None if times is None else np.broadcast_to(times, shape).reshape(-1, shape[-1])
    entries, shares = logits.entries(), list[arb]()
    for row in range(len(entries) // shape[-1]):
        some = entries[row * shape[-1] : (row + 1) * shape[-1]]
        top = max(x.mid() for x in some)
        powers = [(x - top).exp() for x in some]
        if often is not None:
            powers = [x * int(k) for x, k in zip(powers, often[row], strict=True)]
        total = sum(powers, arb(0))
        shares += [power / total for power in powers]
    return BallArray.of(shares, shape)


def _no_relu(sums: BallArray) -> tuple[BallArray, BallArray]:
    """The ReLU and its slopes; the signs must be certain."""
    positive, negative = sums.mid > sums.rad, sums.mid < -sums.rad
    if not (positive | negative).all():
        raise networks.NotDifferentiable("the sign of a preactivation is not decided")
    slopes = BallArray(positive.astype(float), np.zeros(sums.shape))
    return sums * slopes, slopes


_ONE = BallArray(np.ones(()), np.zeros(()))
_ARITHMETIC = Arithmetic(_softmax, _no_relu, _ONE, BallArray.joined)
