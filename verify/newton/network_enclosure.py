"""A network and its derivatives over a box of weights, in balls with the true exponential.

`verify/derivatives/engine.py` computes the derivatives. If its arguments are balls that contain a
box of weights, each resulting ball contains the values at all points of the box. With at most two
softmax blocks, balls are float64 numbers with radii (`balls.py`). Their rounding errors grow with
each block, so deeper networks, and small networks with numbers too large for float64, are
computed entirely in Arb balls, as NumPy arrays of objects.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx, fmpq

from attncert.constructions.arrays import AnyArray, ObjectArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.network.blocks import Block as ExactBlock
from attncert.constructions.network.network import Network
from attncert.verify.derivatives import engine, networks
from attncert.verify.derivatives.balls import BallArray
from attncert.verify.derivatives.engine import Arithmetic, Array, Attention, Block, Run
from attncert.verify.newton.layer_outputs import enclosed

Balls = Callable[..., Array]

BOX_BITS = 64  # only a few digits of derivatives are needed
_BEYOND_FLOATS = 2**18  # maximum number of entries of a Jacobian that is also tried in Arb
_NUMBERS = 2**22  # entries of the Jacobian computed at a time
_IN_FLOATS, _DEEP_BITS = 2, 192  # limit on softmax blocks in float64; bits for deeper networks


def errors(data: Dataset, network: Network, bits: int) -> BallArray:
    """The T·m outputs minus labels at the weights themselves, computed with `bits` bits."""
    with ctx.workprec(bits):
        differences = enclosed(data, network, bits) - arb_mat(data.label_matrix)
        return BallArray.of(differences.entries(), (data.T * data.m,))


def derivatives(
    data: Dataset, network: Network, unknowns: Sequence[int], radius: Fraction
) -> BallArray:
    """The derivatives (T·m, N) of the outputs with respect to the N unknowns, anywhere within
    `radius` of the weights; other weights are constant. Weights are numbered as in
    `engine.derivatives`."""
    width = networks.weights_of(network) * data.m

    def rows(done: Run, balls: Balls) -> Array:
        return engine.jacobian(done, balls)[:, list(unknowns)]

    return _by_examples(data, network, rows, width, unknowns, radius)


def features(data: Dataset, network: Network) -> BallArray:
    """The features (T, H·k): the means that the heads of the last block form for the query."""

    def rows(done: Run, balls: Balls) -> Array:
        return done.saved[-1][1][-2].reshape(done.outputs.shape[0], -1)

    return _by_examples(data, network, rows, networks.weights_of(network), (), Fraction(0))


def _by_examples(
    data: Dataset,
    network: Network,
    rows: Callable[[Run, Balls], Array],
    width: int,
    unknowns: Sequence[int],
    radius: Fraction,
) -> BallArray:
    """The rows of all examples. width: how many numbers each example needs in memory."""
    softmax = sum(getattr(block, "rule", "") == "softmax" for block in network.leaves)
    arguments = data, network, rows, width, unknowns, radius
    if softmax <= _IN_FLOATS:
        with np.errstate(all="ignore"):  # no claim holds with infinities or NaN
            found = _evaluated(*arguments, floats=True)
        if data.T * width > _BEYOND_FLOATS or np.isfinite(found.mid + found.rad).all():
            return found
    return _evaluated(*arguments, floats=False)


def _evaluated(
    data: Dataset,
    network: Network,
    rows: Callable[[Run, Balls], Array],
    width: int,
    unknowns: Sequence[int],
    radius: Fraction,
    floats: bool,
) -> BallArray:
    """The enclosure in float64 or in Arb balls, computed for a few examples at a time."""
    on = _FLOATS if floats else _ARBS

    def balls(table: AnyArray, denominator: int = 1) -> Array:
        if floats and table.dtype != object and denominator <= 2**53:
            return BallArray.of_ratios(table, denominator)
        exact = _arbs(table, denominator)
        return _rounded(exact) if floats else exact

    with ctx.workprec(BOX_BITS if floats else _DEEP_BITS):
        blocks = _boxed(networks.blocks_of(network, _arbs), unknowns, radius)
        blocks = [_natural(x, y) for x, y in zip(blocks, network.leaves, strict=True)]
        blocks = [_with(x, map(_rounded, x.weights)) for x in blocks] if floats else blocks
        numbers = _NUMBERS if floats else _NUMBERS // 16  # an Arb ball needs 16 times the memory
        step = max(1, numbers // width)
        parts = []
        for start in range(0, data.T, step):
            stop = min(start + step, data.T)
            tokens, queries, times = networks.tokens_of(data, start, stop, blocks)
            contexts = balls(tokens, data.contexts.denominator)
            asking = balls(queries, data.queries.denominator)
            part = rows(engine.run(blocks, contexts, asking, on, times), balls)
            parts.append(part if floats else _rounded(part))
        return BallArray.joined(parts, 0)


def _arbs(table: AnyArray, denominator: int) -> ObjectArray:
    """Arb balls of integers over a denominator."""
    return _array((arb(int(x)) / denominator for x in table.ravel()), table.shape)


def _array(entries: Any, shape: tuple[int, ...]) -> ObjectArray:
    flat = list(entries)
    made = np.empty(len(flat), dtype=object)
    made[:] = flat
    return made.reshape(shape)


def _rounded(table: ObjectArray) -> BallArray:
    """The balls in float64, rounded outwards."""
    return BallArray.of(table.ravel(), table.shape)


def _with(block: Block, weights: Any) -> Block:
    """The block with these arrays of weights."""
    names = (field.name for field in fields(block))
    changed: dict[str, Any] = dict(zip(names, weights, strict=False))
    return replace(block, **changed)


def _natural(block: Block, written: ExactBlock) -> Block:
    """The block with natural logits instead of logits in units of ln 2: its query weights are
    multiplied by ln 2. Derivatives with respect to the new query weights are those with respect to
    the original weights, divided by ln 2."""
    if getattr(written, "unit", None) != "ln 2":
        return block
    assert isinstance(block, Attention)
    return replace(block, query=block.query * arb.const_log2())


def _boxed(blocks: list[Block], unknowns: Sequence[int], radius: Fraction) -> list[Block]:
    """The balls of the weights; the radius is added to the balls of the unknowns."""
    moving, first, boxed = np.asarray(unknowns, dtype=np.int64), 0, list[Block]()
    reach = arb(0, arb(fmpq(radius.numerator, radius.denominator)).abs_upper())
    for block in blocks:
        numbers = engine.numbered(block)
        size = sum(x.size for x in numbers)
        here = np.full(size, arb(0), dtype=object)
        here[moving[(moving >= first) & (moving < first + size)] - first] = reach
        moved = (x + here[n] for x, n in zip(block.weights, numbers, strict=True))
        boxed.append(_with(block, moved))
        first += size
    return boxed


def _softmax(logits: ObjectArray, times: Any) -> ObjectArray:
    """The softmax of each row, shifted by the midpoint of a largest logit."""
    rows, shares = logits.reshape(-1, logits.shape[-1]), list[arb]()
    often = None if times is None else np.broadcast_to(times, logits.shape).reshape(rows.shape)
    for k, row in enumerate(rows):
        top = max(x.mid() for x in row)
        powers = [(x - top).exp() for x in row]
        if often is not None:
            powers = [x * int(count) for x, count in zip(powers, often[k], strict=True)]
        total = sum(powers, arb(0))
        shares += [power / total for power in powers]
    return _array(shares, logits.shape)


def _relu(sums: ObjectArray) -> tuple[ObjectArray, ObjectArray]:
    """The ReLU and its slopes. All signs must be certain."""
    _require_signs(np.array([x > 0 or x < 0 for x in sums.ravel()]))
    slopes = _array((arb(int(x > 0)) for x in sums.ravel()), sums.shape)
    return sums * slopes, slopes


def _softmax_of_floats(logits: BallArray, times: Any) -> BallArray:
    mid = logits.mid if times is None else np.where(times > 0, logits.mid, -1e300)
    top = BallArray(mid.max(axis=-1, keepdims=True), np.zeros(()))
    powers = (BallArray(mid, logits.rad) - top).exp()
    powers = powers if times is None else powers * times
    return powers * powers.sum(axis=-1)[..., None].inverse()


def _relu_of_floats(sums: BallArray) -> tuple[BallArray, BallArray]:
    _require_signs(np.abs(sums.mid) > sums.rad)
    slopes = BallArray((sums.mid > 0).astype(np.float64), np.zeros(sums.shape))
    return sums * slopes, slopes


def _require_signs(certain: AnyArray) -> None:
    if not certain.all():
        raise networks.NotDifferentiable("the sign of a preactivation is not decided")


def _joined(parts: Sequence[ObjectArray], axis: int) -> ObjectArray:
    return np.concatenate(parts, axis)


_ONE = BallArray(np.ones(()), np.zeros(()))
_FLOATS = Arithmetic(_softmax_of_floats, _relu_of_floats, _ONE, BallArray.joined)
_ARBS = Arithmetic(_softmax, _relu, arb(1), _joined)
