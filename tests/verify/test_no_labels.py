"""Data without labels: what can be said is said, and nothing is said of labels."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

import attncert
from attncert.constructions.data.dataset import Dataset
from attncert.verify.near.fitted import fit

EYE = [[1, 0], [0, 1]]
QUERIES = [[1, 2], [3, 1], [1, 1]]


def test_no_labels_are_needed_for_the_rank(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"contexts": EYE, "queries": QUERIES}))
    out = ["--out", str(tmp_path / "out")]
    assert attncert.main(["prove", str(path), "--heads", "2", *out]) == 2
    assert "prove --claim full-rank needs no labels" in capsys.readouterr().err
    assert attncert.main(["prove", str(path), "--heads", "2", "--claim", "full-rank", *out]) == 0
    certificate = tmp_path / "out" / "certificate.json"
    assert attncert.main(["check", str(certificate)]) == 0
    report = (tmp_path / "out" / "report.md").read_text()
    assert "| labels | none are given |" in report and "and no label," in report
    assert "the data have no labels" in report  # and so no float64 weights for them
    assert attncert.main(["capacity", str(path), *out[:1], str(tmp_path / "t")]) == 0
    assert "Given labels:" not in (tmp_path / "t" / "report.md").read_text()
    capsys.readouterr()
    for source in (path, certificate):  # zeros stand in the file, and are no labels
        assert attncert.main(["explain", str(source)]) == 0
        assert attncert.main(["fit", str(source), *out]) == 2
        assert "needs no labels" in capsys.readouterr().err
    none = {"contexts": EYE, "queries": QUERIES, "labels": None}
    (tmp_path / "null.json").write_text(json.dumps(none))
    assert attncert.main(["prove", str(tmp_path / "null.json"), *out]) == 2


def test_nothing_is_said_of_labels_that_do_not_exist() -> None:
    data = Dataset.of(EYE, QUERIES)
    assert not data.labelled and data.m == 1 and not data.take([0, 2]).labelled
    missing = "labels: must be given"
    for claim in ("auto", "interpolation"):
        with pytest.raises(attncert.InputError, match=missing):
            attncert.prove(data, attncert.Prove(heads=2, claim=claim))  # type: ignore[arg-type]
    for ask in (lambda: data.labels, lambda: data.label_matrix, lambda: fit(data)):
        with pytest.raises(attncert.InputError, match=missing):
            ask()
    proof = attncert.prove(data, attncert.Prove(heads=2, claim="full-rank"))
    assert proof.standing.value == "proved"
    again = pickle.loads(pickle.dumps(data))
    assert (again.sha256, again.labelled) == (data.sha256, False)


def test_nothing_is_said_of_them_where_nothing_is_built() -> None:
    """Two examples of one input: no labelling is free, and which one is asked for is not known."""
    data = Dataset.of(EYE, [[1, 2], [1, 2]])
    proof = attncert.prove(data, attncert.Prove(heads=2, claim="full-rank"))
    assert proof.standing.value == "refuted" and proof.certificate is None
    assert not any(claim.statement.startswith("Given labels") for claim in proof.trace)
