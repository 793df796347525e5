"""The checker's functions in balls agree with mpmath: activations, caps, turns, normalization."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from support.block_oracle import activated, real

from attncert.verify.checker import Limits, Rejected
from attncert.verify.checker.functions import Functions, centred, normalized

NAMES = "silu", "gelu", "gelu-tanh"
LIMITS = Limits(math.inf, math.inf)


@pytest.mark.parametrize("P", [40, 128, pytest.param(300, marks=pytest.mark.slow)])
def test_balls_hold_the_values_at_their_centres_and_ends(P: int) -> None:
    """The arguments are exact points and wide balls: zero, both signs, and large values."""
    draw, on, one = random.Random(P), Functions(P, LIMITS), 1 << P
    for _ in range(60):
        size = draw.choice([0, 1, one, 20 * one, 500 * one])
        X, r = draw.randint(-size, size), draw.choice([0, 0, one // 7])
        with mpmath.workprec(6 * P + 2000):
            for name in NAMES:
                c, radius = getattr(on, name.replace("-", "_"))((X, r))
                for end in (X - r, X, X + r):
                    value = activated(name, mpmath.mpf(end) / one) * one
                    assert abs(value - c) <= radius
                assert r or radius <= 8 + 4 * abs(X) / one + 1000 * (name == "gelu-tanh")
            p, q = draw.choice([(1, 3), (50, 1), (10**9, 7)])
            c, radius = on.capped((X, r), p, q)
            for end in (X - r, X, X + r):
                value = mpmath.tanh(mpmath.mpf(end) / one * q / p) * one * p / q
                assert abs(value - c) <= radius
            assert r or radius <= 8 + 8 * p / q


@pytest.mark.parametrize("P", [40, pytest.param(300, marks=pytest.mark.slow)])
def test_turns_are_enclosed(P: int) -> None:
    """The angles are small and huge, of both signs, and close to quarter turns."""
    draw, on = random.Random(P), Functions(P, LIMITS)
    for _ in range(150):
        q = draw.choice([1, 4, 19, 10**30 + 1])
        p = draw.choice([1, 7, 10**6, 10**40, 2**200]) * draw.randint(-9, 9)
        for radians in (False, True):
            with mpmath.workprec(P + 1000):
                angle = mpmath.mpf(p) / q * (1 if radians else 2 * mpmath.pi)
                (c, r), (s, t) = on.turn(p, q, radians)
                assert abs(mpmath.cos(angle) * 2**P - c) <= r <= 3
                assert abs(mpmath.sin(angle) * 2**P - s) <= t <= 3


def test_pi_is_enclosed() -> None:
    low, high = Functions(200, LIMITS).pi_bounds(200)
    with mpmath.workprec(400):
        assert low < mpmath.pi * 2**200 < high


def definition(vector: Any, epsilon: Any, is_centred: bool) -> list[Any]:
    less = sum(vector) / len(vector) if is_centred else 0
    rows = [x - less for x in vector]
    return [x / mpmath.sqrt(sum(y * y for y in rows) / len(rows) + epsilon) for x in rows]


@pytest.mark.parametrize("is_centred", [False, True])
@pytest.mark.parametrize("unit", [1, 3 * 10**40, 1 << 128])
def test_normalized_balls_hold_the_values_of_points_in_them(unit: int, is_centred: bool) -> None:
    """The entries are wide balls and points: zero, tiny and huge, of both signs."""
    draw, P, undecided = random.Random(unit), 128, 0
    for _ in range(80):
        size = draw.choice([1, 10**6, 10**60])
        centres = [draw.choice([0, draw.randint(-size, size)]) for _ in range(draw.randint(1, 5))]
        radii = [draw.choice([0, 0, 1, size // 5]) for _ in centres]
        p, q = draw.choice([(0, 1), (1, 10**5), (7, 2)])
        balls = centres, radii, unit
        try:
            found = normalized(centred(*balls) if is_centred else balls, (p, q), P, LIMITS)
        except Rejected as refusal:
            assert p == 0 and refusal.args[0] == "over limit"
            undecided += 1
            continue
        with mpmath.workprec(2000):
            for part in (-1, 0, Fraction(1, 3), 1):
                pairs = zip(centres, radii, strict=True)
                point = [real((c + part * r) / Fraction(unit)) for c, r in pairs]
                values = definition(point, mpmath.mpf(p) / q, is_centred)
                for value, (c, r) in zip(values, found, strict=True):
                    assert abs(value * 2**P - c) <= r + mpmath.mpf(2) ** -900
        assert any(radii) or max(r for _, r in found) <= 1
    assert 0 < undecided < 40
