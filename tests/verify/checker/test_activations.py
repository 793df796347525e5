"""SiLU and GELU: both evaluators against mpmath, and planted defects refused."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import pytest
from support import networks
from support.small_certificates import NOTHING, sealed, written

from attncert.constructions.network.file import of_json
from attncert.verify.checker import Limits, check_file
from attncert.verify.checker.functions import Functions

NAMES = "silu", "gelu", "gelu-tanh"


def definition(name: str, x: Any) -> Any:
    if name == "silu":
        return x / (1 + mpmath.exp(-x))
    if name == "gelu":
        return x * mpmath.ncdf(x)
    u = mpmath.sqrt(2 / mpmath.pi) * (x + mpmath.mpf(44715) / 10**6 * x**3)
    return x * (1 + mpmath.tanh(u)) / 2


@pytest.mark.parametrize("P", [40, 128, 300])
def test_balls_hold_the_values_at_their_centres_and_ends(P: int) -> None:
    """Zero, both signs and large values; from exact points and from wide balls."""
    draw, on, one = random.Random(P), Functions(P, Limits(math.inf, math.inf)), 1 << P
    for _ in range(60):
        size = draw.choice([0, 1, one, 20 * one, 500 * one])
        X, r = draw.randint(-size, size), draw.choice([0, 0, one // 7])
        with mpmath.workprec(6 * P + 2000):
            for name in NAMES:
                c, radius = getattr(on, name.replace("-", "_"))((X, r))
                for end in (X - r, X, X + r):
                    value = definition(name, mpmath.mpf(end) / one) * one
                    assert abs(value - c) <= radius
                assert r or radius <= 8 + 4 * abs(X) / one + 1000 * (name == "gelu-tanh")


def test_pi_is_enclosed() -> None:
    low, high = Functions(200, Limits(math.inf, math.inf)).pi_bounds(200)
    with mpmath.workprec(400):
        assert low < mpmath.pi * 2**200 < high


def certificate(name: str, off: Fraction) -> Any:
    """Two inputs through one hidden layer; labels of 150 bits are off by `off`."""
    block: dict[str, Any] = {"kind": "feed-forward", "of": "query", "residual": False}
    blocks = [
        block | {"activation": name, "weights": [["1", "-2"]], "bias": ["1/3", "0"]},
        block | {"activation": "identity", "weights": [["1"], ["3/2"]], "bias": ["1"]},
    ]
    inputs, labels = [Fraction(5, 7), Fraction(-3)], []
    with mpmath.workprec(200):
        for x in inputs:
            hidden = [
                definition(name, mpmath.mpf(z.numerator) / z.denominator)
                for z in (x + Fraction(1, 3), -2 * x)
            ]
            y = int(mpmath.floor((hidden[0] + mpmath.mpf(3) / 2 * hidden[1] + 1) * 2**150))
            labels.append([str(Fraction(y, 2**150) + off)])
    data = {"contexts": [[["0"]]], "queries": [[str(x)] for x in inputs], "labels": labels}
    dims = {"examples": 2, "context": 1, "width": 1, "labels": 1}
    body = {"claim": "network", "construction": "", "dims": dims, "data": data}
    about = {"network": blocks, "tokens": None, "produced_by": {}}
    return networks.nearly(sealed(NOTHING | body | about), f"1/{2**80}")


@pytest.mark.parametrize("name", NAMES)
def test_the_checker_and_the_evaluator_agree_with_the_definition(name: str, tmp_path: Path) -> None:
    true = certificate(name, Fraction(0))
    assert check_file(written(true, tmp_path)).status == "holds"
    false = certificate(name, Fraction(1, 2**79))
    assert check_file(written(false, tmp_path)).status == "wrong"
    network, data = of_json(true["network"]), networks.dataset(true["data"])
    for ball, (label,) in zip(
        network.enclosures(data, 128).entries(), true["data"]["labels"], strict=True
    ):
        assert abs(float(ball.mid()) - float(Fraction(label))) < 1e-12 and ball.rad() < 2**-90


@pytest.mark.parametrize("name", NAMES)
def test_another_activation_is_wrong(name: str, tmp_path: Path) -> None:
    """The labels of one activation are not the outputs of any other."""
    for other in {*NAMES, "relu", "identity", "threshold"} - {name}:
        planted = certificate(name, Fraction(0))
        planted["network"][0]["activation"] = other
        assert check_file(written(sealed(planted), tmp_path)).status == "wrong"
