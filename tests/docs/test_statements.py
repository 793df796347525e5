"""Counterexamples that pin down the wording of statements in docs/; the code evaluates each."""

from __future__ import annotations

import numpy as np
import pytest

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import HypothesisFails
from attncert.constructions.given.attention import Shape, jacobian
from attncert.constructions.given.law import spans
from attncert.constructions.paper.theorem import build
from attncert.verify.assumptions.hypotheses import kruskal_at_least
from attncert.verify.claims.evidence import Level
from attncert.verify.limits.tightness.limits import largest_rank
from attncert.verify.limits.tightness.relations.probes import best_rank
from attncert.verify.limits.tightness.relations.rows import broken_relation, row_relations

EYE = np.eye(3, dtype=int).tolist()


def test_a1_asks_for_every_min_of_n_and_T_queries() -> None:
    """At T = 2 < n = 3 "every n queries" is vacuous, but equal queries need equal labels."""
    data = Dataset.of(EYE, [[1, 2, 0], [1, 2, 0]], [0, 1])
    assert kruskal_at_least(data, data.n, "A1", 0).level is Level.REFUTED
    assert broken_relation(data) is not None
    with pytest.raises(HypothesisFails):
        build(data, head_width=2, heads=1)


@pytest.mark.parametrize(
    ("contexts", "queries"),
    [
        ([[1, 0]], [[1, 0], [0, 1]]),  # n = 1: the centred row is 0
        ([[1, 2], [1, 2]], [[1, 0], [0, 1]]),  # equal rows
        ([[[1, 0], [0, 1]], [[0, 0], [1, 1]]], [[0, 0], [0, 0]]),  # queries 0, equal means
    ],
)
def test_examples_that_attention_does_not_see_are_in_no_class(
    contexts: list[object], queries: list[list[int]]
) -> None:
    data = Dataset.of(contexts, queries, [0, 1])
    (relation,) = row_relations(data)
    assert (relation.indices, relation.coefficients) == ((0, 1), (1, -1))


def test_affinely_independent_rows_do_but_for_the_last_of_a_full_first_group() -> None:
    """For contexts of rank n - 1, n - 1 examples can be placed, but n cannot."""
    context = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    two, three = (Dataset.of(context, EYE[:T], [0] * T) for T in (2, 3))
    assert best_rank(two, 1, 2).rank == 2
    assert largest_rank(three, 1)[0] == 2


def diagonal(T: int, n: int) -> Dataset:
    """docs/tightness.md, 7.3: contexts diag(t, 1, ..., 1), one query."""
    contexts = [np.diag([t, *[1] * (n - 1)]).tolist() for t in range(1, T + 1)]
    return Dataset.of(contexts, [[1, *[2] * (n - 1)]] * T, [0] * T)


@pytest.mark.parametrize(("n", "heads"), [(3, 1), (3, 2), (4, 1)])
def test_contexts_of_rank_n_without_a_relation_may_need_more_heads(n: int, heads: int) -> None:
    """For H heads of any width, rank Z <= 2H < H(n-1) + 1; with more heads the rank is full."""
    T = heads * (n - 1) + 1
    data = diagonal(T, n)
    assert row_relations(data) == ()
    assert {best_rank(data, heads, T, width=w).rank for w in (1, n)} == {2 * heads}
    assert best_rank(data, -(-T // 2), T).rank == T


def test_that_example_needs_a_query_that_is_not_zero() -> None:
    """A zero query sees only the means of the rows, which span two dimensions. Also, equal queries
    refute nothing if the contexts differ (docs/paper.md, sections 2 and 4)."""
    assert best_rank(diagonal(2, 3), 1, 2).rank == 2
    contexts = diagonal(4, 3).contexts.floats().astype(int).tolist()
    at_zero = Dataset.of(contexts, [[0, 0, 0]] * 4, [0] * 4)
    assert best_rank(at_zero, 2, 4).rank == 2 < best_rank(diagonal(4, 3), 2, 4).rank


def degenerate(seed: int) -> Dataset:
    """Affinely independent rows, contexts scaled, shifted and permuted; queries on one ray or 0."""
    rng = np.random.default_rng(seed)
    n, T = int(rng.integers(1, 4)), int(rng.integers(3, 7))
    corner = np.array([[0, 0], [1, 0], [0, 1]])[:n]
    contexts, queries = [], []
    for _ in range(T):
        shift, factor = rng.integers(0, 2, 2), int(rng.choice([-1, 1, 2]))
        contexts.append((factor * corner[rng.permutation(n)] + shift).tolist())
        queries.append([int(rng.integers(-1, 3)), 0])
    return Dataset.of(contexts, queries, [0] * T)


@pytest.mark.parametrize("seed", range(12))
def test_enough_heads_reach_what_the_relations_leave(seed: int) -> None:
    """This is theorem 6 of docs/tightness.md, with theorem 3 of docs/width-one.md."""
    data = degenerate(seed)
    most = data.T - len(row_relations(data))
    assert best_rank(data, data.T, most, width=1).rank == most
    one, full = (best_rank(data, 2, data.T, width=w).rank for w in (1, data.d))
    assert one == full


def test_queries_that_are_all_zero_have_a_zero_of_full_rank() -> None:
    """Proposition 15 of docs/given-labels.md needs a query that is not 0: here N = T = rank J = 1
    where the output is 0."""
    data = Dataset.of([[0], [2]], [[0]], [1])
    assert spans(data).bound(1, 1, 1) == 1
    shape, weights = Shape(1, 1, 1, 1, 1), np.array([1.0, 1.0, 0.0, 1.0])  # key, query, value 0
    outputs, J = jacobian(data.contexts.floats(), data.queries.floats(), weights, shape, 3)
    assert outputs == 0 and np.linalg.matrix_rank(J[0]) == 1
