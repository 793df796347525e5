"""What a machine computes lies in the balls, whatever the order of its sums."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq, fmpq_mat

import attncert
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.network.blocks import FeedForward
from attncert.constructions.network.file import of_json
from attncert.constructions.network.network import Network, readout
from attncert.verify.claims.evidence import Level
from attncert.verify.outputs.error import at_most, nearest
from attncert.verify.outputs.rounded import FORMATS, computed, computed_claims
from tests.support.float_oracle import Machine

d, n, T = 4, 5, 3


def numbers(draw: random.Random, rows: int, columns: int) -> list[list[str]]:
    """Fractions, few of which float32 has."""
    return [
        [str(Fraction(draw.randint(-99, 99), 100)) for _ in range(columns)] for _ in range(rows)
    ]


def deep(draw: random.Random) -> list[Any]:
    """Two layers as in a transformer, the second with all parts of attention."""
    table = {"kind": "positions", "of": "all", "table": numbers(draw, n, d), "query_place": "last"}
    made: list[Any] = [table | {"residual": True}]
    for general in (False, True):
        norm = {
            "kind": "normalization", "of": "all", "centred": draw.random() < 0.5,
            "epsilon": "1/1000", "gain": numbers(draw, 1, d)[0], "bias": numbers(draw, 1, d)[0],
            "residual": False,
        }  # fmt: skip
        attention = attends(draw) | (parts(draw) if general else {})
        group = {"kind": "group", "of": "all", "blocks": [norm, attention], "residual": True}
        gated = {
            "kind": "gated", "of": "all", "activation": draw.choice(["silu", "gelu-tanh", "relu"]),
            "gate": numbers(draw, d, 6), "gate_bias": numbers(draw, 1, 6)[0],
            "weights": numbers(draw, d, 6), "bias": numbers(draw, 1, 6)[0], "residual": False,
        }  # fmt: skip
        back = {
            "kind": "feed-forward", "of": "all", "activation": "identity",
            "weights": numbers(draw, 6, d), "bias": numbers(draw, 1, d)[0], "residual": False,
        }  # fmt: skip
        made += [group, gated, back]
    return made


def attends(draw: random.Random) -> dict[str, Any]:
    """Two heads of width 2."""
    heads = [{part: numbers(draw, d, 2) for part in ("query", "key", "value")} for _ in range(2)]
    return {
        "kind": "attention", "of": "all", "rule": "softmax", "heads": heads, "mask": None,
        "logit_unit": draw.choice(["1", "ln 2"]), "output": numbers(draw, 4, d), "residual": False,
    }  # fmt: skip


def parts(draw: random.Random) -> dict[str, Any]:
    gains = {"query_gain": numbers(draw, 1, 2)[0], "key_gain": numbers(draw, 1, 2)[0]}
    return {
        "kind": "general-attention", "root": 2, "norm": {"epsilon": "1/100"} | gains,
        "rotary": {"unit": "radian", "frequencies": ["7/9"]}, "cap": "3/2",
        "slopes": ["1/3", "1/7"], "tables": [numbers(draw, n, n) for _ in range(2)],
        "sinks": ["1/9", "-1/9"], "query_place": "last",
    }  # fmt: skip


def given(draw: random.Random) -> tuple[Any, Dataset]:
    data = {"contexts": [numbers(draw, n, d) for _ in range(T)], "queries": numbers(draw, T, d)}
    return data, Dataset.of(data["contexts"], data["queries"], [[0] * d] * T)


@pytest.mark.parametrize("seeds", [4, pytest.param(60, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", FORMATS)
def test_what_numpy_computes_in_any_order_lies_in_the_balls(name: str, seeds: int) -> None:
    form, narrow, missed = FORMATS[name], 0, 0
    finer = replace(form, p=form.p + 20)  # a planted defect: rounding is 2^20 times as fine
    for seed in range(seeds):
        draw = random.Random(seed)
        listed, (stored, data) = deep(draw), given(draw)
        network = of_json(listed)
        balls, planted = (computed(network, data, x) for x in (form, finer))
        machine = Machine(getattr(np, name), seed)
        for _ in range(2):
            found = np.array(machine.outputs(listed, stored), dtype=float)
            for (t, j), x in np.ndenumerate(found):
                assert balls[t, j].contains(arb(x)), (seed, t, j)
                missed += not planted[t, j].contains(arb(x))
        radii = [float(x.rad()) for x in balls.entries()]
        spread = float(np.abs(found).max()) * 2.0**-form.p
        narrow += max(radii) < 1e6 * spread
    assert missed
    assert narrow >= seeds / 2  # balls that contain everything would be no use


def test_an_order_of_the_sum_that_loses_a_small_number_is_allowed() -> None:
    """(1 + 2^-24) - 1 is 0 in float32 from the left, and 2^-24 from the right."""
    data = Dataset.of([[0] * 3], [[1, "1/16777216", -1]], [0])
    network = Network((readout(fmpq_mat(3, 1, [1, 1, 1])),))
    [ball] = computed(network, data, FORMATS["float32"]).entries()
    assert ball.contains(arb(0)) and ball.contains(arb(2) ** -24)
    [ball] = computed(network, data, FORMATS["float64"]).entries()
    assert ball.contains(arb(2) ** -24) and not ball.contains(arb(0))


def test_sums_of_integers_are_exact_until_they_are_long() -> None:
    network = Network((readout(fmpq_mat(2, 1, [1, 1])),))
    for x, exact in ((2**23, True), (2**24, False)):
        data = Dataset.of([[0, 0]], [[x, x]], [0])
        [ball] = computed(network, data, FORMATS["float32"]).entries()
        assert ball.is_exact() == exact and ball.contains(arb(2 * x))


def claim(network: Network, data: Dataset, name: str = "float32", limit: Any = None) -> Any:
    model, judged = computed_claims(network, data, limit or nearest(), name)
    assert model.level is Level.ASSUMED and judged.rests_on == (model.id,)
    return judged


def test_a_margin_below_the_rounding_is_not_kept() -> None:
    """Both classes get 1/3, the first 2^-30 more."""
    more = fmpq(1, 3) + fmpq(1, 2**30)
    network = Network((readout(fmpq_mat(1, 2, [more, fmpq(1, 3)])),))
    data = Dataset.of([[0]], [[1], [-1]], [[1, 0], [0, 1]])
    assert claim(network, data).level is Level.UNDECIDED
    assert claim(network, data, "float64").level is Level.ENCLOSED
    wrong = Dataset.of([[0]], [[1], [-1]], [[0, 1], [1, 0]])
    assert claim(network, wrong, "float64").level is Level.REFUTED


def test_an_overflow_and_a_threshold_are_not_decided() -> None:
    square = fmpq_mat(1, 1, [10**20])
    network = Network((readout(square), readout(square)))
    data = Dataset.of([[0]], [[1]], [10**40])
    judged = claim(network, data, limit=at_most(Fraction(10**39)))
    assert judged.level is Level.UNDECIDED and "overflow in float32" in judged.witness["reason"]
    assert claim(network, data, "float64", at_most(Fraction(10**39))).level is Level.ENCLOSED
    tie = FeedForward(fmpq_mat([["1/3"], ["-1/3"]]), fmpq_mat(1, 1), activation="threshold")
    judged = claim(Network((tie,)), Dataset.of([[0, 0]], [[1, 1]], [1]), limit=at_most(Fraction(0)))
    assert "sign at a threshold" in judged.witness["reason"]


def test_the_command_adds_the_claim_and_its_exit_status(tmp_path: Path) -> None:
    weights = {"kind": "feed-forward", "of": "query", "activation": "identity", "residual": False}
    more = weights | {"weights": [["357913943/1073741824", "1/3"]], "bias": ["0", "0"]}
    (tmp_path / "network.json").write_text(json.dumps({"network": [more]}))
    data = Dataset.of([[0]], [[1], [-1]], [[1, 0], [0, 1]])
    (tmp_path / "data.json").write_text(json.dumps(data.canonical()))
    files = [str(tmp_path / "network.json"), str(tmp_path / "data.json")]
    for name, status in (("float64", 0), ("float32", 3)):
        out = tmp_path / name
        words = ["layer", *files, "--computed-in", name, "--out", str(out)]
        assert attncert.main(words) == status
        assert f"`claimed.{name}`" in (out / "report.md").read_text()
