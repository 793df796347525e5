"""Blocks from the arrays and the design of a transformer: one of its layers, or the whole model.

With f attention or the feed-forward map, and N a normalization, each half of a layer is x + f(N(x))
(pre-norm) or N(x + f(x)) (post-norm): a group with a skip connection, with N inside or after it.

**Rotation.** A block rotates the coordinates 2j and 2j+1 of queries and keys; most libraries rotate
j and j + r/2. With the columns of both weights in another order, by a permutation P, the products
are the same: (Pq)·(Pk) = q·k. Coordinates that are not rotated have frequency 0, and
rotated ones b^(-2j/r), in float32, as libraries compute it; such a float is taken as a rational.

**Biases** are as in `stored.py`. b_K adds b_K·q to all logits of a query, which softmax does not
cancel if keys are rotated or normalized, or if logits are capped; so it is kept here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from flint import fmpq, fmpq_mat

from attncert.constructions.arrays import AnyArray
from attncert.constructions.data.exact_array import ExactArray
from attncert.constructions.errors import InputError
from attncert.constructions.network.blocks import (
    Block,
    FeedForward,
    Normalization,
    require_bias,
    require_width,
)
from attncert.constructions.network.composed import Gated, Group
from attncert.constructions.network.positional import GeneralAttention, HeadNorm, Positions, Rotary
from attncert.constructions.weights.libraries import ACTIVATIONS, Design, Library, Map
from attncert.constructions.weights.naming import NAMINGS, Names, places
from attncert.constructions.weights.projections import of_projections


@dataclass(frozen=True)
class Transformer:
    """The arrays of a model or a part of it, and the names of those already read. Exact. Raises
    InputError for an array that is missing or not understood."""

    design: Design
    parts: Library
    arrays: Mapping[str, AnyArray]
    used: set[str] = field(default_factory=set)

    def blocks(self, prefix: str) -> tuple[Block, ...]:
        """The blocks of the model, layer or attention under this prefix ("", or ending in a
        dot)."""
        first = self.parts.layer.format(0)
        inside = [x for x in self.arrays if f".{first}" in f".{x[len(prefix) :]}"]
        places_ = {place.prefix for place in places(self.arrays, NAMINGS)}
        if inside:
            root = inside[0][: inside[0].index(first, len(prefix))]
            blocks = [*self._model(root, prefix)]
        elif prefix + self.parts.attention in places_:
            blocks = [*self._layer(prefix)]
        elif prefix in places_:
            blocks = self._attention(prefix)
        else:
            found = next(iter(self.arrays), "nothing")
            raise InputError("prefix", "that of a model, a layer or attention", f"of {found}")
        if strange := [name for name in self.arrays if name not in self.used]:
            must = "made of known arrays"
            raise InputError(prefix or "the model", must, f"of {strange[0]!r} as well")
        return tuple(blocks)

    def _model(self, root: str, prefix: str) -> Iterator[Block]:
        parts, design = self.parts, self.design
        yield FeedForward(table := self._table(root + parts.tokens), _zeros(table), "all")
        if parts.places and design.rotary is None:
            yield Positions(self._places(root), "all")
        yield from self._norm(root, parts.first)
        count = 0
        while any(x.startswith(root + parts.layer.format(count)) for x in self.arrays):
            yield from self._layer(root + parts.layer.format(count))
            count += 1
        if design.layers not in (None, count):
            raise InputError("layers", f"{design.layers}, as the configuration says", count)
        yield from self._norm(root, parts.last)
        last = parts.output
        where = next((x for x in (root, prefix) if last and x + last.weight in self.arrays), None)
        if last and where is not None:
            yield FeedForward(*self._map(where, last), "all")
        elif last and design.tied and not prefix:
            yield FeedForward(turned := table.transpose(), _zeros(turned), "all")

    def _layer(self, prefix: str) -> Iterator[Block]:
        halves = [self._attention(prefix + self.parts.attention)]
        if not self.design.alone:
            halves.append(self._feed_forward(prefix))
        for i, half in enumerate(halves):
            norm = [*self._norm(prefix, self.parts.norms[i] if self.design.norm else None)]
            before, after = ([], norm) if self.design.post else (norm, [])
            yield Group((*before, *half), "all", residual=True)
            yield from after

    def _attention(self, prefix: str) -> list[Block]:
        design, parts = self.design, self.parts
        place = next((x for x in places(self.arrays, NAMINGS) if x.prefix == prefix), None)
        if place is None:
            raise InputError(prefix, "attention with all its projections", "without")
        names = {prefix + name for name in place.naming.arrays} & self.arrays.keys()
        arrays = {name: self.arrays[name] for name in names}
        self.used.update(names)
        stored = of_projections(place, arrays, design.heads, key_bias=True)
        width = stored.layer.head_width
        order, rotary = list(range(width)), None
        if design.rotary is not None:
            order, rotary = _rotation(design, width)
        heads = tuple(
            replace(head, key=_columns(head.key, order), query=_columns(head.query, order))
            for head in stored.layer.heads
        )
        norm = None
        if parts.head_norms:
            gains = [self._row(prefix + name) for name in parts.head_norms]
            for name, gain in zip(parts.head_norms, gains, strict=True):
                require_bias(prefix + name, gain, stored.layer.heads[0].query)
            norm = HeadNorm(_exact(design.epsilon), *(_columns(x, order) for x in gains))
        assert stored.layer.output is not None
        block = GeneralAttention(
            heads, stored.layer.output, "all", unit="1", mask="causal" if design.causal else None,
            root=width if design.divided else 1, norm=norm, rotary=rotary,
            cap=_exact(design.cap) if design.cap > 0 else None,
        )  # fmt: skip
        return stored.with_biases(block)

    def _feed_forward(self, prefix: str) -> list[Block]:
        parts, activation = self.parts, ACTIVATIONS[self.design.activation or ""]
        up, down = (self._map(prefix, part) for part in (parts.up, parts.down))
        if parts.gate and self.design.gated:
            gate = self._map(prefix, parts.gate)
            if parts.late:
                require_width(prefix + parts.down.weight, down[0], up[1])
                up, down = (up[0], _zeros(up[0])), (down[0], up[1] * down[0] + down[1])
            return [Gated(*gate, *up, "all", activation), FeedForward(*down, "all")]
        return [FeedForward(*up, "all", activation), FeedForward(*down, "all")]

    def _norm(self, prefix: str, names: Names | None) -> Iterator[Block]:
        """A normalization whose weights have these names, if the design has one."""
        kind = self.design.norm
        if names is None or kind is None:
            return
        if kind.endswith("Pre"):
            gain = fmpq_mat(1, self.design.width, [1] * self.design.width)
        else:
            gain = self._row(prefix + names[0])
        there = kind == "LN" and prefix + names[1] in self.arrays
        bias = self._row(prefix + names[1]) if there else _zeros(gain)
        yield Normalization(gain, bias, _exact(self.design.epsilon), kind.startswith("LN"), "all")

    def _places(self, root: str) -> fmpq_mat:
        table = self._table(root + self.parts.places)
        if not self.parts.kinds:
            return table
        kinds = self._table(root + self.parts.kinds)
        return table + fmpq_mat([kinds.tolist()[0]] * int(table.nrows()))

    # Arrays.

    def _exact(self, name: str, axes: int) -> ExactArray:
        if name not in self.arrays:
            raise InputError(name, "among the arrays", "missing")
        self.used.add(name)
        array = ExactArray.of(self.arrays[name], name)
        if len(array.shape) != axes or 0 in array.shape:
            raise InputError(name, f"nonempty, with ndim {axes}", f"of shape {array.shape}")
        return array

    def _table(self, name: str) -> fmpq_mat:
        return self._exact(name, 2).matrix()

    def _row(self, name: str) -> fmpq_mat:
        array = self._exact(name, 1)
        return array.reshape((1, len(array))).matrix()

    def _map(self, prefix: str, part: Map) -> tuple[fmpq_mat, fmpq_mat]:
        """Weights (in, out) and bias, 0 if there is none."""
        matrix, name = self._table(prefix + part.weight), prefix + part.bias
        matrix = matrix if part.turned else matrix.transpose()
        bias = self._row(name) if name in self.arrays else _zeros(matrix)
        require_bias(name, bias, matrix)
        return matrix, bias


def _rotation(design: Design, width: int) -> tuple[list[int], Rotary]:
    """The order of the coordinates of a head, and their frequencies.

    >>> _rotation(Design(1, rotary=4.0), 4)
    ([0, 2, 1, 3], Rotary(unit='radian', frequencies=[1, 1/2]))
    """
    r, base = design.rotated or width, design.rotary or 0
    if r % 2 or width % 2 or r > width or base < 1:
        must = f"of base 1 or more and of an even number of the {width} coordinates"
        raise InputError("rotary", must, f"of base {base} and of {r}")
    places_ = np.arange(0, r, 2, dtype=np.float32) / np.float32(r)
    frequencies = 1 / np.float32(base) ** places_
    half = r // 2
    order = [x for j in range(half) for x in (j, j + half)]
    order = list(range(width)) if design.neighbours else [*order, *range(r, width)]
    rest = [0.0] * ((width - r) // 2)
    return order, Rotary("radian", ExactArray.of([[*frequencies.tolist(), *rest]]).matrix())


def _columns(matrix: fmpq_mat, order: list[int]) -> fmpq_mat:
    return fmpq_mat([[row[j] for j in order] for row in matrix.tolist()])


def _zeros(matrix: fmpq_mat) -> fmpq_mat:
    return fmpq_mat(1, int(matrix.ncols()))


def _exact(number: float) -> fmpq:
    return fmpq(*float(number).as_integer_ratio())
