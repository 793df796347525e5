"""attncert fit: its files and messages, and every way in which it can end."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

import pytest
from support.newton import data_set
from support.shell import Shell

import attncert
from attncert.reports.answers import report, verdict
from attncert.reports.words.text import MARK
from attncert.verify.claims.evidence import Level
from attncert.verify.fit import fitted
from attncert.verify.fit.fitted import fit
from attncert.verify.newton import certify
from attncert.verify.questions.fit import Fit


def content(T: int, n: int = 3, d: int = 4) -> dict[str, Any]:
    draw = random.Random(T)

    def row(k: int) -> list[int]:
        return [draw.randint(-9, 9) for _ in range(k)]

    contexts = [[row(d) for _ in range(n)] for _ in range(T)]
    return {"contexts": contexts, "queries": [row(d) for _ in range(T)], "labels": row(T)}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.json"
    path.write_text(json.dumps(content(20)))
    return path


def test_it_writes_a_report_and_a_certificate_that_checks(
    data: Path, tmp_path: Path, shell: Shell
) -> None:
    out = tmp_path / "out"
    said = shell.runs("fit", data, "--out", out)
    assert said.out.startswith("Enclosed in rigorous intervals. Within ")
    assert said.err == ""
    files = {"report.md", "report.html", "answer.json", "timings.json", "certificate.json"}
    assert {path.name for path in out.iterdir()} == files | {"checker"}
    text = (out / "report.md").read_text()
    assert text.startswith(MARK) and "| heads, head width, value width | " in text
    assert "universal" in text and "every labelling" in text  # two other notions
    for options in ([], ["--fast"]):
        assert attncert.main(["check", str(out / "certificate.json"), *options]) == 0
    answer = json.loads((out / "answer.json").read_text())
    assert answer["standing"] == "enclosed" and answer["settings"]["heads"] is None
    record = answer["exhibits"]
    assert record["attempts"][-1]["found"]
    assert record["attempts"][-1]["effective_parameters"] >= 20
    errors = record["attempts"][-1]["steps"]
    assert errors[0] > 0.1 and errors[-1] < 1e-12


def test_above_the_bound_nothing_is_tried(data: Path, tmp_path: Path, shell: Shell) -> None:
    options = ["--heads", "1", "--out", tmp_path / "o"]
    said = shell.runs("fit", data, *options, status=3).out
    assert "itting 20 labels takes 20 effective parameters, but 1 head of width 1 " in said
    assert "(values: 1) has 11" in said
    assert not (tmp_path / "o" / "certificate.json").exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"labels": None}, "labels"),
        ({"labels": ["1" + "0" * 120] * 20}, "labels: must be made of numbers below 1e100"),
    ],
)
def test_unusable_input_is_one_line(
    change: dict[str, Any], said: str, tmp_path: Path, shell: Shell
) -> None:
    raw = {k: v for k, v in (content(20) | change).items() if v is not None}
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(raw))
    assert said in shell.refuses("fit", path, "--out", tmp_path / "o")
    assert not (tmp_path / "o").exists()


# No claim is made that does not hold.


def test_a_fit_without_a_certificate_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights that fit the labels in floating point are not evidence."""
    true = certify.contractions
    monkeypatch.setattr(certify, "contractions", lambda *a: true(*a) + 1)
    found = fit(data_set(5, 3, 3), Fit(heads=2))
    assert found.attempts[-1].descent.converged and found.exit_status == 3
    assert found.standing is Level.UNDECIDED
    assert "not shown to contract" in verdict(found)
    files = report(found).files
    assert "certificate.json" not in files and b"enclosed" not in files["report.md"].lower()


def test_no_number_of_heads_is_enough_where_contexts_are_constant() -> None:
    data = attncert.Dataset.of([[1, 2], [1, 2]], [[1, 2], [2, 1]], [1, 1])
    found = fit(data)
    assert found.exit_status == 3 and "no number of heads" in found.reason


# Labels that no weights output.


TIED = {
    "equal inputs": ([[1, 0], [0, 1]], [[2, 3], [2, 3], [1, 1]], [1, 5, 2], "to -4"),
    "opposite queries": (
        [[1, 0], [0, 1]], [[1, 2], [-1, -2], [3, 1], [-3, -1]], [1, 2, 3, 4], "to -4"
    ),
    "no attention": ([[1, 2], [1, 2]], [[1, 2], [2, 1]], [1, 2], "to -1"),
}  # fmt: skip


@pytest.mark.parametrize("options", [[], ["--heads", "9"]])
@pytest.mark.parametrize("name", TIED)
def test_tied_examples_come_first_as_in_prove(
    name: str, options: list[str], tmp_path: Path, shell: Shell
) -> None:
    """For labels of tied examples the answer is *refuted*, with the certificate that `prove` writes
    and in the same words."""
    contexts, queries, labels, sum_ = TIED[name]
    path, out = tmp_path / "data.json", tmp_path / "o"
    path.write_text(json.dumps({"contexts": [contexts], "queries": queries, "labels": labels}))
    line = shell.runs("fit", path, *options, "--out", out, status=1).out.splitlines()[0]
    assert line.startswith("Refuted: ") and line.endswith(f"{sum_}.")
    assert "With the coefficients" in line
    assert attncert.main(["check", str(out / "certificate.json")]) == 0
    heads = ["--heads", "9"] if len(labels) > 3 else []
    assert attncert.main(["prove", str(path), *heads, "--out", str(tmp_path / "p")]) == 1
    files = [json.loads((d / "certificate.json").read_text()) for d in (out, tmp_path / "p")]
    own = {"produced_by", "digest"}
    first, second = ({k: x for k, x in file.items() if k not in own} for file in files)
    assert first == second and first["claim"] == "impossible"
    record = json.loads((out / "answer.json").read_text())
    assert record["standing"] == "refuted" and record["exhibits"]["attempts"] == []


def test_large_ones_get_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitted, "MOST_UNKNOWNS", 4)
    files = report(fit(data_set(5, 3, 3), Fit(heads=2))).files
    assert "certificate.json" not in files and b"The command below" in files["report.md"]


def test_a_file_without_an_inverse_names_its_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(certify, "MOST_WITH_INVERSE", 4)
    files = report(fit(data_set(5, 3, 3), Fit(heads=2))).files
    page = files["report.md"]
    assert b"`attncert check --fast` computes one" in page and b"python checker" not in page
    path = tmp_path / "certificate.json"
    path.write_bytes(files["certificate.json"])
    assert attncert.main(["check", str(path), "--fast"]) == 0
    assert attncert.main(["check", str(path)]) == 3


# Devices and steps.


def test_a_missing_device_is_refused(
    data: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    said = shell.refuses("fit", data, "--device", "cuda")
    assert "device: must be cpu or auto if no CUDA device can be used" in said


def test_the_number_of_steps_is_an_option() -> None:
    fitted = fit(data_set(20, 3, 4), Fit(heads=2, steps=1))
    assert [len(attempt.descent.steps) for attempt in fitted.attempts] == [2, 2]
