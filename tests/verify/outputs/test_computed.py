"""What a machine computes lies in the balls, in whatever order it sums."""

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
from support.shares import random_cases, share
from support.short_transformer import T, d, deep, given, stored_exactly

import attncert
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.network.blocks import FeedForward
from attncert.constructions.network.file import of_json
from attncert.constructions.network.network import Network, readout
from attncert.verify.claims.evidence import Level
from attncert.verify.outputs import rounding
from attncert.verify.outputs.error import at_most, nearest
from attncert.verify.outputs.rounded import computed, computed_claims
from attncert.verify.outputs.rounding import FORMATS
from tests.support.float_oracle import Machine


@pytest.mark.parametrize("seeds", [4, random_cases(20)])
@pytest.mark.parametrize("name", share(FORMATS, 2))
def test_what_numpy_computes_in_any_order_lies_in_the_balls(
    name: str, seeds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    form, narrow, missed = FORMATS[name], 0, 0
    finer = replace(form, p=form.p + 20)  # a planted defect: rounding is 2^20 times as fine
    for seed in range(seeds):
        draw = random.Random(seed)
        listed, stored = deep(draw), given(draw)
        if seed % 2:
            listed, stored = stored_exactly(listed), stored_exactly(stored)
        network = of_json(listed)
        data = Dataset.of(stored["contexts"], stored["queries"], [[0] * d] * T)
        balls = computed(network, data, form)
        with monkeypatch.context() as patch:
            patch.setattr(rounding, "U", rounding.U / 2**20)
            planted = computed(network, data, finer)
        machine = Machine(getattr(np, name), seed)
        for _ in range(2):
            found = np.array(machine.outputs(listed, stored), dtype=float)
            for (t, j), x in np.ndenumerate(found):
                assert balls[t, j].contains(arb(x)), (seed, t, j)
                missed += not planted[t, j].contains(arb(x))
        radii = [float(x.rad()) for x in balls.entries()]
        spread = float(np.abs(found).max()) * form.u
        narrow += max(radii) < 1e6 * spread
    assert missed
    assert narrow >= seeds / 2  # balls that contain everything would be useless


def test_an_order_of_the_sum_that_loses_a_small_number_is_allowed() -> None:
    """In float32, (1 + 2^-24) - 1 is 0 if summed from the left, and 2^-24 from the right."""
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
    """Both classes get about 1/3; the first gets 2^-30 more than the second."""
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
    assert judged.level is Level.UNDECIDED


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
