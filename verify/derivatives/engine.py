r"""Outputs of a network, and their derivatives with respect to all weights, in reverse mode.

The code is written once over arrays that have the operators of NumPy (`+`, `-`, `*`, `@`, indexing,
`reshape`, `transpose`, `sum`): floats (NumPy or CuPy arrays), balls (`BallArray`), and residues
modulo a tower of primes (`tower.py`). `Arithmetic` holds the operations that differ between the
number types.

**State.** Each of b examples has tokens X (n×k, rows) and a query row q. A block either changes
every token and the query with the same weights, or changes the query alone. Tokens never depend on
the query, so they are stored once if all examples share them. A skip connection over k blocks
(`residual` = k in the last of them) adds their result to the input of the first.

**Attention.** The rows R of a block attend to the tokens X. Head h, with K, Q, V and its rows O of
the output matrix, computes

    L = R Q (X K)ᵀ,   P = softmax of the rows of L,   Z = P X,   and adds  Z V O.                (1)

Let G be the derivative of one output with respect to the block's result, and write "by O" for
derivatives with respect to O, and so on. Reverse mode gives, head by head,

    by O: (ZV)ᵀG,   D = G Oᵀ,   by V: ZᵀD,   A = D Vᵀ,   by X: PᵀA,                              (2)
    S = λ P∘(A Xᵀ - row sums of P∘A Xᵀ),   by Q: Rᵀ(S X K),   by R: S X K Qᵀ,                    (3)
    by K: Xᵀ(Sᵀ R Q),   by X: Sᵀ R Q Kᵀ,                                                         (4)

where ∂P/∂L = λ (diag P - PPᵀ): λ is 1 for exp, and ln 2 for powers of two. In linear attention
P = L and S = A Xᵀ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from attncert.constructions.arrays import IntArray

Array = Any
Backward = tuple[Array, Array, list[Array]]  # by rows, tokens, weights; None where not needed


@dataclass(frozen=True)
class Arithmetic:
    """The operations of a number type. softmax: the weights, from logits (…, n) and how often each
    counts (None: once each). relu: returns the ReLU of an array and its slopes, 0 or 1. slope: λ,
    the factor in the derivatives of a softmax. concatenate: joins arrays along an axis."""

    softmax: Callable[[Array, Any], Array]
    relu: Callable[[Array], tuple[Array, Array]]
    slope: Any
    concatenate: Callable[[Sequence[Array], int], Array]


@dataclass(frozen=True)
class Attention:
    """A block of attention: key (H, k, w), query (H, l, w), value (H, k, v), output (H, v, m); see
    (1).

    whole: whether tokens also change. causal: whether token i attends only to the first i tokens;
    the query attends to all. linear: whether the logits serve as weights, without a softmax.
    """

    key: Array
    query: Array
    value: Array
    output: Array
    whole: bool = False
    residual: int = 0
    causal: bool = False
    linear: bool = False

    @property
    def weights(self) -> tuple[Array, ...]:
        return self.key, self.query, self.value, self.output

    def forward(self, rows: Array, tokens: Array, times: Any, on: Arithmetic) -> tuple[Array, Any]:
        keys = tokens[:, None] @ self.key  # (b, H, n, w)
        queries = rows[:, None] @ self.query  # (b, H, s, w)
        logits = queries @ _turned(keys)  # (b, H, s, n)
        shares = _counted(logits, times) if self.linear else on.softmax(logits, times)
        means = shares @ tokens[:, None]  # (b, H, s, k)
        values = means @ self.value  # (b, H, s, v)
        made = (values @ self.output).sum(axis=1)  # (b, s, m)
        return made, (rows, tokens, times, keys, queries, shares, means, values)

    def backward(self, made: Array, saved: Any, on: Arithmetic, first: bool) -> Backward:
        """Derivatives with respect to rows, tokens (not for the first block) and the four arrays of
        weights, (b, H, …) each."""
        rows, tokens, times, keys, queries, shares, means, values = saved
        by_made = made[:, None]  # (b, 1, s, m)
        by_output = _turned(values) @ by_made
        by_values = by_made @ _turned(self.output)  # D
        by_value = _turned(means) @ by_values
        by_means = by_values @ _turned(self.value)  # A
        slopes = by_means @ _turned(tokens[:, None])  # (b, H, s, n)
        if self.linear:
            by_logits = _counted(slopes, times)  # S
        else:
            weighed = shares * slopes
            by_logits = (weighed - shares * weighed.sum(axis=3)[..., None]) * on.slope
        by_queries = by_logits @ keys
        by_keys = _turned(by_logits) @ queries
        by_query = _turned(rows[:, None]) @ by_queries
        by_key = _turned(tokens[:, None]) @ by_keys
        weights = [by_key, by_query, by_value, by_output]
        if first:
            return None, None, weights
        by_rows = (by_queries @ _turned(self.query)).sum(axis=1)
        by_tokens = _turned(shares) @ by_means + by_keys @ _turned(self.key)
        return by_rows, by_tokens.sum(axis=1), weights


@dataclass(frozen=True)
class FeedForward:
    """x·matrix + bias, then the activation "identity" or "relu". matrix: (k, l). bias: (l,)."""

    matrix: Array
    bias: Array
    whole: bool = False
    residual: int = 0
    activation: str = "identity"

    @property
    def weights(self) -> tuple[Array, ...]:
        return self.matrix, self.bias

    def forward(self, rows: Array, tokens: Array, times: Any, on: Arithmetic) -> tuple[Array, Any]:
        made, slopes = rows @ self.matrix + self.bias, None
        if self.activation == "relu":
            made, slopes = on.relu(made)
        return made, (rows, slopes)

    def backward(self, made: Array, saved: Any, on: Arithmetic, first: bool) -> Backward:
        rows, slopes = saved
        by_sums = made if slopes is None else made * slopes
        weights = [_turned(rows) @ by_sums, by_sums.sum(axis=1)]
        return None if first else by_sums @ _turned(self.matrix), None, weights


Block = Attention | FeedForward


@dataclass(frozen=True)
class Run:
    """An evaluation: outputs (b, m), and for every block the values that the reverse pass needs."""

    blocks: Sequence[Block]
    outputs: Array
    saved: list[tuple[Any, Any]]
    on: Arithmetic


def run(
    blocks: Sequence[Block], tokens: Array, queries: Array, on: Arithmetic, times: Any = None
) -> Run:
    """Evaluate the blocks on tokens (b or 1, n, k) and queries (b, l). times (b or 1, 1, 1, n): how
    often each token occurs in its context, 0 for padding; None if each occurs once. If a block is
    causal, each count is 0 or 1, and padding comes last, so that no token attends to it."""
    query, saved, before = queries[:, None], [], []
    for block in blocks:
        of_tokens = None
        before.append((query, tokens))
        made, of_query = block.forward(query, tokens, times, on)
        after = before[-block.residual][0] + made if block.residual else made
        if block.whole:
            causal = getattr(block, "causal", False)
            often = np.tri(tokens.shape[1]) if causal else times
            made, of_tokens = block.forward(tokens, tokens, often, on)
            tokens = before[-block.residual][1] + made if block.residual else made
        query = after
        saved.append((of_tokens, of_query))
    return Run(blocks, query[:, 0], saved, on)


def derivatives(done: Run, seed: Array) -> Array:
    """Derivatives (b, P) of one number for each example with respect to all P weights.

    seed: (b, m), the derivatives of the number with respect to the outputs. Weights are numbered
    block by block: in an attention block, key, query and value of each head, row by row, then the
    output matrix; in a feed-forward block, the matrix row by row, then the bias.
    """
    by_query, by_tokens = seed[:, None], None
    columns: list[list[Array]] = []
    skipped: list[list[tuple[Array, Array | None]]] = [[] for _ in done.blocks]
    for k in reversed(range(len(done.blocks))):
        block, (of_tokens, of_query) = done.blocks[k], done.saved[k]
        if block.residual:
            skipped[k + 1 - block.residual].append((by_query, by_tokens if block.whole else None))
        rows, tokens, weights = block.backward(by_query, of_query, done.on, first=k == 0)
        if of_tokens is not None and by_tokens is not None:
            rows_of, tokens_of, more = block.backward(by_tokens, of_tokens, done.on, first=k == 0)
            weights = [one + other for one, other in zip(weights, more, strict=True)]
            by_tokens = _sum(rows_of, tokens_of)
        columns.append(_in_order(block, weights, done.on))
        if k == 0:  # derivatives with respect to the data are not needed
            break
        by_tokens = _sum(by_tokens, tokens)
        for by_skip, by_skipped in skipped[k]:
            rows, by_tokens = rows + by_skip, _sum(by_tokens, by_skipped)
        by_query = rows
    flat = [part for parts in reversed(columns) for part in parts]
    return done.on.concatenate(flat, 1)


def jacobian(done: Run, array: Callable[[IntArray], Array]) -> Array:
    """Derivatives (b·m, P) of all m outputs, grouped by example. array: converts integers to an
    array of the same kind as the weights.
    """
    count, m = done.outputs.shape
    parts = []
    for j in range(m):
        seed = np.zeros((count, m), dtype=np.int64)
        seed[:, j] = 1
        parts.append(derivatives(done, array(seed))[:, None])
    return done.on.concatenate(parts, 1).reshape(count * m, -1)


def numbered(block: Block) -> list[Any]:
    """For each array in `weights`, the positions of its entries within the block, in the numbering
    of `derivatives`."""
    shapes = [tuple(x.shape) for x in block.weights]
    sizes = [int(np.prod(shape)) for shape in shapes]
    if isinstance(block, FeedForward):
        matrix, bias = sizes
        return [np.arange(matrix).reshape(shapes[0]), matrix + np.arange(bias)]
    heads = shapes[0][0]
    each = [size // heads for size in sizes[:3]]
    starts, total = np.cumsum([0, *each]), sum(each)
    places = [
        (start + np.arange(heads)[:, None] * total + np.arange(size)).reshape(shape)
        for start, size, shape in zip(starts, each, shapes, strict=False)
    ]
    return [*places, (heads * total + np.arange(sizes[3])).reshape(shapes[3])]


def _in_order(block: Block, weights: list[Array], on: Arithmetic) -> list[Array]:
    """The derivatives with respect to the weights of one block as columns, (b, …) each, in the
    order of `derivatives`."""
    count = weights[0].shape[0]
    if isinstance(block, FeedForward):
        return [part.reshape(count, -1) for part in weights]
    *by_head, output = weights
    flat = [part.reshape(count, part.shape[1], -1) for part in by_head]
    return [on.concatenate(flat, 2).reshape(count, -1), output.reshape(count, -1)]


def _sum(one: Array | None, other: Array | None) -> Array | None:
    if one is None or other is None:
        return other if one is None else one
    return one + other


def _counted(x: Array, times: Any) -> Array:
    return x if times is None else x * times


def _turned(x: Array) -> Array:
    axes = list(range(len(x.shape)))
    axes[-2:] = axes[-1], axes[-2]
    return x.transpose(*axes)
