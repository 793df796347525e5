"""The blocks of a network, as exact matrices: attention, feed-forward and normalization.

The state of an example is its tokens (n×k, rows) and its query (a row of width l; k and l differ
after a block that changes only the query's width). `of` says which vectors a block changes:

    "query"  the query alone;
    "all"    every token and the query, each separately;
    "row"    the query; the block reads query and tokens concatenated in one row, so that it depends
             on the order of the tokens and requires contexts of equal length.

Vectors are rows: x becomes x·W. A readout is a feed-forward block with the activation "identity".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from flint import fmpq, fmpq_mat

from attncert.constructions.brief import in_brief
from attncert.constructions.errors import InputError
from attncert.constructions.layer import Head
from attncert.constructions.network.arithmetic import Arithmetic
from attncert.constructions.network.states import States, beside, stacked

Mask = tuple[tuple[bool, ...], ...] | Literal["causal"] | None
Rows = list[list[Any]]
RULES = ("softmax", "hardmax", "linear")
SMOOTH = ("silu", "gelu", "gelu-tanh")  # rational only at 0
ACTIVATIONS = ("identity", "relu", "threshold", *SMOOTH)


class Block(ABC):
    """of: the vectors that it changes. residual: whether the result is added to the vector."""

    of: str
    residual: bool

    @property
    @abstractmethod
    def matrices(self) -> tuple[fmpq_mat, ...]:
        """All weights, gains and biases."""

    @property
    def units(self) -> int:
        """Hidden units."""
        return 0

    @property
    def leaves(self) -> tuple[Block, ...]:
        """This block, or the blocks of a group."""
        return (self,)

    def after(self, states: States) -> States:
        """The states after the block. Raises Inexact, and InputError if shapes do not agree."""
        contexts = states.contexts
        if self.of == "all":
            tokens = (States((X,), X, states.arithmetic) for X in contexts)
            contexts = tuple(self._changed(x, of_tokens=True) for x in tokens)
        return States(contexts, self._changed(states), states.arithmetic)

    def _changed(self, states: States, *, of_tokens: bool = False) -> Any:
        return self.with_skip(self._made(states, of_tokens=of_tokens), states.queries)

    def with_skip(self, made: Any, vectors: Any) -> Any:
        """The result plus, in a residual block, the vectors from which it was made."""
        if self.residual and made.ncols() != vectors.ncols():
            raise InputError("residual", "false if the width changes", "true")
        return made + vectors if self.residual else made

    def _made(self, states: States, *, of_tokens: bool) -> Any:
        """A row for each query. of_tokens: whether the queries are the tokens of one context."""
        raise NotImplementedError


@dataclass(frozen=True)
class Attention(Block):
    """Heads that read the tokens, for the query or for every vector.

    heads: key k×d_h, query l×d_h, value k×d_v, over ℚ. output: (H·d_v)×m, head by head. of: "query"
    or "all". rule: "softmax"; "hardmax": equal weights for the largest logits; "linear": the logits
    are the weights. unit: the unit of a softmax's logits, "ln 2" or "1"; else None. mask: None;
    "causal": token i sees the first i, the query sees all; or a row of booleans, true for each
    token seen, for each vector that the block changes, the query last. residual: whether the result
    is added to the vector. Arithmetic: exact, or balls if a softmax is irrational. Raises
    InputError if options or shapes do not agree. Source: docs/networks.md.

    >>> one, zero = fmpq_mat(1, 1, [1]), fmpq_mat(1, 1)
    >>> Attention((Head(zero, zero, one),), one, residual=True)
    Attention(of='query', heads=1, rule='softmax', residual=True)
    """

    heads: tuple[Head, ...]
    output: fmpq_mat
    of: str = "query"
    rule: str = "softmax"
    unit: str | None = "ln 2"
    mask: Mask = None
    residual: bool = False

    def __repr__(self) -> str:
        return in_brief(
            self, of=self.of, heads=len(self.heads), rule=self.rule, residual=self.residual
        )

    def __post_init__(self) -> None:
        require_one_of("of", self.of, ("query", "all"))
        require_one_of("rule", self.rule, RULES)
        units = ("ln 2", "1") if self.rule == "softmax" else (None,)
        require_one_of("logit_unit", self.unit, units)
        if not self.heads or any(head.value is None for head in self.heads):
            raise InputError("heads", "one or more, each with its value", "without")
        for head in self.heads:
            if head.query.ncols() != head.width:
                must = f"of {head.width} columns, like the key of its head"
                raise InputError("query", must, int(head.query.ncols()))
        values = sum(int(head.value.ncols()) for head in self.heads if head.value is not None)
        if self.output.nrows() != values:
            raise InputError("output", f"of {values} rows, to fit the values", self.output.nrows())
        if isinstance(self.mask, tuple) and not all(any(row) for row in self.mask):
            raise InputError("mask", "rows with a 1 in each", "a row of zeros")

    @property
    def matrices(self) -> tuple[fmpq_mat, ...]:
        parts = [m for head in self.heads for m in (head.key, head.query, head.value)]
        return (*(m for m in parts if m is not None), self.output)

    def logits(self, states: States, *, of_tokens: bool = False) -> list[Rows]:
        """The logits of the tokens by head and query; None for a token that is not seen."""
        table, on = [], states.arithmetic
        for head in range(len(self.heads)):
            rows, scores = list[list[Any]](), self._scores(head, on)
            for queries, context in states.by_context:
                masks = self.masks(int(context.nrows()), int(queries.nrows()), of_tokens)
                for row, mask in zip(scores(queries, context, of_tokens), masks, strict=True):
                    rows.append([x if sees else None for x, sees in zip(row, mask, strict=True)])
            table.append(rows)
        return table

    def weights(self, states: States, *, of_tokens: bool = False) -> list[Rows]:
        """The weights of the tokens by head and query; 0 for a token that is not seen."""
        table = self.logits(states, of_tokens=of_tokens)
        return [
            [self._shares(row, self._more(head), states.arithmetic) for row in rows]
            for head, rows in enumerate(table)
        ]

    def features(
        self, states: States, weights: Sequence[Rows] | None = None, *, of_values: bool = False
    ) -> list[Any]:
        """The weighted means of the tokens, or of their values, by head; a row for each query."""
        features, on = [], states.arithmetic
        weights = self.weights(states) if weights is None else weights
        for head, rows in zip(self.heads, weights, strict=True):
            rest, means = iter(rows), []
            for queries, context in states.by_context:
                count, tokens = int(queries.nrows()), int(context.nrows())
                entries = [x for row in islice(rest, count) for x in row]
                read = context * on.matrix(head.value) if of_values else context
                means.append(on.matrix(count, tokens, entries) * read)
            features.append(stacked(means, on))
        return features

    def contributions(self, features: Sequence[Any], states: States) -> list[Any]:
        """The contribution of each head to each query: its features times value and output."""
        rows, contributions = iter(self.output.tolist()), []
        for head, part in zip(self.heads, features, strict=True):
            assert head.value is not None
            require_width("value", head.value, part)
            output = fmpq_mat(list(islice(rows, int(head.value.ncols()))))
            contributions.append(part * states.arithmetic.matrix(head.value * output))
        return contributions

    def _made(self, states: States, *, of_tokens: bool) -> Any:
        weights, on = self.weights(states, of_tokens=of_tokens), states.arithmetic
        if on.order == "values first":
            means = self.features(states, weights, of_values=True)
            return beside(means, on) * on.matrix(self.output)
        first, *others = self.contributions(self.features(states, weights), states)
        return sum(others, first)

    def _scores(self, head: int, on: Arithmetic) -> Callable[[Any, Any, bool], Rows]:
        """A function of queries and context: the logits before the mask, a row for each query."""
        query, key = (on.matrix(x) for x in (self.heads[head].query, self.heads[head].key))
        return lambda queries, context, _: self._products(queries, query, key, context, on).tolist()

    def _products(self, queries: Any, query: Any, key: Any, context: Any, on: Arithmetic) -> Any:
        """queries·query·keyᵀ·contextᵀ over the root, in the order that the arithmetic prefers."""
        require_width("query", query, queries)
        require_width("key", key, context)
        asked, keys = queries * query, context
        if on.order == "cheapest" and queries.nrows() < context.nrows():
            asked = asked * key.transpose()
        else:
            keys = context * key
        return on.scores(asked, keys, self._square, self.unit)

    @property
    def _square(self) -> int:
        """The number whose square root divides the logits."""
        return 1

    def _more(self, head: int) -> list[fmpq]:
        """Additional logits, whose weights are dropped."""
        return []

    def masks(self, tokens: int, queries: int, of_tokens: bool) -> Sequence[Sequence[bool]]:
        """Which tokens each query sees."""
        if self.mask == "causal" and of_tokens:
            return [[j <= i for j in range(tokens)] for i in range(tokens)]
        if not isinstance(self.mask, tuple):
            return [[True] * tokens] * queries
        rows = tokens + 1 if self.of == "all" else 1
        if len(self.mask) != rows or any(len(row) != tokens for row in self.mask):
            raise InputError("mask", f"{rows} rows of {tokens} tokens", "of another shape")
        return self.mask[:-1] if of_tokens else [self.mask[-1]] * queries

    def _shares(self, logits: list[Any], more: list[fmpq], on: Arithmetic) -> list[Any]:
        """The attention weights of the tokens; 0 for those not seen."""
        shares = [x for x in logits if x is not None] + on.matrix(1, len(more), more).entries()
        if self.rule == "softmax":
            shares = on.softmax(shares, self.unit)
        elif self.rule == "hardmax":
            shares = on.hardmax(shares)
        rest = iter(shares)
        return [0 if x is None else next(rest) for x in logits]


@dataclass(frozen=True)
class FeedForward(Block):
    """x·weights + bias, then the activation, of each vector.

    weights: k×l. bias: 1×l. of: "query", "all" or "row". activation: "identity", "relu",
    "threshold" (1 for z ≥ 0, else 0), "silu", "gelu" or "gelu-tanh" (its approximation by tanh).
    residual: whether the result is added to the vector. Arithmetic: exact; SiLU and GELU in balls.
    Raises InputError if options or shapes do not agree. Source: docs/networks.md.

    >>> FeedForward(fmpq_mat(1, 2, [1, -1]), fmpq_mat(1, 2), activation="relu")
    FeedForward(of='query', activation='relu', units=2)
    """

    weights: fmpq_mat
    bias: fmpq_mat
    of: str = "query"
    activation: str = "identity"
    residual: bool = False

    def __repr__(self) -> str:
        return in_brief(
            self, of=self.of, activation=self.activation, units=self.units or None,
            residual=self.residual or None,
        )  # fmt: skip

    def __post_init__(self) -> None:
        require_one_of("of", self.of, ("query", "all", "row"))
        require_one_of("activation", self.activation, ACTIVATIONS)
        require_bias("bias", self.bias, self.weights)

    @property
    def matrices(self) -> tuple[fmpq_mat, ...]:
        return self.weights, self.bias

    @property
    def units(self) -> int:
        """The number of hidden units; a block with the activation "identity" has none."""
        return 0 if self.activation == "identity" else int(self.weights.ncols())

    def _made(self, states: States, *, of_tokens: bool) -> Any:
        vectors = states.in_rows() if self.of == "row" else states.queries
        sums = affine("weights", vectors, self.weights, self.bias, states.arithmetic)
        return activated(sums, self.activation, states.arithmetic)


@dataclass(frozen=True)
class Normalization(Block):
    """x / √(mean of x² + ε) ∘ gain + bias, of each vector x (RMSNorm); of x minus its mean if it
    is centred (LayerNorm).

    gain, bias: 1×k. epsilon: ε ≥ 0. centred: whether the mean of x is subtracted first. of: "query"
    or "all". residual: whether the result is added to the vector. Arithmetic: exact if all roots
    are rational, else in balls. Raises InputError if options or shapes do not agree. Source:
    docs/networks.md.

    >>> Normalization(fmpq_mat(1, 2, [1, 1]), fmpq_mat(1, 2), fmpq(1, 10**5), centred=True)
    Normalization(of='query', centred=True, width=2)
    """

    gain: fmpq_mat
    bias: fmpq_mat
    epsilon: fmpq
    centred: bool = False
    of: str = "query"
    residual: bool = False

    def __repr__(self) -> str:
        return in_brief(
            self, of=self.of, centred=self.centred, width=self.gain.ncols(),
            residual=self.residual or None,
        )  # fmt: skip

    def __post_init__(self) -> None:
        require_one_of("of", self.of, ("query", "all"))
        width = int(self.gain.ncols())
        if (self.bias.nrows(), self.bias.ncols()) != (1, width):
            raise InputError("bias", f"of {width} numbers, like the gain", self.bias.ncols())
        if self.epsilon < 0:
            raise InputError("epsilon", "0 or above", str(self.epsilon))

    @property
    def matrices(self) -> tuple[fmpq_mat, ...]:
        return self.gain, self.bias

    def _made(self, states: States, *, of_tokens: bool) -> Any:
        rows, on = states.queries.tolist(), states.arithmetic
        width = int(self.gain.ncols())
        if states.queries.ncols() != width:
            must = f"of {states.queries.ncols()} numbers, the width of the vectors"
            raise InputError("gain", must, width)
        if self.centred:
            totals = (states.queries * on.matrix(width, 1, [1] * width)).entries()
            means = [total / width for total in totals]
            rows = [[x - mean for x in row] for row, mean in zip(rows, means, strict=True)]
        gain, bias = (on.matrix(x).entries() for x in self.matrices)
        made = list[Any]()
        for row in rows:
            scaled = on.normalized(row, self.epsilon)
            made += [x * g + b for x, g, b in zip(scaled, gain, bias, strict=True)]
        return on.matrix(len(rows), width, made)


def affine(argument: str, vectors: Any, weights: fmpq_mat, bias: fmpq_mat, on: Arithmetic) -> Any:
    """vectors·weights + bias, a row for each vector. The bias is one more term of each sum."""
    require_width(argument, weights, vectors)
    terms = on.matrix([[*row, 1] for row in vectors.tolist()])
    return terms * on.matrix([*weights.tolist(), *bias.tolist()])


def activated(sums: Any, activation: str, on: Arithmetic) -> Any:
    """The activation of each number."""
    if activation == "identity":
        return sums
    function = getattr(on, activation.replace("-", "_"))
    return on.matrix(int(sums.nrows()), int(sums.ncols()), [function(x) for x in sums.entries()])


def require_bias(argument: str, bias: fmpq_mat, weights: fmpq_mat) -> None:
    width = int(weights.ncols())
    if (bias.nrows(), bias.ncols()) != (1, width):
        raise InputError(argument, f"of {width} numbers, to fit the weights", bias.ncols())


def require_one_of(argument: str, word: Any, words: Sequence[Any]) -> None:
    if word not in words:
        raise InputError(argument, " or ".join(map(repr, words)), repr(word))


def require_width(argument: str, weights: Any, vectors: Any) -> None:
    if weights.nrows() != vectors.ncols():
        must = f"of {vectors.ncols()} rows, the width of the vectors that it is applied to"
        raise InputError(argument, must, weights.nrows())
