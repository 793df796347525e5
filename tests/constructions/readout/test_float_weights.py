"""Float64 weights from a coarse copy of the data: close to the labels, and enclosed."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.enclosures import enclose_error
from support.gaussian import gaussian as drawn

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import HypothesisFails
from attncert.constructions.paper.theorem import build
from attncert.constructions.readout import float_weights
from attncert.constructions.readout.float_weights import coarse, features, float64_weights
from attncert.verify.claims.evidence import Level


def gaussian(seed: int, shared: bool = False) -> Dataset:
    return drawn(5, 3, 4, m=2, shared=shared, seed=seed)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_the_error_is_small_and_enclosed(seed: int, shared: bool) -> None:
    data = gaussian(seed, shared)
    weights = float64_weights(data, partial(build, head_width=3, heads=2))
    assert {name: array.shape for name, array in weights.items()} == {
        "W_K": (2, 4, 3), "W_Q": (2, 4, 3), "W_V": (2, 4, 2), "W_O": (4, 2),
    }  # fmt: skip
    assert all(array.dtype == np.float64 for array in weights.values())
    claim = enclose_error(data, weights)
    assert claim.level is Level.ENCLOSED
    assert float(claim.numbers["error"][1]) < 1e-9


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=2, max_size=2),
    st.integers(3, 12),
)
def test_a_coarse_copy_is_near_and_short(entries: list[float], bits: int) -> None:
    data = Dataset.of([entries], [entries], [0])
    copy = coarse(data, bits)
    for old, new in ((data.contexts, copy.contexts), (data.queries, copy.queries)):
        before, after = (np.ravel(x.fractions()).tolist() for x in (old, new))
        largest = max(map(abs, before))
        step = Fraction(2) ** (1 - bits) * largest  # at most one unit in the last kept place
        assert all(abs(a - b) <= step for a, b in zip(before, after, strict=True))
        unit = max((x.denominator for x in after), default=1)
        shared = [int(x * unit) for x in after]
        while any(shared) and all(x % 2 == 0 for x in shared):
            shared = [x // 2 for x in shared]
        assert max(map(abs, shared)).bit_length() <= bits + 1


def test_the_copy_gets_finer_until_the_construction_applies() -> None:
    """Rows that agree in 5 bits and differ in 8: the first copy breaks A2, the second does not."""
    data = Dataset.of([[1.0, 0.0], [1.0, 2.0**-6]], [[1.0, 0.25], [0.5, 1.0]], [1, 2])
    with pytest.raises(HypothesisFails):
        build(coarse(data, 5))
    claim = enclose_error(data, float64_weights(data, partial(build, head_width=2, heads=1)))
    assert claim.level is Level.ENCLOSED and float(claim.numbers["error"][1]) < 1e-6


def conditions(data: Dataset) -> list[float]:
    """Condition numbers of Z for the copies of 2, 3, ... bits, where there are any."""
    found = []
    for bits in float_weights._BITS:
        arrays = build(coarse(data, bits), head_width=3, heads=2).layer.to_numpy()
        spectrum = np.linalg.svd(features(data, arrays["W_K"], arrays["W_Q"]), compute_uv=False)
        found.append(float(spectrum[0] / spectrum[data.T - 1]))
    return found


def condition(data: Dataset) -> float:
    weights = float64_weights(data, partial(build, head_width=3, heads=2))
    spectrum = np.linalg.svd(features(data, weights["W_K"], weights["W_Q"]), compute_uv=False)
    return float(spectrum[0] / spectrum[data.T - 1])


def test_the_best_conditioned_copy_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies of many bits saturate: here they are worse by ten orders of magnitude."""
    data = gaussian(2, shared=True)
    found = conditions(data)
    assert max(found) > 1e10 * min(found)
    good = next(x for x in found if x <= 1e6)
    assert condition(data) == pytest.approx(good)  # the first that is good enough
    monkeypatch.setattr(float_weights, "_GOOD", 0.0)
    assert condition(data) == pytest.approx(min(found))
    monkeypatch.setattr(float_weights, "_GOOD", min(found) * 1.01)
    assert condition(data) == pytest.approx(min(found))


def test_no_copy_will_do() -> None:
    """Parallel up to 2^-40: every coarse copy is parallel, which is said, not papered over."""
    data = Dataset.of([[1.0, 0.0], [0.0, 1.0]], [[1.0, 1.0], [1.0, 1.0 + 2.0**-40]], [1, 2])
    assert build(data).groups == ((0, 1),)
    with pytest.raises(HypothesisFails) as caught:
        float64_weights(data, partial(build, head_width=2, heads=1))
    assert caught.value.hypothesis == "some-partition"


@pytest.mark.parametrize("scale", [Fraction(10) ** 400, Fraction(1, 10**400)])
@pytest.mark.parametrize("which", ["contexts", "queries", "labels"])
def test_numbers_beyond_float64_are_refused(which: str, scale: Fraction) -> None:
    parts = {
        "contexts": [[1, 0], [0, 1]],
        "queries": [[1, 2], [2, 1]],
        "labels": [[3], [4]],
    }
    parts[which] = [[x * scale for x in row] for row in parts[which]]  # type: ignore[misc]
    data = Dataset.of(**parts)
    if which == "labels" and scale < 1:  # they round to 0, which is no harm
        weights = float64_weights(data, partial(build, head_width=2, heads=1))
        assert not weights["W_V"].any()
        return
    with pytest.raises(HypothesisFails) as caught:
        float64_weights(data, partial(build, head_width=2, heads=1))
    assert caught.value.hypothesis == "float64"
