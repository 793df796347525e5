"""Token mixing: a first attention layer with a skip connection, exactly (paper, Proposition 4).

Where all raw queries are one vector, as the CLS of a model, A1 fails at strength 2 and no single
layer sees more of an input than its context. A first layer changes that. The one here has one head
with keys and queries 0, so that every token attends to all of its context alike, values that copy,
and the skip connection: with n rows,

    x_i -> x_i + (x_1 + ... + x_n)/n,        e -> e + (x_1 + ... + x_n)/n.

**A2 is kept**: the new context is (I + 11ᵀ/n) X, and that matrix has determinant 2. **The queries**
become e plus the mean of the context. So A1 holds after it at the strength at which e + the means
are independent, which is decided on the result, exactly. It cannot where two contexts have one
mean, permutations of one another among them: their queries stay equal. Contexts that are shared as
well as the query give one input again and again, and no weights of any layer tell those apart.

Every number is rational: the second layer is built on the result as on any data.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from attncert.constructions.arrays import IntegerArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.exact_array import ExactArray, narrow


def mixed(data: Dataset) -> Dataset:
    """What the second layer sees: contexts and queries after the first one. Exact; labels stay.

    >>> found = mixed(Dataset.of([[[1, 0], [0, 3]], [[2, 0], [0, 1]]], [[0, 0], [0, 0]], [1, 2]))
    >>> found.queries.strings(), found.contexts.strings()[0]
    ([['1/2', '3/2'], ['1', '1/2']], [['3/2', '3/2'], ['1/2', '9/2']])
    """
    counts = [data.tokens(t) for t in range(len(data.contexts))]
    n = math.lcm(*counts)
    rows = data.contexts.numerators.astype(object)  # over D
    real = rows if data.present is None else rows * data.present[:, :, None]
    each = np.array([n // count for count in counts], dtype=object)
    sums = real.sum(axis=1) * each[:, None]  # (T or 1, d): the means, over n D
    contexts = _exact(n * rows + sums[:, None, :], n * data.contexts.denominator)
    below, other = n * data.contexts.denominator, data.queries.denominator
    common = math.lcm(below, other)
    queries = data.queries.numerators.astype(object) * (common // other)
    queries = queries + np.broadcast_to(sums, queries.shape) * (common // below)
    found = _exact(queries, common)
    return replace(data, contexts=contexts, queries=found, name=f"{data.name}-mixed")


def _exact(values: IntegerArray, denominator: int) -> ExactArray:
    """In lowest terms."""
    flat = [int(x) for x in values.ravel().tolist()]
    common = math.gcd(denominator, *flat)
    return ExactArray(narrow([x // common for x in flat], values.shape), denominator // common)
