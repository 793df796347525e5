"""The share of the work that each head of given float weights does."""

from __future__ import annotations

import runpy

import numpy as np
import pytest
from support.paths import ROOT

from attncert.constructions.given.attention import Shape, outputs

heads = runpy.run_path(str(ROOT / "benchmarks" / "heads.py"))["heads"]


@pytest.mark.parametrize("shared", [False, True])
def test_contributions_are_those_of_the_heads_alone(shared: bool) -> None:
    """A head's contribution is that of the layer in which all other heads have the output 0."""
    shape, draw = Shape(3, 2, 3, 2, 2), np.random.default_rng(1)
    contexts, queries = (
        draw.standard_normal((1 if shared else 5, 4, 3)),
        draw.standard_normal((5, 3)),
    )
    weights = draw.standard_normal(shape.parameters)
    found = heads(contexts, queries, weights, shape)
    sizes = []
    for h in range(3):
        alone = weights.copy()
        rest = shape.split(alone)[3]  # a view
        rest[[k for k in range(3) if k != h]] = 0
        given = outputs(contexts, queries, alone, shape)
        sizes.append(np.abs(given - given.mean(axis=0)).max(axis=1))
    assert np.array_equal(found.carrier, np.argmax(sizes, axis=0))
    assert np.allclose(found.share, np.max(sizes, axis=0) / np.sum(sizes, axis=0))
    assert sum(found.carried) == 5


def test_a_planted_division_of_work_is_seen() -> None:
    """Head 1 attends sharply on even examples and not at all on odd ones; head 2, vice versa."""
    shape = Shape(2, 1, 2, 1, 1)
    contexts = np.array([[[0.0, 1.0], [1.0, -1.0]]])
    queries = np.array([[1.0, 0.0] if t % 2 == 0 else [0.0, 1.0] for t in range(6)])
    weights = np.zeros(shape.parameters)
    key, query, value, output = shape.split(weights)
    key[:, :, 0], value[:, :, 0], output[:] = [1, 0], [0, 1], 1
    query[0, :, 0], query[1, :, 0] = [20, 0], [0, 20]
    found = heads(contexts, queries, weights, shape)
    assert found.saturated == (0.5, 0.5)
    assert np.allclose(found.largest[0], [1, 0.5]) and np.allclose(found.largest[1], [0.5, 1])


def test_heads_that_say_nothing_share_nothing() -> None:
    shape = Shape(2, 1, 2, 1, 1)
    found = heads(np.ones((1, 2, 2)), np.ones((3, 2)), np.zeros(shape.parameters), shape)
    assert found.share.tolist() == [0, 0, 0] and found.saturated == (0, 0)
    assert found.as_dict()["carried"] == [3, 0]
