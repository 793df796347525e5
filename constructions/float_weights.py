"""Ordinary float64 weights for data whose exact weights are too long to write down.

The exact construction needs integral logits; for data with 53-bit entries their exponents have a
hundred bits, and no float64 layer can carry them. So the keys and queries are built on a *coarse
copy* of the data, rounded to a few bits, where they are small integers. On the true data their
logits are close to integers, not integers: nothing is exact any more, the readout is a least-norm
float64 solution, and what the layer really does is enclosed afterwards by ball arithmetic
(verify/enclosure.py). Precision of the copy is raised until the construction applies to it.
"""

from __future__ import annotations

import math

import numpy as np

from constructions.dataset import Dataset
from constructions.errors import HypothesisFails
from constructions.exact_array import ExactArray, narrow
from constructions.mahdavi2024 import build

_BITS = (5, 8, 12, 16)
_REFINEMENTS = 3


def float64_weights(
    data: Dataset, *, head_width: int, heads: int, interior: bool = True, seed: int = 0
) -> dict[str, np.ndarray]:
    """W_K, W_Q (H, d, d_h), W_V (H, d, m), W_O (H·m, m) in float64, for a plain softmax (base e).

    Raises HypothesisFails where the construction applies to no coarse copy tried, or numbers of the
    data or the weights are beyond the range of float64.
    """
    for bits in _BITS:
        try:
            built = build(
                coarse(data, bits), head_width=head_width, heads=heads, interior=interior, seed=seed
            )
            break
        except HypothesisFails as failure:
            if bits == _BITS[-1]:
                raise failure from None
    arrays = built.layer.to_numpy()
    labels = data.labels.floats()
    with np.errstate(all="ignore"):
        z = features(data, arrays["W_K"], arrays["W_Q"])
    _require_finite(arrays["W_K"], arrays["W_Q"], z, labels)
    with np.errstate(all="ignore"):
        readout = np.linalg.lstsq(z, labels, rcond=None)[0]
        for _ in range(_REFINEMENTS):
            readout += np.linalg.lstsq(z, labels - z @ readout, rcond=None)[0]
    _require_finite(readout)
    count = len(arrays["W_K"])
    arrays["W_V"] = readout.reshape(count, data.d, data.m)
    arrays["W_O"] = np.vstack([np.eye(data.m)] * count)
    return arrays


def coarse(data: Dataset, bits: int) -> Dataset:
    """Contexts and queries rounded to integers of at most `bits` bits over a power of two.

    Data that already have so few bits come back unchanged.
    """
    return Dataset(_rounded(data.contexts, bits), _rounded(data.queries, bits), data.labels)


def features(data: Dataset, keys: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """Z (T, H·d) in float64; keys, queries: (H, d, d_h)."""
    contexts, asked = data.contexts.floats(), data.queries.floats()
    blocks = []
    for key, query in zip(keys, queries, strict=True):
        directions = (asked @ query) @ key.T
        logits = np.matmul(contexts, directions[:, :, None])[:, :, 0]
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        blocks.append(np.matmul(weights[:, None, :], contexts)[:, 0, :])
    return np.hstack(blocks)


def _require_finite(*arrays: np.ndarray) -> None:
    if not all(np.isfinite(array).all() for array in arrays):
        raise HypothesisFails("float64", "numbers are beyond the range of float64", {})


def _rounded(array: ExactArray, bits: int) -> ExactArray:
    largest = max(abs(int(x)) for x in array.numerators.ravel().tolist())
    shift = largest.bit_length() - bits
    if shift <= 0:
        return array
    half = 1 << (shift - 1)
    flat = [(int(x) + half) >> shift for x in array.numerators.ravel().tolist()]
    # Rounded numerators are multiples of 2^shift; what they share with the denominator cancels.
    common = math.gcd(1 << shift, array.denominator)
    top = [x * ((1 << shift) // common) for x in flat]
    return ExactArray(narrow(top, array.shape), array.denominator // common)
