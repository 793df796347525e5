"""The rank of the Jacobian of layers with ReLU blocks, computed in floats by code that shares
nothing with the project's: x + B relu(A x + a) + b as it stands, softmax with exp, random real
weights, and derivatives by complex steps."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from attncert.constructions.data.dataset import Dataset

_STEP = 1e-30


def rank(data: Dataset, layers: int, heads: int, units: int, seed: int) -> int:
    """The rank, for heads of width 1 and scalar labels."""
    rng = np.random.default_rng(seed)
    contexts = data.contexts.floats().astype(complex)
    queries = data.queries.floats().astype(complex)
    contexts = np.broadcast_to(contexts, (data.T, *contexts.shape[1:]))
    scale = max(1, np.abs(contexts).max())
    states = np.concatenate([contexts, queries[:, None]], axis=1) / scale
    d = states.shape[2]
    count = (layers - 1) * (4 * heads * d + 2 * units * d + units + d) + heads * (3 * d + 1)
    weights = rng.normal(size=count)
    columns = []
    for k in range(count):
        moved = weights.astype(complex)
        moved[k] += 1j * _STEP
        columns.append(_outputs(states, moved, layers, heads, units).imag / _STEP)
    values = np.linalg.svd(np.array(columns), compute_uv=False)
    return int((values > 1e-11 * values[0]).sum())


def _outputs(
    states: np.ndarray, weights: np.ndarray, layers: int, heads: int, units: int
) -> np.ndarray:
    d, left = states.shape[2], _taken(weights)

    def take(*shape: int) -> np.ndarray:
        return np.array([next(left) for _ in range(int(np.prod(shape)))]).reshape(shape)

    for layer in range(layers):
        last = layer == layers - 1
        change = 0
        for _ in range(heads):
            key, query, value, output = take(d), take(d), take(d), take(1 if last else d)
            tokens = states[:, :-1]
            logits = (states @ query)[:, :, None] * (tokens @ key)[:, None]
            powers = np.exp(logits - logits.real.max(axis=2, keepdims=True))
            shares = powers / powers.sum(axis=2, keepdims=True)
            change = change + (shares @ (tokens @ value)[:, :, None]) * output
        if last:
            return change[:, -1, 0]
        states = states + change
        A, a, B, b = take(d, units), take(units), take(units, d), take(d)
        sums = states @ A + a
        states = states + np.where(sums.real > 0, sums, 0) @ B + b
    raise AssertionError


def _taken(weights: np.ndarray) -> Iterator[complex]:
    yield from weights.tolist()
