"""Ordinary float64 weights for data whose exact weights are too long to write down.

The exact construction needs integral logits; for data with 53-bit entries their exponents have a
hundred bits, and no float64 layer can carry them. So the keys and queries are built on a *coarse
copy* of the data, rounded to a few bits, where they are small integers. On the true data their
logits are close to integers, not integers: nothing is exact any more, the readout is a least-norm
float64 solution, and what the layer really does is enclosed afterwards by ball arithmetic
(verify/interpolation/enclosure.py). Precision of the copy is raised until the construction applies
to it and its features are well conditioned on the true data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from attncert.constructions.arrays import AnyArray, FloatArray
from attncert.constructions.construction import BuiltLayer
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.exact_array import ExactArray, narrow
from attncert.constructions.errors import HypothesisFails
from attncert.constructions.given.attention import attend

_BITS = (2, 3, 4, 5, 6, 8, 12, 16)
_GOOD = 1e6  # condition number of Z with which the search for a better copy ends
_REFINEMENTS = 3


def float64_weights(data: Dataset, build: Callable[[Dataset], BuiltLayer]) -> dict[str, FloatArray]:
    """W_K, W_Q (H, d, d_h), W_V (H, d, m), W_O (H·m, m) in float64, for a plain softmax (base e).

    build: the construction to run on the coarse copies, with all its settings.
    Raises HypothesisFails where the construction applies to no coarse copy tried, or numbers of the
    data or the weights are beyond the range of float64.
    """
    arrays, z = _best_conditioned(data, build)
    labels = data.labels.floats()
    _require_finite(labels)
    with np.errstate(all="ignore"):
        readout: AnyArray = np.linalg.lstsq(z, labels, rcond=None)[0]
        for _ in range(_REFINEMENTS):
            readout += np.linalg.lstsq(z, labels - z @ readout, rcond=None)[0]
    _require_finite(readout)
    count = len(arrays["W_K"])
    arrays["W_V"] = readout.reshape(count, data.d, data.m)
    arrays["W_O"] = np.vstack([np.eye(data.m)] * count)
    return arrays


def _best_conditioned(
    data: Dataset, build: Callable[[Dataset], BuiltLayer]
) -> tuple[dict[str, FloatArray], FloatArray]:
    """Keys and queries from the coarse copy that gives the best conditioned Z (T, H·d), and Z.

    Few bits first: the shorter the copy's numbers, the shorter its logits, and the farther the
    softmax is from saturation, where features are equal up to rounding.
    """
    candidates: list[tuple[float, dict[str, FloatArray], FloatArray]] = []
    failure: HypothesisFails | None = None
    for copy in _copies(data):
        try:
            built = build(copy)
            arrays = built.layer.to_numpy()
            with np.errstate(all="ignore"):
                z = features(data, arrays["W_K"], arrays["W_Q"])
            _require_finite(arrays["W_K"], arrays["W_Q"], z)
        except HypothesisFails as reason:
            failure = reason
            continue
        spectrum = np.linalg.svd(z, compute_uv=False)
        smallest = spectrum[data.T - 1] if len(spectrum) >= data.T else 0.0
        condition = float(spectrum[0] / smallest) if 0 < smallest < math.inf else math.inf
        candidates.append((condition, arrays, z))
        if condition <= _GOOD:
            break
    if not candidates:
        assert failure is not None
        raise failure
    _, arrays, z = min(candidates, key=lambda candidate: candidate[0])
    return arrays, z


def _copies(data: Dataset) -> Iterator[Dataset]:
    """Copies of rising precision; none after the first that is no coarser than the data."""
    for bits in _BITS:
        copy = coarse(data, bits)
        yield copy
        if copy.contexts is data.contexts and copy.queries is data.queries:
            return


def coarse(data: Dataset, bits: int) -> Dataset:
    """Contexts and queries with all but the leading `bits` bits of the numerators rounded away.

    "Leading" in the largest numerator of each; data that have so few bits come back unchanged.
    """
    contexts, queries = _rounded(data.contexts, bits), _rounded(data.queries, bits)
    return replace(data, contexts=contexts, queries=queries)


def features(data: Dataset, keys: FloatArray, queries: FloatArray) -> FloatArray:
    """Z (T, H·d) in float64; keys, queries: (H, d, d_h)."""
    contexts = data.contexts.floats()
    weights, _ = attend(contexts, data.queries.floats(), keys, queries, data.times)
    return np.matmul(weights.swapaxes(1, 2), contexts).reshape(data.T, -1)


def _require_finite(*arrays: FloatArray) -> None:
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
