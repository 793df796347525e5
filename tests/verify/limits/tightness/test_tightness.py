"""Tests statements about all weights on particular weights.

The oracles compute features in Python integers modulo a prime of their own, or in Fractions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.oracles import SAFE_PRIME, features_mod, rank_mod
from support.strategies import datasets, families
from support.tightness_cases import adversarial_layers, found, random_layers, true_rank

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.given.law import spans
from attncert.verify.limits.tightness.columns import column_bound, columns
from attncert.verify.limits.tightness.relations import probes
from attncert.verify.limits.tightness.relations.rows import row_relations


def product_mod(a: Sequence[Sequence[int]], b: Sequence[Sequence[int]]) -> list[list[int]]:
    columns = list(zip(*b, strict=True))
    return [
        [sum(x * y for x, y in zip(r, c, strict=True)) % SAFE_PRIME for c in columns] for r in a
    ]


# The columns of Z: the spans of the contexts.


@settings(max_examples=60, deadline=None)
@given(st.one_of(datasets(max_T=6), families()), st.integers(1, 3), st.integers(0, 9))
def test_no_weights_exceed_the_bound(data: Dataset, heads: int, seed: int) -> None:
    bound = columns(data, heads)
    for layer in (*random_layers(data, heads, seed), *dict(adversarial_layers(
            data, heads, seed)).values()):  # fmt: skip
        assert rank_mod(features_mod(data, layer), SAFE_PRIME) <= bound.rank
        assert bound.rank <= spans(data).features(heads)


def test_a_few_examples_exclude_all() -> None:
    """Six examples share a context of two tokens; one head serves two of them and four others."""
    rng = np.random.default_rng(0)
    contexts = rng.integers(-3, 4, (10, 2, 6))
    contexts[:6] = contexts[0]
    data = Dataset.of(contexts, rng.integers(-3, 4, (10, 6)), [0] * 10)
    claims = found(column_bound(data, 1))
    assert spans(data).features(1) == claims["tightness.bound"].numbers["bound"] == 6
    claims = found(column_bound(data, 3))
    assert claims["tightness.bound"].numbers["bound"] == 3 + 1 + 4 < spans(data).features(3)
    assert claims["tightness.spans"].witness == {"S": [0, 1, 2, 3, 4, 5]}


# The rows of Z: inputs that no weights tell apart.


@settings(max_examples=60, deadline=None)
@given(st.one_of(datasets(max_T=6), families()), st.integers(0, 9))
def test_rows_are_tied(data: Dataset, seed: int) -> None:
    for layer in random_layers(data, 2, seed):
        table = features_mod(data, layer)
        for relation in row_relations(data):
            part = [table[t] for t in relation.indices]
            assert not any(product_mod([relation.coefficients], part)[0])


@st.composite
def two_token_data(draw: st.DrawFn) -> Dataset:
    """Data with n = 2, few differences between tokens and few queries, so that relations abound."""
    T = draw(st.integers(1, 5))
    vector = st.lists(st.integers(-1, 1), min_size=2, max_size=2)
    first = draw(st.lists(vector, min_size=T, max_size=T))
    gap = draw(st.lists(st.sampled_from([[1, 0], [-1, 0], [2, 0], [0, 1]]), min_size=T, max_size=T))
    contexts = [[p, [p[0] + g[0], p[1] + g[1]]] for p, g in zip(first, gap, strict=True)]
    return Dataset.of(contexts, draw(st.lists(vector, min_size=T, max_size=T)), [0] * T)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(two_token_data())
def test_for_two_tokens_there_are_no_other_relations(data: Dataset) -> None:
    """With T heads, the rank is T minus the number of relations, so there are no more."""
    best = probes.best_rank(data, data.T, data.T - len(row_relations(data)), draws=12)
    assert true_rank(data, best.layer) == data.T - len(row_relations(data))
