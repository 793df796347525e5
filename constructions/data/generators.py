"""Exact data sets for examples: random ones, and a relation that no weights break."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.exact_array import ExactArray


def random(
    T: int,
    n: int,
    d: int,
    *,
    m: int = 1,
    shared: bool = False,
    bound: int = 9,
    denominator: int = 1,
    seed: int = 0,
) -> Dataset:
    """Independent entries a/b, a uniform in [-bound, bound], b in [1, denominator].

    >>> data = random(5, 2, 3, m=2, shared=True, denominator=6, seed=1)
    >>> data.contexts.shape, data.queries.shape, data.labels.shape
    ((1, 2, 3), (5, 3), (5, 2))
    """
    rng = np.random.default_rng(seed)

    def draw(*shape: int) -> ExactArray:
        top = rng.integers(-bound, bound, shape, endpoint=True)
        if denominator == 1:
            return ExactArray(top)
        bottom = rng.integers(1, denominator, shape, endpoint=True)
        pairs = zip(top.ravel().tolist(), bottom.ravel().tolist(), strict=True)
        return ExactArray.of([Fraction(p, q) for p, q in pairs]).reshape(shape)

    return Dataset(draw(1 if shared else T, n, d), draw(T, d), draw(T, m), "random")


def signed_pairs() -> Dataset:
    """Queries e, -e, f, -f and one shared context with n = 2: A(e) + A(-e) = A(f) + A(-f) always.

    With two tokens, the softmax weights at q and -q add up to (1, 1), whatever the weights; the
    labels 1, 0, 0, 0 violate the relation, so no layer memorizes them.
    """
    queries = [[1, 2], [-1, -2], [3, 1], [-3, -1]]
    return Dataset.of([[1, 0], [0, 1]], queries, [1, 0, 0, 0], "signed-pairs")
