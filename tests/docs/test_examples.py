"""The examples run, notebooks match their scripts, and networks agree with separate formulas."""

from __future__ import annotations

import json
import random
import runpy
from fractions import Fraction
from itertools import groupby, product
from operator import itemgetter
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import sympy
from flint import fmpq
from support.memory_cases import blocks, wrong
from support.paths import EXAMPLES, module

from attncert import (
    Attack,
    ClaimId,
    Construction,
    Dataset,
    Proof,
    Prove,
    attack,
    check,
    load,
    prove,
    register,
)
from attncert.constructions.network.file import loaded
from attncert.constructions.progress import silent
from attncert.verify.audit.sharpen import sharpen

quiet = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    return module(EXAMPLES / "make_notebook.py")


def cells(text: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(text)["cells"]
    return found


def printed(text: str) -> list[list[str]]:
    """The text that each code cell printed, with `picture` for each picture.

    A kernel sends what one cell prints in pieces of any size; neighbouring pieces are joined.
    """

    def of_cell(outputs: list[dict[str, Any]]) -> list[str]:
        pieces = [("".join(o["text"]) if "text" in o else "picture", "text" in o) for o in outputs]
        runs = [[piece for piece, _ in run] for _, run in groupby(pieces, itemgetter(1))]
        return [text for run in runs for text in (run if "picture" in run else ["".join(run)])]

    return [of_cell(cell["outputs"]) for cell in cells(text) if cell["cell_type"] == "code"]


@pytest.mark.slow
@pytest.mark.usefixtures("proved_once")
def test_the_script_runs(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / "export_weights.py"), run_name="__main__")
    printed = capsys.readouterr()
    assert "largest error in float64" in printed.out and printed.err == ""


@pytest.mark.parametrize("name", ["export_weights", "tutorial"])
def test_the_notebook_is_the_script(name: str, maker: ModuleType) -> None:
    made = maker.notebook((EXAMPLES / f"{name}.py").read_text())
    kept = cells((EXAMPLES / f"{name}.ipynb").read_text())
    assert [cell["source"] for cell in kept] == [cell["source"] for cell in cells(made)]


@pytest.mark.slow
@quiet
def test_the_tutorial_prints_what_it_shows(maker: ModuleType) -> None:
    kept = (EXAMPLES / "tutorial.ipynb").read_text()
    assert printed(maker.executed(kept)) == printed(kept)


@pytest.fixture(scope="module")
def gradient() -> dict[str, Any]:
    return runpy.run_path(str(EXAMPLES / "gradient_step.py"))


@pytest.fixture(scope="module")
def induction() -> dict[str, Any]:
    return runpy.run_path(str(EXAMPLES / "induction_head.py"))


# A step of gradient descent.


def by_sympy(data: Dataset, W: Any, rate: Fraction) -> list[list[Fraction]]:
    """The loss is differentiated by SymPy."""
    entries, step = sympy.Matrix(2, 3, sympy.symbols("w0:6")), sympy.Rational(str(rate))
    point = dict(zip(entries, [sympy.Rational(str(w)) for row in W for w in row], strict=True))
    predictions = []
    for t, query in enumerate(data.queries.strings()):
        errors = []
        for row in data.rows(t).strings():
            *x, a, b = map(sympy.Rational, row)
            errors.append(entries * sympy.Matrix(x) - sympy.Matrix([a, b]))
        loss = sum(error.dot(error) for error in errors) / (2 * len(errors))
        slopes = sympy.Matrix(2, 3, [sympy.diff(loss, w) for w in entries])
        after = (entries - step * slopes).subs(point) * sympy.Matrix(query[:3])
        predictions.append([Fraction(str(y)) for y in after])
    return predictions


@pytest.mark.slow
def test_a_step_of_gradient_descent(gradient: dict[str, Any]) -> None:
    draw = random.Random(5)
    W, rate = [gradient["_numbers"](draw, 3) for _ in range(2)], Fraction(2, 3)
    data, network = gradient["data_sets"](W, rate, 3), gradient["network"](W, rate)
    assert wrong(blocks(network), data) == []
    few = data.take(4)
    assert by_sympy(few, W, rate) == [list(row) for row in few.labels.fractions()]
    other = gradient["network"](W, Fraction(2, 5))
    assert len(wrong(blocks(other), data)) > 30


def test_the_script_of_the_step(
    gradient: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gradient["main"](str(tmp_path))
    assert "40 data sets: holds." in capsys.readouterr().out
    assert check(tmp_path / "gradient-step.json").status == "holds"


# An induction head.


def test_an_induction_head_is_audited(induction: dict[str, Any]) -> None:
    data = induction["strings"](4)
    words = [w for w in product("abc", repeat=4)
             if w[0] != w[3] and (w[1] == w[3]) != (w[2] == w[3])]  # fmt: skip
    assert data.T == len(words) == 24
    for name, level in (("HARDMAX", "proved"), ("SOFTMAX", "enclosed")):
        construction = induction[name]
        register(construction)
        proof = prove(data, Prove(construction.name))
        assert (proof.exit_status, proof.standing.value) == (0, level)
        assert proof.trace["step.successor"].level.value == level


def test_a_hypothesis_of_the_induction_head_is_needed(induction: dict[str, Any]) -> None:
    strings = induction["strings"](4)
    data = induction["spelled"]([[1, 0, 2, 1]])  # the first letter is also the last
    register(induction["HARDMAX"])
    proof = prove(data, Prove("induction-hardmax"))
    assert proof.trace["hypothesis.first"].level.value == "refuted"
    assert proof.trace["step.successor"].level.value == "refuted" and proof.exit_status == 1
    weak = induction["induction"]("softmax", 2)  # a weight of e^-2 elsewhere is too large
    register(weak)
    proof = prove(strings, Prove(weak.name))
    assert proof.trace["step.previous"].level.value == "enclosed"
    assert proof.trace["step.successor"].level.value == "refuted" and proof.exit_status == 1


@pytest.mark.slow
def test_what_the_hypotheses_of_the_induction_head_are_for(induction: dict[str, Any]) -> None:
    for name in ("HARDMAX", "SOFTMAX"):
        register(induction[name])
        answer = attack(Attack(induction[name].name, cases=20))
        assert answer.standing.value == "sampled" and answer.built.total()
    found = {x.hypothesis: x.words for x in sharpen(induction["HARDMAX"], True, 0, silent)}
    assert found["once"] == found["first"] == "step.successor breaks"


# The rank-one contextual mapping.


@pytest.fixture(scope="module")
def mapping() -> dict[str, Any]:
    return runpy.run_path(str(EXAMPLES / "rank_one_mapping.py"))


def audited(construction: Construction, data: Dataset) -> Proof:
    register(construction)
    return prove(data, Prove(construction.name))


def test_the_rank_one_mapping_is_audited(mapping: dict[str, Any]) -> None:
    data = load(str(EXAMPLES / "rank-one-text.json")).take(8)
    proof = audited(mapping["MAPPING"], data)
    assert proof.exit_status == 0 and proof.standing.value == "enclosed"
    steps = ("rank", "logits", "boltzmann", "near", "contextual")
    levels = [proof.trace[ClaimId(f"step.{step}")].level.value for step in steps]
    assert levels == ["proved"] + ["enclosed"] * 4
    built = mapping["mapping"](data)
    planted = fmpq((1000 * mapping["scale_of"](data, False)).ceil().unique_fmpz(), 1000)
    proof = audited(mapping["scaled"](planted / built.projection.square, "planted"), data)
    assert proof.exit_status == 1 and proof.standing.value == "enclosed"
    failed = proof.trace[ClaimId("step.logits")]
    assert failed.level.value == "refuted" and (failed.witness or {})["examples"]


def test_a_sequence_of_one_token_or_with_a_token_twice(mapping: dict[str, Any]) -> None:
    for context, false in (([[1]], "length"), ([[1], [1]], "once")):
        proof = audited(mapping["MAPPING"], Dataset.of([context, [[2], [3]]], [[1], [2]], [0, 1]))
        assert proof.trace[ClaimId(f"hypothesis.{false}")].level.value == "refuted"
        assert proof.exit_status != 0


@pytest.mark.slow
def test_a_network_trained_in_torch_is_the_one_audited(tmp_path: Path) -> None:
    """Each output of PyTorch in float32 is near the enclosure of the file's network."""
    pytest.importorskip("torch")
    script = runpy.run_path(str(EXAMPLES / "train_network.py"))
    for part in ("train", "main"):
        script[part].__globals__["STEPS"] = 60
    script["main"](tmp_path)
    outputs = script["train"]()(script["task"]()[0])[:, -1].detach().numpy()
    enclosed = loaded(tmp_path / "network.json").enclosures(load(tmp_path / "network-data.json"))
    middles = [[float(x.mid())] for x in enclosed.entries()]
    assert np.abs(outputs - middles).max() < 1e-4 and np.abs(outputs).max() > 1
