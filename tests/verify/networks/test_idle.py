"""Planted idle blocks and units are found, and no active block or unit is called idle."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from flint import fmpq_mat
from support.shell import Shell

from attncert import Attention, Construction, Dataset, FeedForward, Network, register
from attncert.constructions.layer import Head
from attncert.verify.statements.idle import idle
from attncert.verify.statements.states import Views

ONE, ZERO = fmpq_mat([[1]]), fmpq_mat([[0]])
DATA = Dataset.of([[0], [1]], [[1], [2]], [1, 2])
SOFTMAX = Attention((Head(ONE, ONE, ONE),), ONE, unit="1")  # means within (0, 1)
HARDMAX = Attention((Head(ONE, ONE, ONE),), ONE, unit=None, rule="hardmax")  # token 1


def relu(*biases: int, of: str = "query", residual: bool = False, slope: int = 1) -> FeedForward:
    weights = fmpq_mat([[slope] * len(biases)])
    return FeedForward(weights, fmpq_mat([biases]), of, "relu", residual)


def said(*blocks: Any) -> dict[str, tuple[Any, str]]:
    network = Network(blocks)
    found = idle(Views(DATA, network, network))
    return {x.id.removeprefix("idle."): (x.numbers["idle"], x.level.value) for x in found}


OFF = {1: [1], 2: [1]}
SAME, ADDS_0 = FeedForward(ONE, ZERO), FeedForward(ZERO, ZERO, residual=True)


@pytest.mark.parametrize(
    ("blocks", "found"),
    [
        ((SAME, relu(0, of="all"), ADDS_0), {"blocks": ([1, 2, 3], "proved")}),
        ((FeedForward(ONE, ONE), SAME), {"blocks": ([2], "proved")}),
        ((SAME,), {}),  # a network of one block is not judged
        ((HARDMAX, HARDMAX), {"blocks": ([2], "proved")}),
        # token 0 alone is below 1
        ((relu(1, of="all", slope=-1),), {}),
        ((relu(1, slope=-1),), {"units": ({1: [1]}, "proved")}),
        ((relu(1, of="all", slope=-1, residual=True), SAME), {"blocks": ([2], "proved")}),
        ((relu(-2, -1),), {"units": ({1: [1]}, "proved")}),  # query 2 is at -1 + 2
        ((relu(-2, -3, residual=True), SAME), {}),  # shapes that do not fit
        ((relu(-2, residual=True),) * 2, {"blocks": ([1, 2], "proved"), "units": (OFF, "proved")}),
        ((SOFTMAX, SAME), {}),  # nothing is known after an irrational softmax
        ((SAME, SOFTMAX, relu(0)), {"blocks": ([1], "proved")}),
    ],
)
def test_planted_idle_blocks_and_units(blocks: Any, found: Any) -> None:
    assert said(*blocks) == found


def test_terminal_json_and_page_say_it(shell: Shell, tmp_path: Path) -> None:
    network = Network((SAME, relu(0, -9), FeedForward(fmpq_mat([[1], [1]]), ZERO)))
    register(Construction("idling", lambda data, request: network))
    (tmp_path / "data.json").write_text(json.dumps(DATA.canonical()))
    blocks = [{"kind": "feed-forward", "of": "query", "activation": x.activation,
               "weights": x.weights.tolist(), "bias": x.bias.tolist()[0], "residual": False}
              for x in network.blocks]  # fmt: skip
    (tmp_path / "network.json").write_text(json.dumps({"network": blocks}, default=str))
    lines = ("1 of 3 blocks changes no example here: 1 (proved).",
             "1 of 2 hidden units is never active here, in block 2 (proved).")  # fmt: skip
    for command in (["prove", "--construction", "idling"], ["layer", tmp_path / "network.json"]):
        command.insert(len(command) if command[0] == "layer" else 1, tmp_path / "data.json")
        printed = shell.runs(*command, "--out", tmp_path / "out").out.splitlines()
        assert set(lines) <= set(printed)
        answer = json.loads((tmp_path / "out" / "answer.json").read_text())
        claims = {x["id"]: x for x in answer["claims"]}
        assert claims["idle.blocks"]["numbers"] == {"idle": [1]}
        assert claims["idle.units"]["numbers"] == {"idle": {"2": [2]}}
        page = (tmp_path / "out" / "report.md").read_text()
        assert all(line.removesuffix(" (proved).") in page for line in lines)
