"""Compares the dimension count N with the Jacobian's rank, and ranks with plain elimination."""

from __future__ import annotations

import numpy as np
import pytest
from support.newton import data_set

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.given.attention import Shape, jacobian
from attncert.constructions.given.law import Spans, law, spans

# n, d, m, shared, H, d_h, d_v: for enough examples, J has rank N
REACHED = [
    (3, 4, 1, False, 2, 1, 1),
    (4, 3, 1, False, 2, 2, 1),
    (3, 4, 1, True, 2, 1, 1),
    (3, 4, 1, True, 2, 3, 1),
    (5, 3, 1, True, 2, 2, 1),
    (3, 4, 2, True, 2, 1, 2),
    (3, 4, 3, True, 3, 1, 2),
    (2, 4, 3, True, 1, 2, 2),
    (3, 3, 2, False, 3, 1, 2),
    (3, 3, 3, False, 4, 2, 2),
    (1, 3, 2, False, 2, 1, 2),
    (1, 4, 3, True, 1, 1, 2),
    (1, 3, 3, False, 1, 1, 2),
    (1, 4, 5, False, 2, 1, 2),
]


@pytest.mark.parametrize("case", REACHED)
def test_the_bound_is_the_rank_at_many_examples(case: tuple[int, ...]) -> None:
    n, d, m, shared, heads, head_width, value_width = case
    data = data_set(60, n, d, m, shared=bool(shared), seed=3)
    shape = Shape(d, m, heads, head_width, value_width)
    weights = np.random.default_rng(0).standard_normal(shape.parameters)
    J = jacobian(data.contexts.floats() / 4, data.queries.floats() / 4, weights, shape)[1]
    values = np.linalg.svd(J.reshape(-1, shape.parameters), compute_uv=False)
    found = int((values > 1e-10 * values[0]).sum())
    assert found == spans(data).bound(heads, head_width, value_width)


@pytest.mark.parametrize("big", [1, 10**30])
def test_spans_of_degenerate_data(big: int) -> None:
    contexts = [[[big, 0, 1], [2 * big, 0, 1]], [[0, 0, 1], [5, 0, 1]]]
    data = Dataset.of(contexts, [[1, 2, 3], [2, 4, 6]], [1, 2])
    assert spans(data) == Spans(1, 1, 1, 1)
    constant = Dataset.of([[1, 2], [1, 2]], [[1, 2], [2, 1]], [1, 2])
    assert spans(constant) == Spans(0, 1, 2, 1)
    assert spans(constant).fewest_heads(2, 1, 1) is None
    assert spans(constant).fewest_heads(1, 1, 1) == 1


def test_examples_that_share_a_context_have_a_bound_of_their_own() -> None:
    """Ten of 14 examples share a context (a = b = 1); H heads of width one then have rank 4 H + 1
    on these ten."""
    data = data_set(14, 2, 3, seed=5)
    contexts = data.contexts.fractions()
    contexts[:10] = [contexts[0]] * 10
    some = Dataset.of(contexts, data.queries.fractions(), data.labels.fractions())
    found = law(some)
    assert [size for size, _ in found.parts] == [14, 10]
    assert found.whole.bound(2, 1, 1) == 16 and found.bound(2, 1, 1) == 4 * 2 + 1 + 4 == 13
    assert found.whole.fewest_heads(14, 1, 1) == 2 and found.fewest_heads(1, 1) == 3
    shape = Shape(3, 1, 2, 1, 1)
    weights = np.random.default_rng(0).standard_normal(shape.parameters)
    J = jacobian(some.contexts.floats(), some.queries.floats(), weights, shape)[1][:, 0]
    assert np.linalg.matrix_rank(J) == 13
    assert len(law(data).parts) == 1 and law(data_set(9, 2, 3, shared=True)).parts[0][0] == 9
