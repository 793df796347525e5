"""Starting weights for shared contexts: each part finds planted answers; fits reach the stated
T."""

from __future__ import annotations

import math
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from support.shares import share

from attncert import Dataset, Fit, fit
from attncert.constructions.given import shared
from attncert.constructions.given.attention import Shape, outputs
from attncert.constructions.given.least_squares import descend
from attncert.verify.claims.evidence import Level


def uniform(
    T: int, n: int, d: int, contexts: int = 1, seed: int = 2024
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Data as in the experiments, from 0 to 1 in steps of 1/64, with labels in steps of 1/1024."""
    draws = [np.random.default_rng([k, seed]) for k in range(3)]
    tokens = draws[0].integers(0, 65, (contexts, n, d)) / 64
    return tokens, draws[1].integers(0, 65, (T, d)) / 64, draws[2].integers(0, 1025, (T, 1)) / 1024


def one(d: int, heads: int = 1) -> Shape:
    return Shape(d, 1, heads, 1, 1)


def test_whitening_leaves_the_layer_as_it_is() -> None:
    contexts, queries, _ = uniform(30, 4, 6)
    A, B = shared.whitening(contexts[0]), shared.whitening(queries)
    E, X = contexts @ A, queries @ B
    assert np.allclose(X.T @ X, 30 * np.eye(6))
    assert np.allclose(E[0] @ E[0].T, 4 * np.eye(4))
    weights = np.random.default_rng(0).standard_normal(one(6, 3).parameters)
    back = shared.unwhitened(weights, one(6, 3), A, B)
    there = outputs(E, X, weights, one(6, 3))
    assert np.allclose(outputs(contexts, queries, back, one(6, 3)), there)
    assert not np.allclose(outputs(contexts, queries, weights, one(6, 3)), there)


@pytest.mark.parametrize("m", [4, 6])
def test_a_curve_turns_as_often_as_it_should(m: int) -> None:
    """Sign changes are counted from the definition, at more points than the construction uses."""
    draw, E = np.random.default_rng(0), np.eye(6)
    curves = shared.turning(draw, E, E, m, 3)
    sizes = [np.abs(levels).max() for _, levels in curves]
    assert sizes == sorted(sizes) and sizes[0] > 1
    for slopes, levels in curves:
        signs = []
        for s in np.linspace(-6, 6, 999):
            powers = [math.exp(slope * s) for slope in slopes]
            height = sum(p * w for p, w in zip(powers, levels, strict=True)) / sum(powers)
            if abs(height) > 0.99:
                signs.append(height > 0)
        assert sum(a != b for a, b in pairwise(signs)) == m - 1


def test_crossings_are_the_roots() -> None:
    s = np.linspace(-6, 6, 481)
    assert np.allclose(shared.crossings((s - 1.234) * (s + 2.345)), [-2.345, 1.234], atol=1e-3)
    assert np.allclose(shared.crossings((s - 1) ** 2 + 1), [1])


def test_the_nearest_solutions_are_the_planted_ones() -> None:
    """X q is found among decoys, and no result improves if two of its solutions are replaced."""
    draw = np.random.default_rng(1)
    X = draw.standard_normal((9, 5))
    R = np.eye(9) - X @ np.linalg.pinv(X)
    planted = X @ draw.standard_normal(5)
    solutions = [np.append(s, draw.standard_normal(2)) for s in planted]
    ends = [shared.nearest(draw, R, solutions) for _ in range(20)]
    assert any(np.array_equal(end, planted) for end in ends)
    for end in ends[:5]:
        least = float(np.sum((R @ end) ** 2))
        for i, j in combinations(range(9), 2):
            for first, second in product(solutions[i], solutions[j]):
                changed = end.copy()
                changed[[i, j]] = first, second
                assert np.sum((R @ changed) ** 2) > least - 1e-8


@pytest.mark.slow
def test_one_head_reaches_as_many_as_it_has_parameters() -> None:
    """One head fits T = N = d + 2(n - 1) labels but no more; started from small weights, fewer."""
    for seed in range(4):
        data = uniform(30, 4, 24, seed=seed)
        assert shared.search(*data, one(24), 0).converged
        assert not descend(*data, one(24), 0).converged
    assert not shared.search(*uniform(34, 4, 24), one(24), 0).converged


@pytest.mark.slow
def test_more_heads_reach_more() -> None:
    data, shape = uniform(92, 8, 16), one(16, 4)
    tried = shared.search(*data, shape, 0)
    assert tried.converged and not descend(*data, shape, 0).converged
    assert np.abs(outputs(*data[:2], tried.weights, shape) - data[2]).max() < 1e-9
    again = shared.search(*data, shape, 0)
    assert np.array_equal(tried.weights, again.weights)
    assert not np.array_equal(tried.weights, shared.search(*data, shape, 1).weights)


@pytest.mark.parametrize("wide", [Shape(4, 1, 2, 2, 1), Shape(4, 1, 2, 1, 2)])
def test_other_layers_begin_with_small_weights(wide: Shape) -> None:
    for contexts, shape in ((1, wide), (9, one(4, 2))):
        data = uniform(9, 3, 4, contexts)
        found = shared.search(*data, shape, 3)
        assert np.array_equal(found.weights, descend(*data, shape, 3).weights)


def test_few_tokens_begin_with_small_weights() -> None:
    """The five tokens have rank three."""
    contexts, queries, labels = uniform(9, 5, 4)
    contexts[0, 3:] = contexts[0, :2] + contexts[0, 1:3]
    found = shared.search(contexts, queries, labels, one(4, 2), 3)
    assert np.array_equal(found.weights, descend(contexts, queries, labels, one(4, 2), 3).weights)


TOKENS = [[1, 2, 0, 0], [0, 1, 0, 3], [1, 0, 1, 0], [0, 0, 2, 1]]
DEGENERATE = {
    "tokens that repeat": ([*TOKENS, *TOKENS[:2], [0] * 4], np.eye(4)[:2] + 1, [1, 2]),
    "queries on a line": (TOKENS, [[1, 0, 1, 0], [2, 0, 2, 0]], [1, 3]),
    "queries zero": (TOKENS, np.zeros((2, 4)), [3, 3]),
    "one example": (TOKENS, [[1, 2, 3, 4]], [5]),
    "equal labels": (TOKENS, np.eye(4), [7, 7, 7, 7]),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("heads", share([1, 2], 2))
@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_data(name: str, heads: int) -> None:
    contexts, queries, labels = (np.array(part, dtype=float) for part in DEGENERATE[name])
    data = contexts[None], queries, labels[:, None]
    assert any(shared.search(*data, one(4, heads), seed).converged for seed in range(2))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("heads", "n", "T"), [(1, 4, 70), (1, 6, 74), (1, 8, 76), (10, 32, 700), (10, 32, 720)]
)
def test_what_is_certified_at_d_64(heads: int, n: int, T: int) -> None:
    """One head fits T = N labels except at n = 8; from small weights, ten heads fitted only 625."""
    answer = fit(Dataset.of(*uniform(T, n, 64)), Fit(heads=heads))
    assert answer.standing is Level.ENCLOSED
    assert heads > 1 or answer.law.bound(1, 1, 1) == T + 2 * (n == 8)
