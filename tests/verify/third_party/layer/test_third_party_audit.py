"""Third-party layers from files: the verdict, ablation, certificates."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.third_party import ThirdParty, third_party

from attncert import check
from attncert.cli import main
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.weights.load import load_weights
from attncert.constructions.weights.stored import StoredLayer
from attncert.reports.answers import report
from attncert.verify.questions.layer import LayerQuestion
from attncert.verify.third_party.layer.layer import LayerAnswer, layer

RNG = np.random.default_rng(40)
T, N, D = 5, 4, 6
CONTEXTS, QUERIES = RNG.normal(size=(T, N, D)), RNG.normal(size=(T, D))
LAYER = third_party("bert", RNG, prefix="layer.3.attention.")
OUTPUTS = LAYER.outputs(CONTEXTS, QUERIES)
OFF = np.array([0.01, 0.5, 0.02, 0.3, 0.0])[:, None]  # differences between outputs and labels
DATA = Dataset.of(CONTEXTS, QUERIES, OUTPUTS + OFF)


def weights_of(layer: ThirdParty, folder: Path, **options: Any) -> StoredLayer:
    np.savez(folder / "layer.npz", **layer.state)
    return load_weights(folder / "layer.npz", heads=layer.heads, **options)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    np.savez(tmp_path / "data.npz", contexts=CONTEXTS, queries=QUERIES, labels=OUTPUTS + OFF)
    np.savez(tmp_path / "layer.npz", **LAYER.state)
    return tmp_path


def run(files: Path, *options: str) -> tuple[int, Any]:
    words = ["layer", str(files / "layer.npz"), str(files / "data.npz"), "--heads", "3"]
    status = main([*words, "--out", str(files / "out"), *options])
    content = files / "out" / "answer.json"
    return status, json.loads(content.read_text()) if content.exists() else None


def numbers_of(content: Any, claim_id: str) -> Any:
    return next(x["numbers"] for x in content["claims"] if x["id"] == claim_id)


def test_the_verdict(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, content = run(files, "--tolerance", "0.1")
    said = capsys.readouterr().out
    assert status == 1 and "by at most 1/10. Not on 1, 3; the largest error is in [0.5" in said
    numbers = content["exhibits"]
    assert numbers_of(content, "layer.memorizes")["beyond"] == [1, 3]
    assert numbers["format"] == "hf" and numbers["biases"]
    assert (files / "out/figures/saturation.svg").read_bytes().startswith(b"<svg")
    page = (files / "out/report.md").read_text()
    assert "| read as | hf under `layer.3.attention` |" in page and "a 1 is appended" in page
    assert run(files, "--tolerance", "0.6")[0] == 0


def test_ablation_is_what_numpy_gets(files: Path) -> None:
    _, content = run(files, "--tolerance", "0.1")
    labels, width = OUTPUTS + OFF, 2
    for h, head in enumerate(content["exhibits"]["heads"]):
        cut = LAYER.parts["o"].copy()
        cut[:, h * width : (h + 1) * width] = 0
        without = replace(LAYER, parts=LAYER.parts | {"o": cut}).outputs(CONTEXTS, QUERIES)
        low, high = (float(x) for x in head["without"])
        assert low - 1e-9 <= abs(without - labels).max() <= high + 1e-9


# The certificate.


@pytest.mark.parametrize("masked", [False, True])
def test_nearest_with_biases_has_a_certificate(masked: bool, tmp_path: Path) -> None:
    """One-hot labels mark the largest output according to NumPy, although no output is near 0 or 1.
    Wrong labels are refuted."""
    wide = third_party("bert", np.random.default_rng(5), width=4, prefix="layer.3.attention.")
    stored = weights_of(wide, tmp_path)
    mask = np.tri(T, N, dtype=bool) if masked else None
    outputs = wide.outputs(CONTEXTS, QUERIES, mask)
    labels = np.eye(outputs.shape[1], dtype=int)[outputs.argmax(axis=1)]
    answer = layer(stored, Dataset.of(CONTEXTS, QUERIES, labels), mask=mask)
    present = labels.any(axis=0)  # the margin is over the other labels in the data
    top, *rest = np.sort(outputs[:, present], axis=1).T[::-1]
    low, high = map(float, answer.claim.numbers["margin"])
    assert present.sum() > 1 and low - 1e-9 < (top - rest[0]).min() < high + 1e-9
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(answer.certificate))
    assert answer.certificate["claim"] == "nearest"
    assert check(path).status == "holds"
    assert "with its biases in blocks" in report(answer).files["report.md"].decode()

    labels[[0, 1, 2, 3, 4]] = labels[[1, 2, 3, 4, 0]]
    moved = layer(stored, Dataset.of(CONTEXTS, QUERIES, labels), mask=mask)
    wrong = np.flatnonzero(labels.argmax(axis=1) != outputs.argmax(axis=1)).tolist()
    assert moved.exit_status == 1 and moved.claim.numbers["beyond"] == wrong
    assert moved.certificate is None


def test_logits_divided_by_an_irrational_root_have_a_certificate(tmp_path: Path) -> None:
    answer = answered(weights_of(LAYER, tmp_path), tolerance=1)
    assert answer.holds and answer.certificate is not None
    assert answer.certificate["network"][1]["root"] == 2
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(answer.certificate))
    assert check(path).status == "holds"


def test_the_first_examples_and_their_masks(files: Path) -> None:
    """The mask in a file covers all examples of the data, even if only some are used."""
    mask = np.ones((T, N), dtype=np.int8)
    mask[1, :2] = 0
    np.savez(files / "mask.npz", mask=mask)
    words = ("--mask", str(files / "mask.npz"), "--tolerance", "9", "--examples")
    answers = [run(files, *words, count)[1] for count in ("3", "5")]
    some, every = (numbers_of(answer, "layer.error")["errors"] for answer in answers)
    assert some == every[:3] and len(every) == T
    assert answers[1]["exhibits"]["masked"]


def answered(weights: StoredLayer, data: Dataset = DATA, **options: Any) -> LayerAnswer:
    return layer(weights, data, LayerQuestion(**options))


def test_a_file_s_options_are_not_for_weights_in_memory(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="heads: must be given with a file of weights"):
        answered(weights_of(LAYER, tmp_path), heads=3)


def test_weights_without_labels_cannot_be_judged(tmp_path: Path) -> None:
    data = Dataset.of(CONTEXTS, QUERIES)
    with pytest.raises(InputError):
        answered(weights_of(LAYER, tmp_path), data)


@pytest.mark.slow
def test_a_certificate_is_data_and_its_own_layer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = tmp_path / "x.json", tmp_path / "o"
    path.write_text(
        json.dumps(
            {
                "contexts": [[1, 0], [0, 1]],
                "queries": [[1, 2], [3, 1], [1, 1], [4, 1]],
                "labels": [5, 1, 7, 9],
            }
        )
    )
    words = ["prove", str(path), "--examples", "3", "--heads", "2", "--out", str(out)]
    assert main(words) == 0
    certificate = out / "certificate.json"
    layer = ["layer", "--out", str(tmp_path / "a"), "--tolerance", "0"]
    for words in (
        [*layer, str(certificate), str(certificate)],
        [*layer, str(certificate), str(path), "--examples", "3"],
        [*layer, "-", str(path), "--examples", "3"],
    ):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(certificate.read_bytes())))
        assert main(words) == 0
        said = capsys.readouterr().out
        assert "by at most 0; every output equals its label." in said
