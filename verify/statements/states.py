"""The argument of a step of a proof: the data, the network, and the states between its blocks.

A step is evaluated over the rationals first. If a softmax is irrational, the states are computed in
balls, with increasing precision while a comparison is undecided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from flint import ctx

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.foreign import error_text
from attncert.constructions.layer import Head
from attncert.constructions.network.arithmetic import BALLS, RATIONAL, Inexact
from attncert.constructions.network.blocks import Attention
from attncert.constructions.network.network import Network
from attncert.constructions.network.states import States
from attncert.constructions.progress import StageProgress, silent
from attncert.verify.claims.evidence import Level
from attncert.verify.claims.relations import Decision
from attncert.verify.sharding.engine import Cluster

BITS = (128, 256, 512, 1024, 2048)  # precisions of the balls, tried in turn
Rows = list[list[Any]]


@dataclass(frozen=True)
class View:
    """The states of a network on its data in one arithmetic.

    data:    the data set. labels: T rows of m numbers. built: what the builder returned.
    groups:  the examples that each head places, if the construction is a layer.

    Numbers are rationals, or balls (FLINT's `arb`) after an irrational softmax. If a state cannot
    be computed, the step is undecided. Source: docs/constructions.md.

    >>> from attncert import FeedForward, Network
    >>> from flint import fmpq_mat
    >>> twice = Network((FeedForward(fmpq_mat([[2]]), fmpq_mat([[1]])),))
    >>> view = View(Dataset.of([[0]], [[3], ["1/2"]]), twice, twice)
    >>> view.query[0], view.query[1]
    ([[3], [1/2]], [[7], [2]])
    """

    data: Dataset
    built: Any
    network: Network
    groups: Sequence[Sequence[int]] = ()
    bits: int | None = None

    @property
    def labels(self) -> Rows:
        return self.data.label_matrix.tolist()

    @property
    def query(self) -> Sequence[Rows]:
        """`query[k]`: the T queries after block k; `query[0]`: the queries of the data."""
        return _After(self, lambda states: states.queries.tolist())

    @property
    def tokens(self) -> Sequence[list[Rows]]:
        """`tokens[k][t]` holds the tokens of example t after block k, as rows."""
        return _After(self, self._tokens)

    @property
    def heads(self) -> Sequence[Head]:
        """The heads of the only attention block, each with key, query and value."""
        block: Any = self.network.blocks[self._number(0) - 1]
        heads: Sequence[Head] = block.heads
        return heads

    def logits(self, block: int = 0, head: int = 1) -> Rows:
        """The logits of the tokens of each example, in the block's unit (ln 2 or 1); None for a
        token that the query does not see. block: 0 means the only attention block."""
        attention, states = self._attention(block)
        return attention.logits(states)[head - 1]

    def weights(self, block: int = 0, head: int = 1) -> Rows:
        """The attention weights of the tokens of each example for its query."""
        attention, states = self._attention(block)
        return attention.weights(states)[head - 1]

    def token_weights(self, block: int = 0, head: int = 1) -> list[Rows]:
        """The attention weights of all tokens, for each token of each example."""
        attention, states = self._attention(block)
        each = (States((X,), X, states.arithmetic) for X in _contexts(states, self.data.T))
        return [attention.weights(x, of_tokens=True)[head - 1] for x in each]

    def features(self, block: int = 0, head: int = 1) -> Rows:
        """The mean of each example's tokens, weighted by the attention weights."""
        attention, states = self._attention(block)
        rows: Rows = attention.features(states)[head - 1].tolist()
        return rows

    def _attention(self, block: int) -> tuple[Attention, States]:
        """An attention block and the states before it."""
        number = self._number(block)
        return self.network.blocks[number - 1], self.states(number - 1)  # type: ignore[return-value]

    def _number(self, block: int) -> int:
        """The number of an attention block. Raises InputError for another block."""
        blocks = self.network.blocks
        numbers = [k for k, x in enumerate(blocks, 1) if isinstance(x, Attention)]
        if block not in numbers and (block or len(numbers) != 1):
            must = f"the number of an attention block ({', '.join(map(str, numbers)) or 'none'})"
            raise InputError("block", must, block)
        return block or numbers[0]

    def _tokens(self, states: States) -> list[Rows]:
        return [context.tolist() for context in _contexts(states, self.data.T)]

    def states(self, block: int) -> States:
        """The states after this block; 0: before the first block. Raises Inexact if unknown."""
        if not 0 <= block <= self.network.depth:
            raise InputError("block", f"a number from 0 to {self.network.depth}", block)
        return self._run.after(block)

    @cached_property
    def cache(self) -> dict[str, Any]:
        return {}

    @cached_property
    def _run(self) -> _Run:
        arithmetic = RATIONAL if self.bits is None else BALLS
        return _Run(self.network.states(self.data, arithmetic))


class Unreached(Inexact):
    """A block cannot be applied to its input; the message says which block, and why."""


class _Run:
    """The states, computed block by block on demand until a block raises."""

    def __init__(self, states: Iterator[States]) -> None:
        self.rest, self.done = states, list[States]()
        self.failure: Inexact | None = None

    def after(self, block: int) -> States:
        while len(self.done) <= block:
            if self.failure is not None:
                raise self.failure
            try:
                self.done.append(next(self.rest))
            except Inexact as failure:
                self.failure = failure
            except InputError as error:
                self.failure = Unreached(str(error))
        return self.done[block]


@dataclass(frozen=True)
class _After(Sequence[Any]):
    """A sequence with an entry for the states before the first block and after each block."""

    view: View
    entry: Callable[[States], Any]

    def __len__(self) -> int:
        return self.view.network.depth + 1

    def __getitem__(self, block: Any) -> Any:
        number = block + len(self) if block < 0 else block
        return self.entry(self.view.states(number))


@dataclass(frozen=True)
class Views:
    """The views of a network on its data in all arithmetics that a step may need."""

    data: Dataset
    built: Any
    network: Network
    groups: Sequence[Sequence[int]] = ()
    progress: StageProgress = silent
    cluster: Cluster | None = None

    @cached_property
    def _known(self) -> dict[int | None, View]:
        return {}

    def at(self, bits: int | None) -> View:
        """The view over the rationals (None) or in balls with this number of bits."""
        if bits not in self._known:
            self._known[bits] = View(self.data, self.built, self.network, self.groups, bits)
        return self._known[bits]

    def decided(self, decision: Callable[[View], Decision]) -> Decision:
        """The decision over the rationals or, if they leave it open, in ever more precise balls."""
        known = decision(self.at(None))
        for bits in BITS:
            if known.level is not Level.UNDECIDED:
                break
            with ctx.workprec(bits):
                try:
                    known = decision(self.at(bits))
                except Exception as error:  # a step that works only for rational numbers
                    return _open(known, error)
        return known

    def count(self, what: str) -> int:
        """The number of heads, groups or blocks; 0 heads if there is no attention block. Raises
        InputError for heads if there are several attention blocks."""
        if what == "head":
            attention = any(isinstance(block, Attention) for block in self.network.blocks)
            return len(self.at(None).heads) if attention else 0
        return self.network.depth if what == "block" else len(self.groups)


def _open(known: Decision, error: Exception) -> Decision:
    """The decision on a step that is undecided over the rationals and fails in ball arithmetic."""
    reason = (known.witness or {}).get("reason", "it is open over the rationals")
    reason = f"{reason}; in balls, the step fails: {error_text(error)}"
    return replace(known, witness={**(known.witness or {}), "reason": reason})


def _contexts(states: States, T: int) -> list[Any]:
    shared = len(states.contexts) == 1
    return [states.contexts[0 if shared else t] for t in range(T)]
