"""Token mixing: a first block of attention with a skip connection (paper, Proposition 4).

Where all raw queries are one vector, as the CLS of a model, A1 fails at strength 2, and no single
layer sees more of an input than its context. A first block changes that. The one here has one head
with keys and queries 0, so that all tokens get the same weight, values and output that copy, and
the skip connection: with n tokens,

    x_i -> x_i + (x_1 + ... + x_n)/n,        e -> e + (x_1 + ... + x_n)/n.

**A2 is kept**: the new context is (I + 11ᵀ/n) X, and that matrix has determinant 2. **The queries**
become e plus the mean of the context. So A1 holds after it at the strength at which e + the means
are independent, which is decided on the data, exactly. It cannot where two contexts have one mean,
permutations of one another among them: their queries stay equal. Contexts that are shared as well
as the query give one input again and again, and no weights of any layer tell those apart.
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
