"""The outputs of a network on many boxes of inputs at once, in balls of float64.

A box is a sequence of tokens, each of which may be any vector of a ball; its query is the last
token. Arrays hold centres and radii of balls around the states for all inputs of the box. If
float64 cannot enclose a number, its radius is infinite or NaN: nothing is known about it, and other
code decides. Comparisons are written so that such a number decides nothing.

Rounding. Let u = 2^-53. A sum of n products in any order, with or without fused multiplications,
is within n u / (1 - n u) of the sum of their absolute values (Higham, Accuracy and Stability of
Numerical Algorithms, section 3.1); an underflow adds less than 2^-1074. Radii are nonnegative sums,
so that factors slightly above 1 (`_outward`) cover their own rounding. Sums of integers below 2^53
are exact. Exponentials and the like are those of Arb, computed once for each different ball.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np
from flint import arb, ctx, fmpq_mat

from attncert.constructions.arrays import AnyArray, FloatArray
from attncert.constructions.layer import Head
from attncert.constructions.network.arithmetic import BALLS, factor
from attncert.constructions.network.blocks import SMOOTH, Attention, Block, FeedForward

U = 2.0**-53
_WHOLE = 2.0**52
_BITS = 80  # of Arb's functions
_KNOWN = {
    Attention: {"heads", "output", "of", "rule", "unit", "mask", "residual"},
    FeedForward: {"weights", "bias", "of", "activation", "residual"},
    Head: {"key", "query", "value"},
}


class Balls(NamedTuple):
    """All numbers within a radius of a centre, entry by entry."""

    centre: FloatArray
    radius: FloatArray

    @classmethod
    def of(cls, x: Any) -> Balls:
        """A rational matrix, or an array of Arb's balls."""
        entries = np.array(x.tolist() if isinstance(x, fmpq_mat) else x, dtype=object)
        return cls(*_around([arb(y) for y in entries.ravel().tolist()], entries.shape))

    @property
    def whole(self) -> bool:
        return not self.radius.any() and bool((self.centre == np.rint(self.centre)).all())


def outputs(blocks: Sequence[Block], tokens: Balls) -> Balls | None:
    """The query after the blocks, B×k, of B boxes of n tokens, B×n×d. None if a block is not known
    here."""
    if not all(map(_is_known, blocks)):
        return None
    query = Balls(*(x[:, -1:] for x in tokens))
    with np.errstate(all="ignore"):  # what overflows is not finite, and not decided
        for block in blocks:
            after = _changed(block, query, tokens, block_of_tokens=False)
            if block.of == "all":
                tokens = _changed(block, tokens, tokens, block_of_tokens=True)
            query = after
    return Balls(*(x[:, 0] for x in query))


def leads(vectors: Balls, readout: FeedForward, right: AnyArray) -> FloatArray:
    """For each box a lower bound of the output `right` of a readout minus its largest other one;
    -inf if nothing is known. The differences are those of its columns, so that what the outputs
    have in common cancels."""
    low = np.empty(len(right))
    with np.errstate(all="ignore"):
        for symbol in set(right.tolist()):
            rows = right == symbol
            some = Balls(*(x[rows] for x in vectors))
            centre, radius = _affine(some, less_others(readout, symbol))
            low[rows] = (centre - _outward(radius + U * np.abs(centre))).min(axis=1)
    return np.where(np.isnan(low), -np.inf, low)


def less_others(readout: FeedForward, right: int) -> FeedForward:
    """The readout of its output `right` minus each other output.

    >>> less_others(FeedForward(fmpq_mat([[1, 2, 5]]), fmpq_mat([[0, 1, 0]])), 2).weights
    [4, 3]
    """
    others = [v for v in range(int(readout.bias.ncols())) if v != right]
    differences = (
        fmpq_mat([[row[right] - row[v] for v in others] for row in matrix.tolist()])
        for matrix in (readout.weights, readout.bias)
    )
    return FeedForward(*differences)


def _is_known(part: Any) -> bool:
    """Whether `_changed` supports everything in a block or a head."""
    known = _KNOWN.get(type(part), set())
    plain = all(x.name in known or getattr(part, x.name) == x.default for x in fields(part))
    heads = getattr(part, "heads", ())
    return bool(known) and plain and getattr(part, "of", "") != "row" and all(map(_is_known, heads))


def _changed(block: Any, vectors: Balls, tokens: Balls, *, block_of_tokens: bool) -> Balls:
    """The block applied to the vectors, B×q×k."""
    if isinstance(block, FeedForward):
        made = _affine(vectors, block)
        if block.activation in SMOOTH:
            made = _each(getattr(BALLS, block.activation.replace("-", "_")), made)
        elif block.activation != "identity":
            made = {"relu": _relu, "threshold": _threshold}[block.activation](made)
    else:
        made = _attended(block, vectors, tokens, block_of_tokens)
    return _plus(made, vectors) if block.residual else made


def _attended(block: Attention, vectors: Balls, tokens: Balls, of_tokens: bool) -> Balls:
    n, q = tokens.centre.shape[1], vectors.centre.shape[1]
    seen = np.array(block.masks(n, q, of_tokens), dtype=np.bool_)
    parts, rows = list[Balls](), block.output.tolist()
    for head in block.heads:
        assert head.value is not None
        width = int(head.value.ncols())
        scale = factor(block.unit) if block.rule == "softmax" else 1
        query = [[x * scale for x in row] for row in head.query.tolist()]
        asked, keys = _product(vectors, Balls.of(query)), _product(tokens, Balls.of(head.key))
        weights = _product(asked, Balls(*(np.swapaxes(x, -1, -2) for x in keys)))
        if block.rule == "softmax":
            weights = _softmax(weights, seen)
        elif block.rule == "hardmax":
            weights = _hardmax(weights, seen)
        weights = Balls(*(np.where(seen, x, 0) for x in weights))
        out, rows = fmpq_mat(rows[:width]), rows[width:]
        parts.append(_product(_product(weights, tokens), Balls.of(head.value * out)))
    made = parts[0]
    for part in parts[1:]:
        made = _plus(made, part)
    return made


def _affine(vectors: Balls, block: FeedForward) -> Balls:
    return _plus(_product(vectors, Balls.of(block.weights)), Balls.of(block.bias))


def _product(a: Balls, b: Balls) -> Balls:
    """The product of matrices."""
    size, n = np.abs(a.centre) @ np.abs(b.centre), a.centre.shape[-1]
    radius = a.radius @ (np.abs(b.centre) + b.radius) + np.abs(a.centre) @ b.radius
    exact = a.whole and b.whole and bool((size < _WHOLE).all())
    slack = 0 if exact else _outward(radius + (n + 2) * U * size)
    return Balls(a.centre @ b.centre, radius * 0 + slack)


def _plus(a: Balls, b: Balls) -> Balls:
    centre = a.centre + b.centre
    exact = a.whole and b.whole and bool((np.abs(centre) < _WHOLE).all())
    slack = 0 if exact else _outward(a.radius + b.radius + U * np.abs(centre))
    return Balls(centre, np.zeros_like(centre) + slack)


def _softmax(logits: Balls, seen: AnyArray) -> Balls:
    """e_j / S with S the sum: an error in e_j and S is at most (r_j + q r_S) / (S - r_S), q the
    quotient."""
    top = np.where(seen, logits.centre, -np.inf).max(axis=-1, keepdims=True)
    powers = _each(lambda x: x.exp(), _plus(logits, Balls(-top, 0 * top)))
    powers = Balls(*(np.where(seen, x, 0) for x in powers))
    total = _product(powers, Balls.of([[1]] * seen.shape[-1]))
    shares = powers.centre / total.centre
    least = total.centre - total.radius
    radius = _outward((powers.radius + shares * total.radius) / least + 2 * U * shares)
    return Balls(shares, np.where(least > 0, radius, np.inf))


def _hardmax(logits: Balls, seen: AnyArray) -> Balls:
    low = np.where(seen, logits.centre - logits.radius, -np.inf).max(axis=-1, keepdims=True)
    leads = seen & (logits.centre + logits.radius >= low)
    ties = leads.sum(axis=-1, keepdims=True)
    known = (ties == 1) | ~(leads & (logits.radius > 0)).any(axis=-1, keepdims=True)
    shares = leads / ties
    slack = np.where(ties & (ties - 1), U, 0) * shares
    return Balls(shares, np.where(known, slack, np.inf))


def _relu(x: Balls) -> Balls:
    return Balls(np.maximum(x.centre, 0), np.where(x.centre + x.radius <= 0, 0, x.radius))


def _threshold(x: Balls) -> Balls:
    decided = (x.centre - x.radius >= 0) | (x.centre + x.radius < 0)
    return Balls(np.where(decided, x.centre >= 0, 0.5), np.where(decided, 0.0, 0.5))


def _each(function: Callable[[arb], arb], x: Balls) -> Balls:
    """A function of the entries, computed once for each different ball."""
    pairs, place = np.unique(x.centre + 1j * x.radius, return_inverse=True)
    with ctx.workprec(_BITS):
        made = [function(arb(z.real, z.imag)) for z in pairs.tolist()]
        few = _around(made, (len(made),))
    return Balls(*(part[place].reshape(x.centre.shape) for part in few))


def _around(balls: Sequence[arb], shape: tuple[int, ...]) -> tuple[FloatArray, FloatArray]:
    """Arb's balls as centres and radii; a number that float64 holds has the radius 0."""
    centres = np.array([float(x.mid()) for x in balls], dtype=float)
    apart = [(x - arb(c)).abs_upper() for x, c in zip(balls, centres.tolist(), strict=True)]
    radii = np.array([0.0 if r == 0 else _outward(float(r)) for r in apart], dtype=float)
    return centres.reshape(shape), radii.reshape(shape)


def _outward(x: Any) -> Any:
    return x * (1 + 2.0**-30) + 2.0**-1000
