"""One head, then ReLUs (after Kajitsuka and Sato 2024; softmax instead of Boltzmann operators).

One head of width one appends one number to the query: e becomes (e, 1, z) with

    z = Σ_i w_i u·x_i,   w the softmax of the logits α·D·u·x_i in units of ln 2,

D the contexts' common denominator, α = 0, 1, ... an integer. The query weights see only the 1, so z
is a function of the context. A network that reads labels off positions follows.

*Two examples that differ stay different* for some u and α, if "differ" means different queries or
different frequencies of tokens. Queries are unchanged, so let μ and ν be different frequencies, and
u a vector for which all tokens' u·x are different. Let M_μ(α) = Σ μ(x) 2^(α D u·x): its logarithm
has the derivative D z ln 2. If μ and ν have equal z at infinitely many integers α, their z are
equal everywhere: an exponential sum that is not 0 has finitely many zeros. So M_μ and M_ν are
proportional, and equal at 0. Then their coefficients are equal: μ = ν. So all but finitely many α
work for each pair. No softmax layer, with or without a skip connection, separates examples with
equal queries and frequencies: if their labels differ, the error names them.

α = 0, the mean of u·x, is tried first: it keeps z short. The bits of softmax denominators are the
differences of logits, so if these are large, the search ends with an error that says that nothing
is decided.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from flint import fmpq, fmpq_mat, fmpz_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import HypothesisFails
from attncert.constructions.exact import integers
from attncert.constructions.exact.contexts import as_if_once, context_products
from attncert.constructions.exact.hashing import Hashed
from attncert.constructions.layer import Head
from attncert.constructions.network import relu
from attncert.constructions.network.blocks import Attention, Block, FeedForward
from attncert.constructions.network.inputs import (
    Inputs,
    LineNetwork,
    columns,
    conflict,
    hashed,
    refusal,
)
from attncert.constructions.network.network import Network

MAX_SPREAD = 4096  # the largest logit range of an example, in units of ln 2
_DRAWS = 128  # directions u tried


def build(data: Dataset, seed: int = 0) -> LineNetwork:
    """A block that appends (1, 0), attention with a skip connection, and ReLUs that read labels off
    the line of the new queries (e, 1, z): exact.

    Raises HypothesisFails for equal queries and frequencies of tokens with different labels; it is
    undecided if logits up to 4096 do not distinguish the examples.

    >>> data = Dataset.of([[[0], [1]], [[1], [1]]], [[5], [5]], [2, "1/3"])
    >>> build(data).network.outputs(data).entries()
    [2, 1/3]
    """
    pair = conflict(_occurrences(data), data.label_matrix)
    if pair is not None:
        raise refusal("query and frequencies of tokens", pair)
    for u, alpha in _heads(data, seed):
        front = _front(data, u, alpha)
        *_, states = Network(front).states(data)
        if conflict(hashed(states.queries), data.label_matrix) is None:
            inputs = Inputs.merged("query", states.queries, data.label_matrix)
            own = relu.build(inputs, seed)
            return LineNetwork(Network((*front, *own.network.blocks)), own.line, len(front))
    reason = f"no head with logits up to {MAX_SPREAD} was found that tells the examples apart"
    raise HypothesisFails("search", reason, {}, decided=False)


def _occurrences(data: Dataset) -> list[Hashed]:
    """The query and the frequencies of tokens of each example."""
    queries = data.queries.numerators.tolist()
    count = len(data.contexts)
    tokens = [[x for row in sorted(as_if_once(data, t)) for x in row] for t in range(count)]
    return [Hashed([*query, *tokens[t % count]]) for t, query in enumerate(queries)]


def _heads(data: Dataset, seed: int) -> Iterator[tuple[fmpz_mat, int]]:
    """Directions u, each with α = 0 and then, unless its logits are too long, with α = 1."""
    for u in islice(columns(data.d, seed), _DRAWS):
        yield u, 0
        logits = context_products(data, integers.from_flint(u))[:, :, 0]
        spreads = integers.subtract(logits.max(axis=1), logits.min(axis=1))
        if spreads.max() <= MAX_SPREAD:
            yield u, 1


def _front(data: Dataset, u: fmpz_mat, alpha: int) -> tuple[Block, ...]:
    """Blocks that map e to (e, 1, 0) and then to (e, 1, z)."""
    d = data.d
    append = FeedForward(
        weights=fmpq_mat([[int(i == j) for j in range(d + 2)] for i in range(d)]),
        bias=fmpq_mat(1, d + 2, [0] * d + [1, 0]),
    )
    head = Head(
        key=fmpq_mat(u) * fmpq(alpha * data.contexts.denominator),
        query=fmpq_mat(d + 2, 1, [0] * d + [1, 0]),
        value=fmpq_mat(u),
    )
    last = fmpq_mat(1, d + 2, [0] * (d + 1) + [1])
    return append, Attention((head,), last, residual=True)
