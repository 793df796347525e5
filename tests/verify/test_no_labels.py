"""Data without labels: the rank is certified, and no claim is about labels."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest
from support.shell import Shell

import attncert
from attncert.constructions.data.dataset import Dataset
from attncert.verify.fit.fitted import fit

EYE = [[1, 0], [0, 1]]
QUERIES = [[1, 2], [3, 1], [1, 1]]


def test_no_labels_are_needed_for_the_rank(tmp_path: Path, shell: Shell) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"contexts": EYE, "queries": QUERIES}))
    out = ["--out", tmp_path / "out"]
    line = shell.refuses("prove", path, "--heads", "2", *out)
    assert "prove --claim full-rank needs no labels" in line
    shell.runs("prove", path, "--heads", "2", "--claim", "full-rank", *out)
    certificate = tmp_path / "out" / "certificate.json"
    shell.runs("check", certificate)
    report = (tmp_path / "out" / "report.md").read_text()
    assert "| labels | none are given |" in report and "and no label," in report
    shell.runs("capacity", path, "--out", tmp_path / "t")
    assert "Given labels:" not in (tmp_path / "t" / "report.md").read_text()
    for source in (path, certificate):  # the file has zeros, which are not labels
        assert "needs no labels" in shell.refuses("fit", source, *out)
    none = {"contexts": EYE, "queries": QUERIES, "labels": None}
    (tmp_path / "null.json").write_text(json.dumps(none))
    shell.refuses("prove", tmp_path / "null.json", *out)


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
    """Two examples have the same input, so not every labelling is possible; labels are unknown."""
    data = Dataset.of(EYE, [[1, 2], [1, 2]])
    proof = attncert.prove(data, attncert.Prove(heads=2, claim="full-rank"))
    assert proof.standing.value == "refuted" and proof.certificate is None
    assert not any(claim.statement.startswith("Given labels") for claim in proof.trace)
