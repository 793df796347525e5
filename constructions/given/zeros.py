"""Weights with which all outputs are 0, whatever the data: sets of heads share key and query.

The heads of a set share M = KQᵀ, hence z, and add (sum of their V_h O_h)ᵀ z to the output:
0 if the products V_h O_h add up to 0. If the Jacobian of the outputs with respect to all weights
has rank T·m there, every labelling is memorized (docs/given-labels.md, Theorem 12).

k such heads of width w memorize G(k) examples (m = 1, Theorem 14): with j = min(k-1, a),
ρ = min(w, a), i = max(j + ρ - a, 0)

    G(k) = a + jρ(a + d - ρ) - ρ j(j-1)/2 - (d - ρ) i(i-1)/2.

This is proved for almost all data with distinct contexts, and for one shared context with affinely
independent rows. On given data, the rank of a set's Jacobian is the number of labels it memorizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import numpy as np
from flint import fmpq_mat

from attncert.constructions.arrays import IntegerArray
from attncert.constructions.construction import Groups
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.exact import integers
from attncert.constructions.given.law import Spans
from attncert.constructions.layer import Head, Layer, scaled_head

BOUNDS = (3, 30, 999)  # bounds of the random integers; larger integers rarely coincide


@dataclass(frozen=True)
class Zero:
    """A layer whose outputs are 0 on every input, and its heads grouped by key and query."""

    layer: Layer
    sets: Groups

    @property
    def heads(self) -> int:
        return len(self.layer.heads)


def worth(k: int, head_width: int, differences: int, queries: int) -> int:
    """G(k), with d the rank of the queries.

    >>> [worth(k, 1, 4, 4) for k in (1, 2, 3, 4)]
    [4, 11, 17, 22]
    """
    a, d = differences, queries
    rho, j = min(head_width, a, d), min(k - 1, a)
    i = max(j + rho - a, 0)
    return a + j * rho * (a + d - rho) - rho * comb(j, 2) - (d - rho) * comb(i, 2)


def best_sizes(heads: int, head_width: int, spans: Spans) -> tuple[int, ...]:
    """Sizes of the sets that memorize the most labels, with the heads divided evenly.

    >>> best_sizes(12, 1, Spans(768, 0, 768, 1)), best_sizes(5, 1, Spans(4, 0, 4, 1))
    ((12,), (3, 2))
    """

    def even(count: int) -> tuple[int, ...]:
        small, more = divmod(heads, count)
        return (small + 1,) * more + (small,) * (count - more)

    def total(sizes: tuple[int, ...]) -> int:
        each = {k: worth(k, head_width, spans.differences, spans.queries) for k in set(sizes)}
        return sum(each[k] for k in sizes)

    return max((even(count) for count in range(1, heads + 1)), key=total)


def most_examples(sizes: Sequence[int], head_width: int, spans: Spans) -> int:
    """The sum of G(k) plus b: how many labels sets of these sizes memorize (m = 1)."""
    a, d = spans.differences, spans.queries
    return sum(worth(k, head_width, a, d) for k in sizes) + spans.common


def draw_groups(
    data: Dataset,
    sizes: Sequence[int],
    *,
    head_width: int = 1,
    value_width: int | None = None,
    bound: int = BOUNDS[-1],
    seed: int = 0,
) -> Zero:
    """Sets of these sizes with random integers from -bound to bound; a single head has value 0.

    value_width: d_v, default m. If d_v ≥ m, the output of every head is [I; 0]; else each set has
    one random matrix. Exact, and deterministic given the seed. The rank is not examined here.
    """
    rng, d, m = np.random.default_rng([seed, bound]), data.d, data.m
    d_v = m if value_width is None else value_width
    heads: list[Head] = []
    outputs: list[IntegerArray] = []
    sets, start = [], 0
    for k in sizes:
        key, query = (rng.integers(-bound, bound + 1, (d, head_width)) for _ in range(2))
        values = rng.integers(-bound, bound + 1, (k, d, d_v))
        values[-1] = -values[:-1].sum(axis=0)
        output = np.eye(d_v, m, dtype=np.int64)
        if d_v < m:
            output = rng.integers(-bound, bound + 1, (d_v, m))
        heads += [scaled_head(data, key, query, value) for value in values]
        outputs += [output] * k
        sets.append(tuple(range(start, start + k)))
        start += k
    output = fmpq_mat(integers.to_flint(np.vstack(outputs)))
    return Zero(Layer(tuple(heads), output), tuple(sets))


def draw_layer(
    data: Dataset,
    heads: int,
    head_width: int = 1,
    value_width: int | None = None,
    *,
    bound: int = BOUNDS[-1],
    seed: int | Sequence[int] = 0,
) -> Layer:
    """A layer with random integers from -bound to bound as entries. value_width: default m."""
    rng, d, m = np.random.default_rng(seed), data.d, data.m
    d_v = m if value_width is None else value_width

    def draw(*shape: int) -> IntegerArray:
        return rng.integers(-bound, bound + 1, shape)

    drawn = tuple(
        scaled_head(data, draw(d, head_width), draw(d, head_width), draw(d, d_v))
        for _ in range(heads)
    )
    return Layer(drawn, fmpq_mat(integers.to_flint(draw(heads * d_v, m))))
