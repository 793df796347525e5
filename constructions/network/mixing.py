"""Token mixing: a first block of attention with a skip connection (paper, Proposition 4).

If all raw queries are equal (say, the CLS token of a model), A1 fails at strength 2, and a
single layer sees only the context of an input. A first block changes that. The block here has a
single head with keys and queries 0, so that all tokens get the same weight, identity values and
output, and a skip connection: with n tokens,

    x_i -> x_i + (x_1 + ... + x_n)/n,        e -> e + (x_1 + ... + x_n)/n.

**A2 is preserved**: the new context is (I + 11ᵀ/n) X, and I + 11ᵀ/n has determinant 2. **The
queries** become e plus the mean of the context. So A1 holds after the block at the strength at
which these sums are independent, which is decided exactly from the data. If two contexts have the
same mean, for instance because they are permutations of one another, their queries stay equal. If
contexts and queries are both shared, all inputs are equal, and no weights of any layer tell them
apart.
"""

from __future__ import annotations

from flint import fmpq_mat

from attncert.constructions.layer import Head
from attncert.constructions.network.blocks import Attention
from attncert.constructions.network.network import Network


def mean(d: int) -> Network:
    """The block that adds the mean of the tokens to every token and to the query, for width d.

    >>> from attncert.constructions.data.dataset import Dataset
    >>> data = Dataset.of([[[1, 0], [0, 3]], [[2, 0], [0, 1]]], [[0, 0], [0, 0]], [1, 2])
    >>> mixed = mean(2).apply(data)
    >>> mixed.queries.strings(), mixed.contexts.strings()[0]
    ([['1/2', '3/2'], ['1', '1/2']], [['3/2', '3/2'], ['1/2', '9/2']])
    """
    zeros, copy = fmpq_mat(d, 1), fmpq_mat(d, d, [i == j for i in range(d) for j in range(d)])
    return Network((Attention((Head(zeros, zeros, copy),), copy, of="all", residual=True),))
