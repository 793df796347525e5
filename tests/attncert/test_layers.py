"""`capacity` and `fit` with several layers, as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.shell import Shell

from attncert import Capacity, Dataset, Fit, capacity, fit
from attncert.constructions.data.generators import random
from attncert.verify.depth.capacity import DepthCapacity


def test_capacity_of_two_layers(tmp_path: Path, shell: Shell) -> None:
    out = tmp_path / "out"
    words = ("capacity", "digits", "--examples", 30, "--layers", 2, "--heads", 1, "--out", out)
    printed = shell.runs(*words)
    assert printed.out.startswith("Proved. The outputs on these examples")
    answer = json.loads((out / "answer.json").read_text())
    some = answer["exhibits"]["notions"][-1]
    assert some["labels"] == {"at least": 30, "at most": 30, "of": 30}
    files = sorted(path.name for path in out.glob("certificate*.json"))
    assert len(files) == 3
    for name in files:
        assert shell.runs("check", out / name).out.startswith("holds: ")


@pytest.mark.slow
def test_capacity_with_relu_units(tmp_path: Path, shell: Shell) -> None:
    out = tmp_path / "out"
    words = ("digits", "--examples", 60, "--layers", 2, "--heads", 1, "--feed-forward", 2)
    assert shell.runs("capacity", *words, "--out", out).out.startswith("Proved. The outputs")
    answer = json.loads((out / "answer.json").read_text())
    assert answer["exhibits"]["architecture"]["feed_forward"] == 2
    assert answer["exhibits"]["notions"][-1]["labels"] == {"at least": 60, "at most": 60, "of": 60}
    assert "2 ReLU units" in (out / "report.md").read_text()
    for path in out.glob("certificate*.json"):
        assert shell.runs("check", path).out.startswith("holds: ")


def test_relu_units_stand_between_layers(shell: Shell) -> None:
    refused = shell.refuses("capacity", "digits", "--feed-forward", 3)
    assert "--feed-forward: " in refused and "left out unless --layers is 2 or more" in refused
    many = shell.refuses("capacity", "digits", "--feed-forward", 4096, "--layers", 5)
    assert "--feed-forward: " in many and "entries" in many


@pytest.mark.slow
def test_a_law_that_is_not_reached_is_undecided() -> None:
    """The bound for a shared context ignores ReLU blocks, so it is too large here."""
    data = random(T=30, n=2, d=3, seed=1, shared=True)
    answer = capacity(data, Capacity(layers=2, heads=1, feed_forward=2))
    assert isinstance(answer, DepthCapacity)
    least, most = answer.notions[-1].least, answer.notions[-1].most
    assert least < most == answer.spans.bound(answer.shape)
    assert answer.standing.value == "undecided" and answer.exit_status == 3


@pytest.mark.slow
def test_a_shared_context_reaches_its_own_bound() -> None:
    """Tokens are shared and the query is not one of them, so tokens never depend on the example."""
    data = random(T=30, n=2, d=3, seed=1, shared=True)
    answer = capacity(data, Capacity(layers=2, heads=1))
    assert (answer.notions[-1].least, answer.notions[-1].most) == (10, 10)
    assert answer.standing.value == "argued" and answer.exit_status == 0


def test_more_labels_than_two_layers_have() -> None:
    answer = capacity(random(T=40, n=3, d=3, seed=1), Capacity(layers=2, heads=1))
    assert answer.standing.value == "argued" and "almost no labelling" in answer.statement


def test_two_layers_fit_what_one_does_not(tmp_path: Path, shell: Shell) -> None:
    """Of 30 labels, one layer of 2 heads can output at most 22."""
    data = random(T=30, n=4, d=4, seed=2)
    assert fit(data, Fit(heads=2)).standing.value == "undecided"
    answer = fit(data, Fit(heads=2, layers=2))
    assert answer.standing.value == "enclosed" and answer.attempts[-1].bound >= 30
    answer.write(tmp_path / "out")
    assert shell.runs("check", tmp_path / "out" / "certificate.json").out.startswith("holds: ")


@pytest.mark.parametrize("layers", [0, -1, 6, 10**9])
def test_layers_are_counted_from_one(layers: int, shell: Shell) -> None:
    assert "--layers: must be " in shell.refuses("capacity", "digits", "--layers", layers)


def test_data_that_several_layers_cannot_tell_apart(tmp_path: Path) -> None:
    """All vectors are 0, so all ranks are 0 as well."""
    data = Dataset.of([[0, 0]], [[0, 0], [0, 0]], [1, 2])
    answer = capacity(data, Capacity(layers=2))
    assert answer.notions[-1].least == 0
    assert (answer.notions[-1].needed, answer.notions[-1].enough) == (None, None)
    answer.write(tmp_path / "report")
    assert "no number of heads" in (tmp_path / "report" / "report.md").read_text()


def test_narrow_values_are_counted_for_some_labellings_alone() -> None:
    data = random(T=4, n=2, d=3, seed=1, m=3)
    answer = capacity(data, Capacity(layers=2, value_width=1))
    assert [row.about.value for row in answer.notions] == ["some labellings"]


def test_fit_of_data_that_no_number_of_heads_serves(tmp_path: Path) -> None:
    """With one shared token, the query has no effect."""
    answer = fit(Dataset.of([[1, 2]], [[1, 0], [0, 1]], [1, 2]), Fit(layers=2))
    answer.write(tmp_path / "out")
    assert answer.standing.value != "proved"
    assert "no number of heads" in (tmp_path / "out" / "report.md").read_text()
