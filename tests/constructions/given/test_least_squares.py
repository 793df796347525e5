"""Fitting given labels: derivatives, the two linear systems, layers of any widths, and failures."""

from __future__ import annotations

import math
from typing import Any

import array_api_strict
import numpy as np
import pytest

from attncert.constructions.given.attention import Shape, jacobian, outputs
from attncert.constructions.given.least_squares import Descent, descend, direction, smaller

SHAPES = [Shape(4, 1, 3, 1, 1), Shape(4, 2, 3, 2, 3), Shape(3, 3, 2, 2, 1), Shape(2, 1, 1, 3, 2)]


def arrays(
    T: int, n: int, d: int, m: int, seed: int, shared: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    contexts = draw.standard_normal((1 if shared else T, n, d))
    return contexts, draw.standard_normal((T, d)), draw.standard_normal((T, m))


def fitted(T: int, n: int, shape: Shape, seed: int = 0, shared: bool = False) -> Descent:
    return descend(*arrays(T, n, shape.d, shape.m, seed, shared), shape, seed)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_derivatives_are_those_of_the_outputs(shape: Shape, shared: bool) -> None:
    contexts, queries, _ = arrays(5, 3, shape.d, shape.m, 1, shared)
    weights = np.random.default_rng(2).standard_normal(shape.parameters)

    def value(x: np.ndarray) -> np.ndarray:
        return outputs(contexts, queries, x, shape)

    found, derivative = jacobian(contexts, queries, weights, shape)
    assert np.allclose(found, value(weights), rtol=0, atol=1e-12)
    step = 1e-6 * np.eye(shape.parameters)
    slopes = [(value(weights + s) - value(weights - s)) / 2e-6 for s in step]
    assert np.allclose(derivative, np.stack(slopes, axis=-1), rtol=0, atol=1e-7)
    fewer = jacobian(contexts, queries, weights, shape, shape.attention)[1]
    assert np.array_equal(fewer, derivative[..., : shape.attention])


def test_outputs_are_those_of_attention() -> None:
    """The outputs are those of the definition, computed for one example and head at a time."""
    shape = SHAPES[1]
    contexts, queries, _ = arrays(3, 4, shape.d, shape.m, 3)
    weights = np.random.default_rng(4).standard_normal(shape.parameters)
    K, Q, V, O = shape.split(weights)  # noqa: E741
    for t, row in enumerate(outputs(contexts, queries, weights, shape)):
        total = np.zeros(shape.m)
        for h in range(shape.heads):
            powers = np.exp(contexts[t] @ K[h] @ Q[h].T @ queries[t])
            total += O[h].T @ V[h].T @ contexts[t].T @ (powers / powers.sum())
        assert np.allclose(row, total)


@pytest.mark.parametrize("size", [(4, 9), (9, 4), (5, 5)])
def test_both_systems_give_the_damped_least_squares_step(size: tuple[int, int]) -> None:
    draw = np.random.default_rng(0)
    J, f = draw.standard_normal(size), draw.standard_normal(size[0])
    below = np.sqrt(0.3) * np.eye(size[1])
    step = np.linalg.lstsq(np.vstack([J, below]), np.r_[-f, np.zeros(size[1])], rcond=None)[0]
    assert np.allclose(direction(J, smaller(J), f, 0.3), step)


@pytest.mark.parametrize(("T", "shape"), [(6, SHAPES[1]), (2, SHAPES[2]), (4, SHAPES[3])])
def test_any_widths(T: int, shape: Shape) -> None:
    """There are several labels, and values narrower and wider than the labels."""
    for shared in (False, True):
        assert fitted(T, 3, shape, 1, shared).converged


def test_labels_out_of_reach_are_not_found() -> None:
    """There are twice as many labels as parameters, or examples differ only in their labels."""
    shape = Shape(3, 1, 1, 1, 1)
    found = fitted(18, 2, shape)
    assert not found.converged and found.why and found.error > 0.01
    contexts, queries, labels = arrays(4, 2, 3, 1, 0)
    contexts[1], queries[1] = contexts[0], queries[0]
    assert not descend(contexts, queries, labels, Shape(3, 1, 3, 1, 1), 0).converged


def test_a_damping_lost_in_rounding_ends_no_fit() -> None:
    """Two examples differ only in the label, by 10⁻¹⁰: J Jᵀ is singular, and μ is tiny."""
    J = np.array([[1.25, 0.0], [1.25, 0.0]])
    assert np.isnan(direction(J, smaller(J), np.ones(2), 1e-30)).all()
    labels = np.array([[0.5], [0.5 + 1e-10]])
    found = descend(np.full((1, 1, 1), 1.25), np.ones((2, 1)), labels, Shape(1, 1, 1, 1, 1), 0)
    assert not found.converged and found.error == pytest.approx(5e-11, rel=0.1)


def test_numbers_beyond_the_floats_end_the_fit() -> None:
    contexts, queries, _ = arrays(5, 3, 4, 1, 0)
    found = descend(contexts, queries, np.full((5, 1), math.inf), Shape(4, 1, 2, 1, 1), 0)
    assert not found.converged and "range of float64" in found.why


def test_the_same_code_runs_on_any_array_library() -> None:
    data: list[Any] = [array_api_strict.asarray(x) for x in arrays(20, 3, 4, 1, 0)]
    found = descend(*data, Shape(4, 1, 3, 1, 1), 0)
    assert found.converged and type(found.weights).__module__.startswith("array_api_strict")
    plain = fitted(20, 3, Shape(4, 1, 3, 1, 1))
    assert len(plain.steps) == len(found.steps)
    assert np.allclose(plain.weights, np.asarray(found.weights), rtol=1e-6, atol=1e-8)


def test_weights_beyond_floats_are_not_found() -> None:
    """For contexts E of denormal numbers, values of size 1/E exceed the largest float."""
    shape = SHAPES[1]
    contexts, queries, labels = arrays(4, 3, shape.d, shape.m, 1)
    assert descend(contexts, queries, labels, shape, 0).converged
    tried = descend(contexts * 1e-310, queries, labels, shape, 0)
    assert not tried.converged and "beyond the range of float64" in tried.why
