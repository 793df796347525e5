"""Enclosures of the interpolation error agree with mpmath and with planted labels."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.built import with_label
from support.enclosures import enclose_error
from support.small_layers import (
    SHAPES,
    flint,
    planted,
    real_outputs,
)

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Layer
from attncert.verify.claims.evidence import Level
from attncert.verify.outputs.enclosure import decimal

BITS = 600  # mpmath's precision


def exact(x: Any) -> Fraction:
    """The rational number that an mpf represents."""
    sign, mantissa, exponent, _ = x._mpf_
    return (-1) ** sign * int(mantissa) * Fraction(2) ** int(exponent)


def errors(data: Dataset, weights: dict[str, np.ndarray]) -> list[Fraction]:
    """max_c |A - y| for each example, by mpmath."""
    pairs = zip(real_outputs(data, weights, BITS), data.labels.fractions(), strict=True)
    return [max(abs(exact(a) - y) for a, y in zip(*pair, strict=True)) for pair in pairs]


def random_weights(
    seed: int, heads: int, d: int, head_width: int, value_width: int, m: int, scale: float = 1.0
) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {
        "W_K": rng.normal(size=(heads, d, head_width)) * scale,
        "W_Q": rng.normal(size=(heads, d, head_width)) * scale,
        "W_V": rng.normal(size=(heads, d, value_width)),
        "W_O": rng.normal(size=(heads * value_width, m)),
    }


def random_data(seed: int, T: int, n: int, d: int, m: int, shared: bool) -> Dataset:
    rng = np.random.default_rng(seed)
    shape = (n, d) if shared else (T, n, d)
    return Dataset.of(
        rng.normal(size=shape),
        [[Fraction(int(x), 7) for x in row] for row in rng.integers(-20, 20, size=(T, d))],
        rng.integers(-5, 5, size=(T, m)),
    )


@pytest.mark.parametrize("name", SHAPES)
def test_float_weights_of_a_planted_layer(name: str) -> None:
    p = planted(SHAPES[name])
    weights = p.layer.to_numpy()
    true = errors(p.data, weights)
    claim = enclose_error(p.data, weights, tolerance=Fraction("1e-12"))
    assert claim.level is Level.ENCLOSED
    claim = enclose_error(p.data, weights)
    slack = Fraction(1, 2**400)  # a bound on mpmath's error
    for (low, high), error in zip(claim.numbers["errors"], true, strict=True):
        assert Fraction(low) <= error + slack
        assert error - slack <= Fraction(high)
    if max(true) > slack:  # otherwise the floats interpolate exactly, which no precision proves
        assert claim.level is Level.ENCLOSED
        low, high = map(Fraction, claim.numbers["error"])
        assert low <= max(true) <= high <= low * (1 + Fraction(1, 2**9))
    assert json.loads(json.dumps(claim.as_dict())) == claim.as_dict()


@settings(max_examples=100, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    T=st.integers(1, 3),
    n=st.integers(1, 4),
    d=st.integers(1, 3),
    m=st.integers(1, 2),
    shared=st.booleans(),
    scale=st.sampled_from([0.01, 1.0, 30.0, 400.0]),
)
def test_random_weights_against_mpmath(
    seed: int, T: int, n: int, d: int, m: int, shared: bool, scale: float
) -> None:
    data = random_data(seed, T, n, d, m, shared)
    weights = random_weights(seed + 1, 2, d, 2, m + 1, m, scale)  # logits up to about 10^6
    claim = enclose_error(data, weights)
    assert claim.level is Level.ENCLOSED
    slack = Fraction(1, 2**400)
    for (low, high), error in zip(claim.numbers["errors"], errors(data, weights), strict=True):
        assert Fraction(low) <= error + slack
        assert error - slack <= Fraction(high)


def test_a_tolerance_on_either_side_of_the_error_is_decided() -> None:
    p = planted(SHAPES["distinct"])
    weights = p.layer.to_numpy()
    error = max(errors(p.data, weights))
    assert 0 < error < Fraction(1, 10**12)
    tiny = Fraction(1, 10**30)
    assert enclose_error(p.data, weights, tolerance=error * (1 + tiny)).level is Level.ENCLOSED
    assert enclose_error(p.data, weights, tolerance=error * (1 - tiny)).level is Level.REFUTED
    claim = enclose_error(p.data, weights, tolerance=error * (1 + tiny), max_bits=64)
    assert claim.level is Level.UNDECIDED
    assert claim.numbers["precision_bits"] == 64


def test_an_exact_layer_is_within_any_tolerance_but_never_known_to_be_exact() -> None:
    p = planted(SHAPES["shared"])
    claim = enclose_error(p.data, p.layer, tolerance=Fraction("1e-1000"))
    assert claim.level is Level.ENCLOSED
    claim = enclose_error(p.data, p.layer, max_bits=512)
    assert claim.level is Level.UNDECIDED
    assert claim.numbers["error"][0] == "0"
    assert 0 < Fraction(claim.numbers["error"][1]) < Fraction(1, 2**400)
    wrong = with_label(p.data, 0, 0, Fraction(1, 2**900))
    claim = enclose_error(wrong, p.layer)
    assert claim.level is Level.ENCLOSED
    low, high = map(Fraction, claim.numbers["error"])
    assert low <= Fraction(1, 2**900) <= high < Fraction(1, 2**899)


def test_logits_beyond_all_precision_are_undecided_and_nothing_is_claimed() -> None:
    # Two logits of 10^15000 are equal, since their rows are, but their balls do not show it.
    data = Dataset.of([[[1, "1/3"], [1, "1/3"]]], [[1, 1]], [[1]])
    p = planted(SHAPES["one token"])
    key, query = flint([[Fraction(1)], [Fraction(10**15000)]]), flint([[Fraction(1)]] * 2)
    head = replace(p.layer.heads[0], key=key, query=query, value=flint([[Fraction(1)]] * 2))
    claim = enclose_error(data, Layer((head,), flint([[Fraction(1)]])), max_bits=1024)
    low, high = claim.numbers["error"]
    assert claim.level is Level.UNDECIDED
    assert Fraction(low) <= Fraction(1, 3)  # A = 4/3
    assert high == "inf" or Fraction(high) >= Fraction(1, 3)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**80), st.integers(-3000, 3000))
@example(1, -2_000_000)
@example(1, 2_000_000)
@example(999999, 0)
@example(9999995, 0)
def test_decimals_are_rounded_outward(mantissa: int, exponent: int) -> None:
    with ctx.workprec(100):
        point = arb(mantissa) * arb(2) ** exponent
    assert point.is_exact()
    low, high = decimal(point, up=False), decimal(point, up=True)
    if abs(exponent) > 10**6:  # extremes: a power of ten, 0 or infinity
        assert (low, high) in [("0", "1e-301029"), ("1e+301029", "inf")]
        return
    value = mantissa * Fraction(2) ** exponent
    assert Fraction(low) <= value <= Fraction(high)
    assert Fraction(high) - Fraction(low) <= value / 10**5
