"""Initial weights for heads of width one on one shared context with scalar labels (ours).

Head h gives example t the number g(s) = Σ w_i exp(μ_i s) / Σ exp(μ_i s) at s = q·e_t, with μ = E k
and w = E v. Small random weights make g nearly linear in s, and the search then stops near H d
examples (docs/shared-contexts.md). The search needs heads whose g has turning points, and data with
the same scale in all directions. Heads on fewer than four independent tokens have few turns, so
they begin with small weights.

**Whitening.** Let X be the queries, row by row, X = U S Vᵀ its singular value decomposition, r its
number of rows. X A with A = √r V S⁻¹ Vᵀ has uncorrelated columns of mean square one. Query weights
q for X A are query weights A q for X. In the same way, the rows of the context become orthogonal.

**Turns.** g is a combination of the n columns of softmax rows p(s). Draw μ, take m points s where
the p(s) are well conditioned (the first pivots of a QR decomposition of pᵀ), prescribe ±1 at them,
alternating in the order of s, and solve for w: g turns m - 2 times. Each further turn doubles or
triples |w|. So μ is drawn many times, and the draws with the least |w| are taken. A head without
turns reaches d examples, and each turn adds one: so m is T/H - d + 2, but at most 14 (8 for a
single head, since the search below takes time proportional to m² T²).

**One head** can reach T = N, but then q is not free: for every t, s = X q must be one of the up to
n - 1 solutions of g(s) = y_t. Let R project onto the left kernel of X. Starting from random
solutions, the change of at most two of them that lowers |R s|² most is made repeatedly, until none
lowers it; then q = X⁺ s. Of several results, the one with the shortest first Newton step is taken.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from scipy.linalg import qr
from scipy.special import softmax

from attncert.constructions.arrays import FloatArray
from attncert.constructions.given.attention import Array, Shape, jacobian
from attncert.constructions.given.least_squares import Descent, descend

_TOKENS = 4
_GRID = np.linspace(-6, 6, 481)  # values of s
_SLOPES = (1.6, 6.0)  # range of the largest μ
_DRAWS = 500
_MOST_POINTS, _MOST_OF_ONE = 14, 8  # the largest m in general, and for one head
_ENDS = 30  # results of the search for solutions with one head
_GAIN = 1e-9  # the search ends if |R s|² falls by less than this
_PATIENCE = 100
_ROOM = 1.02  # height of the turns of a single head, for labels from -1 to 1


def whitening(rows: FloatArray) -> FloatArray:
    """The matrix A for which the columns of rows·A have mean square one (on the rows' span)."""
    _, sizes, turned = np.linalg.svd(rows, full_matrices=False)
    r = int((sizes > 1e-10 * sizes[0]).sum())
    return (turned[:r].T / sizes[:r]) @ turned[:r] * np.sqrt(len(rows))


def unwhitened(weights: Array, shape: Shape, by_context: Array, by_query: Array) -> Array:
    """Weights that give the same outputs, up to rounding, for the data before whitening."""
    xp = array_namespace(weights)
    key, query, value, output = shape.split(weights)
    parts = by_context @ key, by_query @ query, by_context @ value
    heads = xp.concat([xp.reshape(part, (shape.heads, -1)) for part in parts], axis=1)
    return xp.concat([xp.reshape(heads, (-1,)), xp.reshape(output, (-1,))])


def search(
    contexts: FloatArray,
    queries: FloatArray,
    labels: FloatArray,
    shape: Shape,
    seed: int,
    *,
    times: FloatArray | None = None,
    xp: Any = np,
    **limits: Any,
) -> Descent:
    """`descend`, from the initial weights above if the layer is of that kind. The arrays are
    NumPy's, and `xp` computes the steps."""
    widths = shape.head_width, shape.value_width, shape.m
    turns = len(contexts) == 1 and int(np.linalg.matrix_rank(contexts[0])) >= _TOKENS
    if times is None and turns and widths == (1, 1, 1):
        by_context, by_query = whitening(contexts[0]), whitening(queries)
        white = contexts @ by_context, queries @ by_query
        x = start(*white, labels, shape, seed)
        E, X, y, x, A, B = map(xp.asarray, (*white, labels, x, by_context, by_query))
        descent = descend(E, X, y, shape, x, **{"patience": _PATIENCE} | limits)
        return replace(descent, weights=unwhitened(descent.weights, shape, A, B))
    own = None if times is None else xp.asarray(times)
    E, X, y = map(xp.asarray, (contexts, queries, labels))
    return descend(E, X, y, shape, seed, times=own, **limits)


def start(
    contexts: FloatArray, queries: FloatArray, labels: FloatArray, shape: Shape, seed: int
) -> FloatArray:
    """Weights for whitened data and scalar labels, as above; deterministic given the seed."""
    draw, H, y = np.random.default_rng(seed), shape.heads, labels[:, 0]
    E, inverse = contexts[0], np.linalg.pinv(contexts[0])
    m = max(4, len(y) // H - shape.d + 2)
    m = min(m, len(E), _MOST_OF_ONE if H == 1 else _MOST_POINTS)
    curves = turning(draw, E, inverse, m, H)
    if H == 1:
        return one_head(draw, contexts, queries, y, shape, curves[0], inverse)
    parts = []
    for slopes, levels in curves:
        q = draw.standard_normal(shape.d)
        q *= np.exp(draw.uniform(0, 1)) / max(float(np.std(queries @ q)), 1e-9)
        sized = y.mean() / H + 1.3 * y.std() / np.sqrt(H) * levels
        parts += [inverse @ slopes, q, inverse @ sized]
    return np.concatenate([*parts, np.ones(H)])


def turning(
    draw: np.random.Generator, E: FloatArray, inverse: FloatArray, m: int, heads: int
) -> list[tuple[FloatArray, FloatArray]]:
    """(μ, w) for each head: the draws with the least |w|, in that order."""
    curves = []
    for _ in range(max(_DRAWS, heads)):
        slopes = E @ inverse @ draw.uniform(-1, 1, len(E)) * draw.uniform(*_SLOPES)
        p = softmax(_GRID[:, None] * slopes, axis=1)
        nodes = np.sort(qr(p.T, mode="r", pivoting=True)[1][:m])
        signs = (-1.0) ** np.arange(len(nodes)) * draw.choice((-1, 1))
        curves.append((slopes, np.linalg.lstsq(p[nodes] @ E @ inverse, signs, rcond=None)[0]))
    return sorted(curves, key=lambda curve: float(np.abs(curve[1]).max()))[:heads]


def one_head(
    draw: np.random.Generator,
    contexts: FloatArray,
    queries: FloatArray,
    y: FloatArray,
    shape: Shape,
    curve: tuple[FloatArray, FloatArray],
    inverse: FloatArray,
) -> FloatArray:
    slopes, levels = curve
    low, high = y.min(), y.max()
    levels = (low + high) / 2 + _ROOM * (high - low) / 2 * levels
    heights = softmax(_GRID[:, None] * slopes, axis=1) @ levels
    solutions = [crossings(heights - label) for label in y]
    back = np.linalg.pinv(queries)
    R = np.eye(len(y)) - queries @ back
    ends = []
    for _ in range(_ENDS):
        q = back @ nearest(draw, R, solutions)
        weights = np.concatenate([inverse @ slopes, q, inverse @ levels, [1.0]])
        reached, J = jacobian(contexts, queries, weights, shape, shape.free)
        step = np.linalg.lstsq(J[:, 0], reached[:, 0] - y, rcond=1e-12)[0]
        ends.append((float(np.linalg.norm(step)), weights))
    return min(ends, key=lambda end: end[0])[1]


def crossings(heights: FloatArray) -> FloatArray:
    """The zeros of a function on the grid, by linear interpolation, or its point nearest to 0."""
    left, right = heights[:-1], heights[1:]
    at = np.nonzero(left * right < 0)[0]
    if len(at) == 0:
        return _GRID[[np.abs(heights).argmin()]]
    return _GRID[at] + (_GRID[1] - _GRID[0]) * left[at] / (left[at] - right[at])


def nearest(draw: np.random.Generator, R: FloatArray, solutions: list[FloatArray]) -> FloatArray:
    """One solution for each example, such that no change of two of them lowers |R s|²."""
    s = np.array([draw.choice(of_one) for of_one in solutions])
    values = np.concatenate(solutions)
    at = np.repeat(np.arange(len(s)), [len(of_one) for of_one in solutions])
    products = R[np.ix_(at, at)]
    while True:
        change = values - s[at]
        alone = 2 * change * (R @ s)[at] + change**2 * np.diag(products)
        pairs = alone[:, None] + alone + 2 * np.outer(change, change) * products
        pairs[at[:, None] == at] = 0
        first, second = np.unravel_index(pairs.argmin(), pairs.shape)
        if pairs[first, second] > -_GAIN:
            return s
        s[at[[first, second]]] = values[[first, second]]
