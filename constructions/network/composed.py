"""Blocks made of other blocks: a gated feed-forward block, and a group with one skip connection.

**Gated** (Dauphin et al. 2017; Shazeer 2020): activation(x·gate + gate_bias) ∘ (x·weights + bias),
entry by entry. It is called SwiGLU if the activation is SiLU, and GEGLU if it is GELU; without an
activation, it is a bilinear map. A readout after it maps the result back to the width of x.

**Group**: blocks in order, whose result is added to the vectors that the first one reads. A
transformer's layer x + attention(RMSNorm(x)) is a group of two blocks, since the skip connection of
a single block adds the vectors that this block reads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flint import fmpq_mat

from attncert.constructions.brief import in_brief
from attncert.constructions.errors import InputError
from attncert.constructions.network.blocks import (
    ACTIVATIONS,
    Block,
    activated,
    affine,
    require_bias,
    require_one_of,
)
from attncert.constructions.network.states import States


@dataclass(frozen=True)
class Gated(Block):
    """activation(x·gate + gate_bias) ∘ (x·weights + bias), of each vector x.

    gate, weights: k×l. gate_bias, bias: 1×l. of: "query" or "all". activation: as in FeedForward.
    residual: whether the result is added to the vector. Arithmetic: exact; SiLU and GELU in
    balls. Raises InputError if options or shapes do not agree. Source: docs/networks.md.

    >>> one, zero = fmpq_mat(1, 2, [1, -1]), fmpq_mat(1, 2)
    >>> Gated(one, zero, one, zero, activation="relu")
    Gated(of='query', activation='relu', units=2)
    """

    gate: fmpq_mat
    gate_bias: fmpq_mat
    weights: fmpq_mat
    bias: fmpq_mat
    of: str = "query"
    activation: str = "silu"
    residual: bool = False

    def __repr__(self) -> str:
        return in_brief(
            self, of=self.of, activation=self.activation, units=self.units,
            residual=self.residual or None,
        )  # fmt: skip

    def __post_init__(self) -> None:
        require_one_of("of", self.of, ("query", "all"))
        require_one_of("activation", self.activation, ACTIVATIONS)
        require_bias("bias", self.bias, self.weights)
        require_bias("gate_bias", self.gate_bias, self.gate)
        if self.gate.ncols() != self.weights.ncols():
            must = f"of {self.weights.ncols()} columns, like the weights"
            raise InputError("gate", must, self.gate.ncols())

    @property
    def matrices(self) -> tuple[fmpq_mat, ...]:
        return self.gate, self.gate_bias, self.weights, self.bias

    @property
    def units(self) -> int:
        return int(self.weights.ncols())

    def _made(self, states: States, *, of_tokens: bool) -> Any:
        vectors, on = states.queries, states.arithmetic
        gates = affine("gate", vectors, self.gate, self.gate_bias, on)
        gates = activated(gates, self.activation, on)
        sums = affine("weights", vectors, self.weights, self.bias, on)
        pairs = zip(gates.entries(), sums.entries(), strict=True)
        return on.matrix(int(sums.nrows()), self.units, [x * y for x, y in pairs])


@dataclass(frozen=True)
class Group(Block):
    """Blocks in order, as one block.

    blocks: one or more. of: "query" if only the query's result counts, and the tokens are left
    unchanged; "all" if the tokens' results count, too. residual: whether each result is added to
    its vector as it was before the group. Arithmetic: that of the blocks. Raises InputError if a
    sum would add vectors of different widths. Source: docs/networks.md.

    >>> double = Gated(*[fmpq_mat(1, 1, [1])] * 4, activation="identity")
    >>> Group((double, double), residual=True)
    Group(of='query', blocks=2, residual=True)
    """

    blocks: tuple[Block, ...]
    of: str = "query"
    residual: bool = False

    def __repr__(self) -> str:
        return in_brief(self, of=self.of, blocks=len(self.blocks), residual=self.residual)

    def __post_init__(self) -> None:
        require_one_of("of", self.of, ("query", "all"))
        if not self.blocks or not all(isinstance(block, Block) for block in self.blocks):
            raise InputError("blocks", "a tuple of one or more blocks", type(self.blocks).__name__)

    @property
    def matrices(self) -> tuple[fmpq_mat, ...]:
        return tuple(matrix for block in self.blocks for matrix in block.matrices)

    @property
    def leaves(self) -> tuple[Block, ...]:
        return tuple(leaf for block in self.blocks for leaf in block.leaves)

    @property
    def units(self) -> int:
        return sum(block.units for block in self.blocks)

    def after(self, states: States) -> States:
        inner = states
        for number, block in enumerate(self.blocks, 1):
            try:
                inner = block.after(inner)
            except InputError as error:
                where = f"block {number} of the group: {error.argument}"
                raise InputError(where, error.must, error.got) from None
            inner.require_short()
        return self.joined(inner, states)

    def joined(self, inner: States, states: States) -> States:
        """The states after the group, from those after its blocks and those before it."""
        contexts = states.contexts
        if self.of == "all":
            pairs = zip(inner.contexts, contexts, strict=True)
            contexts = tuple(self.with_skip(*pair) for pair in pairs)
        queries = self.with_skip(inner.queries, states.queries)
        return States(contexts, queries, states.arithmetic)
