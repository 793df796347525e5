"""A network: a sequence of exact blocks. A layer of attention is a network of one block.

Its output for an example is the query after the last block. Its costs are counted here, for every
network in the same way: parameters, bits, hidden units, depth.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from flint import arb_mat, ctx, fmpq, fmpq_mat

from attncert.constructions.brief import in_brief
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.layer import Layer
from attncert.constructions.network.along import Along
from attncert.constructions.network.arithmetic import BALLS, RATIONAL, Arithmetic
from attncert.constructions.network.blocks import Attention, Block, FeedForward
from attncert.constructions.network.states import States


@dataclass(frozen=True)
class Network:
    """Blocks in order, one or more; the output is the query after the last. Raises InputError.

    type: the type of the model of another library from which the blocks were read, if any.
    Arithmetic: exact, or balls if a softmax is irrational. Source: docs/networks.md.

    >>> absolute = FeedForward(fmpq_mat(1, 2, [1, -1]), fmpq_mat(1, 2), activation="relu")
    >>> network = Network((absolute, readout(fmpq_mat(2, 1, [1, 1]))))
    >>> network.outputs(Dataset.of([[0]], [[3], ["-1/2"]]))
    [  3]
    [1/2]
    >>> network.parameters, network.units, network.depth
    (4, 2, 2)
    """

    blocks: tuple[Block, ...]
    type: str = ""

    def __post_init__(self) -> None:
        blocks: Any = self.blocks  # as a user wrote it, of any type
        if not isinstance(blocks, (tuple, list)):
            kind = type(blocks).__name__
            raise InputError("network", "a tuple of blocks, such as Network((block,))", kind)
        if not blocks:
            raise InputError("network", "made of one or more blocks", "empty")
        for block in blocks:
            if not isinstance(block, Block):
                kind = type(block).__name__
                must = "made of blocks, such as Attention and FeedForward"
                raise InputError("network", must, kind)

    def __repr__(self) -> str:
        return in_brief(self, depth=self.depth, units=self.units, parameters=self.parameters)

    @property
    def network(self) -> Network:
        """This network itself, so that a construction may return a network."""
        return self

    @classmethod
    def of_layer(cls, layer: Layer, unit: str = "ln 2") -> Network:
        """A layer with a readout as one block. unit: the unit of its logits."""
        assert layer.output is not None
        return cls((Attention(layer.heads, layer.output, unit=unit),))

    @property
    def leaves(self) -> tuple[Block, ...]:
        """The blocks, with each group replaced by its blocks."""
        return tuple(leaf for block in self.blocks for leaf in block.leaves)

    def states(self, data: Dataset, arithmetic: Arithmetic = RATIONAL) -> Iterator[States]:
        """The states before the first block and after each block. Each token sequence is evaluated
        in one run as long as blocks are causal. Raises Inexact and InputError."""
        states = States.of(data, arithmetic)
        yield states
        along = Along.of(data, states)
        for number, block in enumerate(self.blocks, 1):
            try:
                along = along and along.after(block)
                states = along.states if along else block.after(states)
            except InputError as error:
                where = f"block {number}: {error.argument}"
                raise InputError(where, error.must, error.got) from None
            states.require_short()
            yield states

    def outputs(self, data: Dataset) -> fmpq_mat:
        """The exact outputs, T×m. Raises Inexact (irrational softmax) and InputError (wrong
        shapes)."""
        *_, last = self.states(data)
        return last.queries

    def enclosures(self, data: Dataset, bits: int = 128) -> arb_mat:
        """T×m balls around the outputs, with the true exponential and a precision of `bits`. Raises
        Inexact if a tie or a sign is not decided, InputError for wrong shapes."""
        with ctx.workprec(bits):
            *_, last = self.states(data, BALLS)
            return last.queries

    def apply(self, data: Dataset) -> Dataset:
        """The data that a layer after this network sees, exact, with the same labels. Raises
        Inexact, and InputError for wrong shapes, or if tokens and queries differ in width."""
        *_, last = self.states(data)
        contexts = [context.tolist() for context in last.contexts]
        return Dataset.of(
            contexts[0] if data.shared else contexts, last.queries.tolist(), data.stated, data.name
        )

    @property
    def numbers(self) -> Iterator[fmpq]:
        """The nonzero entries of all weights and biases, as written."""
        for block in self.blocks:
            for matrix in block.matrices:
                yield from (x for x in matrix.entries() if x != 0)

    @property
    def parameters(self) -> int:
        """The number of nonzero entries."""
        return sum(1 for _ in self.numbers)

    @property
    def stored(self) -> int:
        """The number of entries of all different matrices, zeros included. Equal matrices,
        transposed or not, are tied and count once; zero matrices do not count."""
        matrices = [m for block in self.blocks for m in block.matrices if any(m.entries())]
        both = ([m.tolist(), m.transpose().tolist()] for m in matrices)
        different = {tuple(map(tuple, min(pair))) for pair in both}
        return sum(len(rows) * len(rows[0]) for rows in different)

    @property
    def bits(self) -> int:
        """The bits of all numerators, and of denominators other than 1, in lowest terms."""
        return sum(_bits(x) for x in self.numbers)

    @property
    def longest(self) -> int:
        """The number of bits of the longest number."""
        return max(map(_bits, self.numbers), default=0)

    @property
    def units(self) -> int:
        """The number of hidden units: those of feed-forward blocks with a nonlinear activation."""
        return sum(block.units for block in self.blocks)

    @property
    def depth(self) -> int:
        """The number of blocks."""
        return len(self.blocks)


def readout(weights: fmpq_mat, bias: fmpq_mat | None = None, of: str = "query") -> FeedForward:
    """The block x·weights + bias of the query or, if of="row", of query and tokens in one row.

    weights: k×m, bias: 1×m over ℚ, by default 0. Arithmetic: exact. Raises InputError. Source:
    docs/networks.md.

    >>> readout(fmpq_mat(2, 1, [1, 1]))
    FeedForward(of='query', activation='identity')
    """
    return FeedForward(weights, bias or fmpq_mat(1, weights.ncols()), of)


def _bits(x: Any) -> int:
    below = 0 if x.q == 1 else x.q.bit_length()
    return int(x.p.bit_length()) + int(below)
