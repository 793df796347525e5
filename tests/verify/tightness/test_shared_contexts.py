"""The largest rank of shared contexts, against enumeration."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.oracles import rank
from support.tightness_cases import EYE, found, random_layers, shared, true_rank

from attncert.constructions.data import generators
from attncert.constructions.data.dataset import Dataset
from attncert.verify.claims.evidence import Level
from attncert.verify.tightness.relations.rows import row_relations
from attncert.verify.tightness.shared_contexts import separated
from attncert.verify.tightness.shared_contexts.largest_rank import largest_rank, shared_capacity
from attncert.verify.tightness.shared_contexts.separated import separated_layer

# Shared contexts: the largest rank, exactly.


@pytest.mark.parametrize(("n", "heads", "span"), [(3, 2, 4), (3, 3, 4), (4, 2, 4), (2, 3, 3)])
def test_the_proofs_weights_for_all_small_queries_on_a_line(n: int, heads: int, span: int) -> None:
    """Every set of H(n-1)+1 integers from -span to span: 126, 36, 36 and 35 data sets."""
    for alphas in itertools.combinations(range(-span, span + 1), heads * (n - 1) + 1):
        data = shared([[a, *[0] * n] for a in alphas], n)
        largest = largest_rank(data, heads)
        if n > 2:
            assert largest.rank == data.T
        layer = separated_layer(data, heads, largest.examples, largest.rank).layer
        assert true_rank(data, layer) == largest.rank
        assert all(head.width == 1 for head in layer.heads)


@st.composite
def degenerate(draw: st.DrawFn) -> tuple[Dataset, int]:
    """A shared or permuted context of rank n, queries with repetitions, signs and zeros."""
    n, heads = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    vector = st.lists(st.integers(-2, 2), min_size=n, max_size=n)
    basis = draw(st.lists(vector, min_size=1, max_size=2))
    T = draw(st.integers(1, heads * (n - 1) + 3))
    weights = draw(
        st.lists(
            st.lists(st.integers(-3, 3), min_size=len(basis), max_size=len(basis)),
            min_size=T,
            max_size=T,
        )
    )
    queries = [
        [sum(w * b[j] for w, b in zip(row, basis, strict=True)) for j in range(n)]
        for row in weights
    ]
    orders = draw(st.lists(st.permutations(range(n)), min_size=T, max_size=T))
    context = [[int(i == j) + (i * j) % 3 for j in range(n)] for i in range(n)]
    context = context if rank(context) == n else EYE[:n]
    context = [row[:n] for row in context]
    return Dataset.of([[context[i] for i in order] for order in orders], queries, [0] * T), heads


@settings(max_examples=30, deadline=None)
@given(degenerate(), st.integers(0, 9))
def test_the_largest_rank_is_reached_and_never_exceeded(
    case: tuple[Dataset, int], seed: int
) -> None:
    data, heads = case
    claims = found(shared_capacity(data, heads, draws=1, seed=seed))
    largest = largest_rank(data, heads).rank
    assert claims["shared.reached"].numbers["rank"] == largest
    universal = claims["shared.universal"].level
    assert universal is (Level.PROVED if largest == data.T else Level.REFUTED)
    assert largest <= data.T - len(row_relations(data))
    for layer in random_layers(data, heads, seed, 4):
        assert true_rank(data, layer) <= largest


def test_the_largest_rank_with_many_heads_is_that_of_the_row_relations() -> None:
    """Two independent counts of what no weights tell apart."""
    rng = random.Random(3)
    for n in (2, 3):
        for _ in range(30):
            line = [[rng.randint(-2, 2), rng.randint(0, 1), 0, 0] for _ in range(6)]
            data = shared(line, n)
            assert largest_rank(data, 6).rank == 6 - len(row_relations(data))


def test_when_it_does_not_apply() -> None:
    for data in (generators.random(3, 2, 3, seed=0), Dataset.of([[1, 2], [2, 4]], [[1, 0]], [0])):
        (claim,) = shared_capacity(data, 2)
        assert claim.level is Level.NOT_APPLICABLE


def test_weights_that_fall_short_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(separated, "rank_of", lambda data, layer: (1, 7))
    with pytest.raises(RuntimeError):
        separated_layer(shared([[1, 0, 0], [2, 0, 0]], 2), 1, [0, 1], 2)
