"""Compares batches of boxes in float64 with exact outputs for points in them, and with Arb."""

from __future__ import annotations

import random
from contextlib import suppress
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from flint import arb, fmpq, fmpq_mat
from support.short_transformer import T, d, deep, given, n, stored_exactly

from attncert import Attention, Dataset, FeedForward, Head, Network
from attncert.constructions.network.arithmetic import Inexact
from attncert.constructions.network.file import of_json
from attncert.verify.outputs import exponential, rounding
from attncert.verify.outputs.batches import Balls, leads, outputs
from attncert.verify.outputs.exponential import EXP_ERROR, SIGMOID_ERROR, TANH_ERROR


def matrix(draw: random.Random, rows: int, columns: int, over: int) -> fmpq_mat:
    return fmpq_mat(
        [[fmpq(draw.randint(-6, 6), over) for _ in range(columns)] for _ in range(rows)]
    )


def network(seed: int, rule: str, activation: str, over: int) -> Network:
    draw = random.Random(seed)
    unit = {"softmax": draw.choice(["1", "ln 2"])}.get(rule)
    mask: Any = draw.choice([None, "causal", ((1, 0, 0), (1, 1, 0), (0, 1, 1), (1, 0, 1))])
    heads = tuple(Head(*(matrix(draw, 2, 2, over) for _ in range(3))) for _ in range(2))
    return Network((
        Attention(heads, matrix(draw, 4, 2, over), "all", rule, unit, mask, residual=True),
        FeedForward(matrix(draw, 2, 2, over), matrix(draw, 1, 2, over), "all", activation),
        Attention(heads, matrix(draw, 4, 3, over), "query", rule, unit),
    ))  # fmt: skip


def points(draw: random.Random, radius: Fraction) -> tuple[list[Any], list[Any]]:
    """Centres of four boxes of three tokens, and a point in each box."""
    centres = [[[Fraction(draw.randint(-4, 4), 2) for _ in "xy"] for _ in "abc"] for _ in range(4)]
    moved = [[[x + radius * Fraction(draw.randint(-8, 8), 8) for x in token] for token in box]
             for box in centres]  # fmt: skip
    return centres, moved


@pytest.mark.parametrize("radius", [Fraction(0), Fraction(1, 2**12), Fraction(1, 3)])
@pytest.mark.parametrize("rule", ["softmax", "hardmax", "linear"])
@pytest.mark.parametrize("activation", ["identity", "relu", "threshold", "silu", "gelu-tanh"])
def test_balls_hold_the_outputs_of_points(rule: str, activation: str, radius: Fraction) -> None:
    known = 0
    for seed in range(4):
        true = list[Any]()
        one = network(seed, rule, activation, 1 + seed % 3)
        centres, moved = points(random.Random(seed), radius)
        box = [[[arb(fmpq(x.numerator, x.denominator), float(radius) * 1.001) for x in token]
                for token in tokens] for tokens in centres]  # fmt: skip
        made = outputs(one.blocks, Balls.of(box if radius else centred(centres)))
        assert made is not None
        with suppress(Inexact):  # a tie that balls cannot decide
            true = one.enclosures(Dataset.of(moved, [tokens[-1] for tokens in moved]), 256).tolist()
        for t, row in enumerate(true):
            for x, c, r in zip(row, made.centre[t], made.radius[t], strict=True):
                known += bool(np.isfinite(r))
                assert not np.isfinite(r) or abs(x - arb(float(c))) <= arb(float(r)) + 1e-60
    assert known or radius or rule == "hardmax"


def centred(boxes: list[Any]) -> Any:
    return [[[arb(fmpq(x.numerator, x.denominator)) for x in token] for token in b] for b in boxes]


def test_integers_are_exact_and_ties_are_decided() -> None:
    one = fmpq_mat([[1, 0], [0, 1]])
    head = Head(fmpq_mat(2, 1), fmpq_mat(2, 1), one)
    tied = Network((Attention((head,), one, rule="hardmax", unit=None),))
    made = outputs(tied.blocks, Balls.of([[[arb(1), arb(0)], [arb(3), arb(2)]]]))
    assert made is not None and made.centre.tolist() == [[2, 1]] and made.radius.max() < 1e-14
    linear = Network((FeedForward(one * 3, fmpq_mat(1, 2), activation="threshold"),))
    made = outputs(linear.blocks, Balls.of([[[arb(0), arb(-1)]]]))
    assert made is not None and made.centre.tolist() == [[1, 0]] and not made.radius.any()


def test_leads_are_lower_bounds() -> None:
    balls = Balls(np.array([[3.0, 1.0, 2.0], [0.0, 5.0, np.inf]]), np.array([[0, 0, 0.25]] * 2))
    one = fmpq_mat([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    low = leads(balls, FeedForward(one, fmpq_mat(1, 3)), np.array([0, 1]))
    assert 0.7499 < low[0] <= 0.75 and low[1] == -np.inf
    common = FeedForward(fmpq_mat([[9, 9, 9]] * 3) + one, fmpq_mat(1, 3))  # this sum cancels
    assert leads(balls, common, np.array([0, 1]))[0] == low[0]


@pytest.mark.parametrize("radius", [0.0, 2.0**-20])
def test_balls_hold_the_outputs_of_transformers(
    radius: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Norms, rotary positions, gates, caps, ALiBi, tables and sinks agree with Arb."""
    missed = 0
    for seed in range(2):
        draw = random.Random(seed)
        one, given_ = of_json(stored_exactly(deep(draw))), stored_exactly(given(draw))
        centres = np.array([[[float(Fraction(x)) for x in row] for row in X]
                            for X in given_["contexts"]])  # fmt: skip
        moved = centres + radius * np.sign([[[draw.random() - 0.5] * d] * n] * T)
        balls = Balls(centres, np.full_like(centres, radius))
        true = one.enclosures(exactly(moved), 256)
        made = outputs(one.blocks, balls)
        with monkeypatch.context() as patch:  # a planted defect: radii are too small
            patch.setattr(rounding, "_outward", lambda x: x / 2**20)
            planted = outputs(one.blocks, balls)
        assert made.radius.max() < 1e-9 + 1e6 * radius
        for (t, j), centre in np.ndenumerate(made.centre):
            error = abs(true[t, j] - arb(centre))
            assert error < made.radius[t, j]
            missed += bool(error > planted.radius[t, j])
    assert missed


def exactly(points: Any) -> Dataset:
    table = [[[fmpq(*x.as_integer_ratio()) for x in row] for row in X] for X in points.tolist()]
    return Dataset.of(table, [X[-1] for X in table], [[0] * d] * T)


@pytest.mark.parametrize(
    ("name", "units"),
    [("exp", EXP_ERROR), ("sigmoid", SIGMOID_ERROR), ("tanh", TANH_ERROR)],
)
def test_functions_are_as_exact_as_proved(
    name: str, units: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = np.random.default_rng(0)
    sizes = 10.0 ** draw.uniform(-12, 2.8, 1500)
    near = np.log(2) * (draw.integers(-900, 900, 1500) + 0.5)  # the longest numbers in reduced form
    x = np.concatenate([sizes, -sizes, near])
    true = {
        "exp": mpmath.exp,
        "sigmoid": lambda t: 1 / (1 + mpmath.exp(-t)),
        "tanh": mpmath.tanh,
    }[name]

    def worst() -> float:
        """The largest relative error, in units of 2^-53."""
        with mpmath.workprec(200):
            made = getattr(exponential, name)(x).tolist()
            pairs = ((mpmath.mpf(y), true(mpmath.mpf(t))) for y, t in zip(made, x, strict=True))
            return max(float(abs(y / z - 1) * 2**53) for y, z in pairs)

    assert 0.5 < worst() <= units
    monkeypatch.setattr(exponential, "_LOW", 0.0)  # a planted defect
    assert worst() > units
