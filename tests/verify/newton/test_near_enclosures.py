"""The arithmetic of both checkers: balls hold the true values, and planted defects do not pass."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from support.near_cases import CASES, case
from support.newton import data_set
from support.small_certificates import written

from attncert.constructions.given.attention import Shape, jacobian
from attncert.constructions.network.arithmetic import factor
from attncert.constructions.network.blocks import Attention
from attncert.constructions.network.network import Network
from attncert.verify import checker
from attncert.verify.checker import Limits, near
from attncert.verify.checking.fast import check as fast
from attncert.verify.checking.fast import near as fast_near
from attncert.verify.derivatives import balls
from attncert.verify.derivatives.balls import BallArray
from attncert.verify.newton import layer_outputs, network_enclosure
from attncert.verify.newton.certify import certify
from attncert.verify.newton.contraction import contractions, distances, judged
from attncert.verify.newton.models import Model

P = 140
ON = near.Balls(P, Limits(math.inf))  # one deadline would pass while the tests of a module run


@settings(deadline=None)
@given(st.one_of(st.integers(0, 3 << P), st.integers(0, 200 << P), st.integers(0, 100)))
def test_the_exponential_is_enclosed_and_closely(x: int) -> None:
    low, high = ON.exp_bounds(-x)
    with mpmath.workdps(120):
        true = mpmath.exp(-mpmath.mpf(x) / 2**P) * 2**P
        assert low <= true <= high
    assert high - low <= 2


ball = st.tuples(st.integers(-(2**150), 2**150), st.integers(0, 2**20))
share = st.fractions(-1, 1)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(ball, ball, share, share, st.integers(-50, 50)), min_size=1, max_size=4))
def test_balls_hold_products_and_sums(parts: list[Any]) -> None:
    """The points lie anywhere in the factors' balls, and are exact fractions."""

    def point(ball: tuple[int, int], share: Fraction) -> Fraction:
        return (ball[0] + ball[1] * share) / 2**P

    def holds(found: tuple[int, int], value: Fraction) -> bool:
        return abs(value * 2**P - found[0]) <= found[1]

    xs, ys = ([p[i] for p in parts] for i in (0, 1))
    values = [(point(p[0], p[2]), point(p[1], p[3])) for p in parts]
    total = sum((x * y for x, y in values), Fraction(0))
    assert holds(ON.inner(near.vector(xs), near.vector(ys)), total)
    assert holds(ON.product(xs[0], ys[0]), values[0][0] * values[0][1])
    factors = [p[4] for p in parts]
    combined = sum((a * x for a, (x, _) in zip(factors, values, strict=True)), Fraction(0))
    found = ON.combination(factors, 7, near.vector(xs))
    assert holds(found, combined / 7)


@settings(deadline=None, max_examples=25)
@given(st.lists(st.tuples(st.floats(-40, 40), st.floats(0, 0.5), share), min_size=1, max_size=5))
def test_softmax_is_enclosed(entries: list[tuple[float, float, Fraction]]) -> None:
    logits = [(int(c * 2**P), int(r * 2**P)) for c, r, _ in entries]
    points = [c + int(r * s) for (c, r), (_, _, s) in zip(logits, entries, strict=True)]
    centres, radii = ON.softmax(logits, [1] * len(logits))
    with mpmath.workdps(80):
        powers = [mpmath.exp(mpmath.mpf(x) / 2**P) for x in points]
        for c, r, power in zip(centres, radii, powers, strict=True):
            assert abs(power / sum(powers) * 2**P - c) <= r


def exponentials_hold(x: list[float], rad: list[float]) -> bool:
    """Whether float64 balls hold the exponentials of the ends and centres of balls."""
    found = BallArray(np.array(x), np.array(rad)).exp()
    with ctx.workprec(2000):
        for centre, reach, mid, radius in zip(x, rad, found.mid, found.rad, strict=True):
            points = (arb(centre) + sign * arb(reach) for sign in (-1, 0, 1))
            if not all(abs(point.exp() - arb(mid)) <= arb(radius) for point in points):
                return False
    return bool(np.isfinite(found.rad).all())


centres = st.floats(-1e4, 600) | st.floats(-1, 1)


@settings(deadline=None)
@given(st.lists(st.tuples(centres, st.floats(0, 30) | st.floats(0, 1e-9)), min_size=1))
def test_exponentials_of_float_balls_are_enclosed(pairs: list[tuple[float, float]]) -> None:
    assert exponentials_hold([x for x, _ in pairs], [rad for _, rad in pairs])
    sharp = BallArray(np.array([-300.0, -1.0, 0.0, 5.0]), np.zeros(4)).exp()
    assert (sharp.rad <= 1e-12 * sharp.mid).all()


@pytest.mark.parametrize("defect", ["logarithm", "short sum"])
def test_planted_defects_of_the_float_exponential_show(
    defect: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = np.linspace(-600, 1, 2000).tolist()
    assert exponentials_hold(x, [0.0] * len(x))
    if defect == "logarithm":
        monkeypatch.setattr(balls, "_LN2", BallArray(balls._LN2.mid + 1e-15, balls._LN2.rad))
    else:
        monkeypatch.setattr(balls, "_TAYLOR", balls._TAYLOR[:10])
    assert not exponentials_hold(x, [0.0] * len(x))


@given(st.floats(1e-9, 1e9), st.floats(0, 1), st.floats(-1, 1))
def test_inverses_of_float_balls_are_enclosed(x: float, share: float, at: float) -> None:
    found = BallArray(np.array(x), np.array(x * share)).inverse()
    point = Fraction(x) + Fraction(x * share) * Fraction(at)
    if math.isfinite(found.rad):
        assert abs(1 / point - Fraction(float(found.mid))) <= Fraction(float(found.rad))
    assert math.isfinite(found.rad) or x * (1 - share) < 1e-9


@pytest.mark.parametrize("unit", ["1", "ln 2"])
@pytest.mark.parametrize("shared", [True, False])
def test_exact_logits_give_the_outputs_of_the_network(
    unit: str, shared: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = data_set(6, 4, 3, m=2, shared=shared, seed=2)
    shape = Shape(data.d, data.m, 3, 2, 2)
    weights = np.random.default_rng(4).standard_normal(shape.parameters)
    [block] = Model.of(data, shape).exact(weights).blocks
    assert isinstance(block, Attention)
    network = Network((replace(block, unit=unit),))
    general = network.enclosures(data, 200).entries()
    found = layer_outputs.enclosed(data, network, 200).entries()
    assert all(x.overlaps(y) for x, y in zip(found, general, strict=True))
    assert max(float(x.rad()) for x in found) < 2.0**-180
    monkeypatch.setattr(layer_outputs, "factor", lambda unit: factor(unit) * (1 + arb(2) ** -100))
    changed = layer_outputs.enclosed(data, network, 200).entries()
    assert not any(x.overlaps(y) for x, y in zip(changed, general, strict=True))


def random_layer(name: str, reach: float) -> tuple[Any, ...]:
    sizes, (heads, head_width, value_width) = CASES[name]
    *lengths, shared = sizes
    data = data_set(*lengths, shared=shared, seed=5)
    shape = Shape(data.d, data.m, heads, head_width, value_width)
    draw = np.random.default_rng(1)
    weights = draw.standard_normal(shape.parameters)
    moved = weights + reach * draw.uniform(-1, 1, (20, shape.parameters))
    return data, shape, weights, moved


@pytest.mark.parametrize("name", CASES)
def test_derivatives_over_a_box_are_enclosed(name: str) -> None:
    """Both checkers, at random weights in the box, agree with the float64 formulas of the fit."""
    reach = Fraction(1, 64)
    data, shape, weights, moved = random_layer(name, float(reach))
    everything = range(shape.parameters)
    network = Model.of(data, shape).exact(weights)
    found = network_enclosure.derivatives(data, network, everything, reach)
    arrays = data.contexts.floats(), data.queries.floats()
    slow_mid, slow_rad = slow_derivatives(data, weights, shape, reach)
    for x in (weights, *moved):
        true = jacobian(*arrays, x, shape)[1].reshape(found.mid.shape)
        assert (np.abs(true - found.mid) <= found.rad + 1e-12).all()
        assert (np.abs(true - slow_mid) <= slow_rad + 1e-12).all()
    small = network_enclosure.derivatives(data, network, everything, reach / 2**40)
    assert small.rad.max() < 1e-8  # and no wider than the box requires


def slow_derivatives(
    data: Any, weights: np.ndarray, shape: Shape, reach: Fraction
) -> tuple[np.ndarray, np.ndarray]:
    """Derivatives from the checker's `evaluated`, with all weights varying."""
    unit = 2**P

    def balls(matrix: np.ndarray) -> list[list[tuple[int, int]]]:
        wide = math.ceil(reach * unit) + 1
        return [[(math.floor(Fraction(x) * unit), wide) for x in row] for row in matrix.tolist()]

    key, query, value, output = shape.split(weights)
    parts = [[balls(block) for block in part] for part in (key, query, value)]
    parts.append(balls(output.reshape(-1, shape.m)))
    contexts, queries = data.contexts, data.queries
    numbers = (
        contexts.numerators.tolist(), contexts.denominator,
        queries.numerators.tolist(), queries.denominator,
    )  # fmt: skip
    sizes = shape.heads, shape.head_width, shape.value_width
    unknowns = [near.address(k, shape.d, shape.m, *sizes) for k in range(shape.parameters)]
    narrow = (shape.m, shape.heads, shape.value_width)
    rows = [
        row for _, found in near.evaluated(ON, parts, numbers, narrow, unknowns) for row in found
    ]
    table = np.array([[(c / unit, r / unit) for c, r in row] for row in rows])
    return table[..., 0], table[..., 1]


# The theorem's constants.


def test_constants_of_a_linear_map() -> None:
    """For f(u) = J u - y with J known to within 1/8, all constants are computed by hand."""
    inverse = np.array([[0.5, 0.0], [0.0, 0.25]])
    derivative = BallArray(np.diag([2.0, 4.0]), np.full((2, 2), 0.125))
    kappa = contractions(inverse, derivative)
    assert np.all(kappa >= [0.125, 0.0625]) and np.allclose(kappa, [0.125, 0.0625])
    eta = distances(inverse, BallArray(np.array([1.0, -1.0]), np.array([0.5, 0.0])))
    assert np.all(eta >= [0.75, 0.25]) and np.allclose(eta, [0.75, 0.25])
    assert judged(eta, kappa, Fraction(7, 8)).inside  # 0.75 + 0.125 * 7/8 < 7/8
    assert not judged(eta, kappa, Fraction(6, 7)).inside  # equality up to rounding: not shown
    assert not judged(eta, kappa, Fraction(1, 2)).inside


@pytest.mark.parametrize("bad", [math.nan, math.inf, 1.0, 2.0])
def test_no_row_without_contraction_passes(bad: float) -> None:
    assert not judged(np.array([0.0, 0.0]), np.array([0.1, bad]), Fraction(1)).inside
    assert not judged(np.array([0.0, bad]), np.array([0.1, 0.1]), Fraction(1)).inside


def test_where_nothing_can_be_shown() -> None:
    data, shape, weights, _ = random_layer("shared", 0)
    assert "not shown to contract" in certify(data, weights, shape).why  # the weights do not fit
    flat = np.zeros(shape.parameters)
    assert certify(data, flat, shape).why != "" and not certify(data, flat, shape).holds
    small = Shape(data.d, data.m, 1, 1, 1)
    many = data_set(11, 3, 3, seed=1)
    assert "require 11 unknowns" in certify(many, np.zeros(small.parameters), small).why


# Planted defects: each of these bounds is needed.


@pytest.mark.parametrize("defect", ["errors of one", "no derivatives", "errors unknown"])
def test_planted_defects_of_the_fast_check_show(
    defect: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(case("distinct"), tmp_path)
    if defect == "errors of one":
        monkeypatch.setattr(fast_near, "errors", lambda *_: BallArray(np.ones(5), np.zeros(5)))
    elif defect == "no derivatives":
        true = network_enclosure.derivatives
        monkeypatch.setattr(
            fast_near, "derivatives", lambda *a: BallArray(0 * true(*a).mid, true(*a).rad)
        )
    else:
        monkeypatch.setattr(
            fast_near, "errors", lambda *_: BallArray(np.zeros(5), np.full(5, np.inf))
        )
    assert fast.check_file(path).status == "wrong"


def test_a_planted_defect_in_the_layer_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the exponential of a slightly different number, the labels are missed."""
    path, true = written(case("distinct"), tmp_path), near.Balls.exp_bounds
    monkeypatch.setattr(near.Balls, "exp_bounds", lambda on, x: true(on, x + (x >> 40)))
    assert checker.check_file(path).status == "wrong"
