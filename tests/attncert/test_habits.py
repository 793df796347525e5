"""What a command line is expected to know: help, version, quiet, standard input, other formats."""

from __future__ import annotations

import io
import json
import pickle
import re
import sys
from fractions import Fraction
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import attncert
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.numerals import numeral
from attncert.constructions.weights.load import load_weights
from attncert.verify.kruskal.vectors import load_vectors
from attncert.verify.near.fitted import fit_data

EYE = [[1, 0], [0, 1]]
QUERIES = [[1, 2], [3, 1], [1, 1]]
BOOLEANS = [True, False, True]


def piped(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert attncert.main(["--version"]) == 0
    assert capsys.readouterr().out == f"attncert {metadata.version('attncert')}\n"
    for words in (["-h"], ["prove", "-h"], ["explain", "-h"]):
        assert attncert.main(words) == 0
        assert capsys.readouterr().out.startswith("Usage: attncert")


@pytest.mark.parametrize("place", [0, 2])
def test_quiet_says_nothing_but_errors(
    place: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["explain", "digits"]
    words.insert(place, "--quiet")
    assert attncert.main(words) == 0
    assert capsys.readouterr() == ("", "")
    assert attncert.main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == "digits"
    assert attncert.main(["explain", str(tmp_path / "none.json"), "-q"]) == 2
    assert "must be an attncert certificate" in capsys.readouterr().err
    assert attncert.main(["explain", "digits"]) == 0  # the next run is not quiet
    assert capsys.readouterr().out.startswith("digits: 1,782 examples, ")


def test_shells_complete_commands(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for name, value in {
        "_ATTNCERT_COMPLETE": "complete_bash",
        "COMP_WORDS": "attncert kr",
        "COMP_CWORD": "1",
    }.items():
        monkeypatch.setenv(name, value)
    assert attncert.main([]) == 0
    assert capfd.readouterr().out.split() == ["kruskal"]


def test_boolean_labels_and_their_sha256(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In JSON, in .npz, from a pipe: the same data as 0 and 1, by the number that reports state."""
    right = Dataset.of(EYE, QUERIES, [1, 0, 1]).sha256
    content = {"contexts": EYE, "queries": QUERIES, "labels": BOOLEANS}
    (tmp_path / "x.json").write_text(json.dumps(content))
    np.savez(tmp_path / "x.npz", **{key: np.array(value) for key, value in content.items()})
    for source in (tmp_path / "x.json", tmp_path / "x.npz"):
        assert attncert.main(["explain", str(source)]) == 0
        sizes, digest = capsys.readouterr().out.splitlines()
        assert sizes.startswith("x: 3 examples, ") and digest == f"SHA-256: {right}"
        piped(monkeypatch, source.read_bytes())
        assert attncert.main(["explain", "-"]) == 0
        assert capsys.readouterr().out.splitlines() == [sizes.replace("x", "stdin", 1), digest]


@pytest.mark.parametrize("argument", ["contexts", "queries"])
def test_booleans_are_labels_alone(
    argument: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content: dict[str, Any] = {"contexts": EYE, "queries": QUERIES, "labels": BOOLEANS}
    np.savez(
        tmp_path / "x.npz",
        **{k: np.array(v, dtype=bool if k == argument else None) for k, v in content.items()},
    )
    assert attncert.main(["explain", str(tmp_path / "x.npz")]) == 2
    assert f"{argument}: must be integers, or floats" in capsys.readouterr().err


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
    assert (
        attncert.main(["tightness", str(path), "--heads", "2", *out[:1], str(tmp_path / "t")]) == 0
    )
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
            attncert.prove(data, attncert.Settings(heads=2, claim=claim))  # type: ignore[arg-type]
    for ask in (lambda: data.labels, lambda: data.label_matrix, lambda: fit_data(data)):
        with pytest.raises(attncert.InputError, match=missing):
            ask()
    proof = attncert.prove(data, attncert.Settings(heads=2, claim="full-rank"))
    assert proof.standing.value == "proved"
    again = pickle.loads(pickle.dumps(data))
    assert (again.sha256, again.labelled) == (data.sha256, False)


def test_nothing_is_said_of_them_where_nothing_is_built() -> None:
    """Two examples of one input: no labelling is free, and which one is asked for is not known."""
    data = Dataset.of(EYE, [[1, 2], [1, 2]])
    proof = attncert.prove(data, attncert.Settings(heads=2, claim="full-rank"))
    assert proof.standing.value == "refuted" and proof.certificate is None
    assert not any(claim.statement.startswith("Given labels") for claim in proof.trace)


def test_a_certificate_is_data_and_its_own_layer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = tmp_path / "x.json", tmp_path / "o"
    path.write_text(
        json.dumps({"contexts": EYE, "queries": [*QUERIES, [4, 1]], "labels": [5, 1, 7, 9]})
    )
    words = ["prove", str(path), "--examples", "3", "--heads", "2", "--out", str(out)]
    assert attncert.main(words) == 0
    certificate = out / "certificate.json"
    audit = ["audit", "--out", str(tmp_path / "a"), "--tolerance", "0", "--layer"]
    for words in (
        [*audit, str(certificate), str(certificate)],
        [*audit, str(certificate), str(path), "--examples", "3"],
        [*audit, "-", str(path), "--examples", "3"],
    ):
        piped(monkeypatch, certificate.read_bytes())
        assert attncert.main(words) == 0
        said = capsys.readouterr().out
        assert " within 0. Largest error 0 (every output equals its label); rank" in said
    assert attncert.main(["audit", "--examples", "3"]) == 2
    assert "--examples: must be given with a data set" in capsys.readouterr().err


def test_a_certificate_from_a_pipe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"contexts": EYE, "queries": QUERIES, "labels": BOOLEANS}))
    assert attncert.main(["prove", str(path), "--heads", "2", "--out", str(tmp_path / "o")]) == 0
    content = (tmp_path / "o" / "certificate.json").read_bytes()
    capsys.readouterr()
    for command in ("check", "explain"):
        piped(monkeypatch, content)
        assert attncert.main([command, "-"]) == 0
        piped(monkeypatch, content[:-9])
        assert attncert.main([command, "-"]) == 2
        assert capsys.readouterr().err.count("\n") == 1
    piped(monkeypatch, content)
    assert attncert.main(["audit", "-", "--layer", "-"]) == 2
    assert "a file, for one argument alone, not empty" in capsys.readouterr().err


def test_vectors_from_other_formats(tmp_path: Path) -> None:
    values = np.array([[1, 0, 2], [0, 1, -3]])
    np.save(tmp_path / "v.npy", values)
    np.save(tmp_path / "f.npy", np.asfortranarray(values * 0.5))
    (tmp_path / "v.csv").write_text("a,b,c\n1,0,2\n\n0,1,-3\n")
    (tmp_path / "f.csv").write_text("1/2,0,1e0\n0,.5,-1.5\n")
    for name in ("v.npy", "v.csv"):
        assert load_vectors(tmp_path / name).array.tolist() == values.tolist()
    assert load_vectors(tmp_path / "f.npy").array.tolist() == (values * 0.5).tolist()
    assert load_vectors(tmp_path / "f.csv").array.tolist() == values.tolist()  # over 1/2


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.npy", b"\x93NUMPY\x01\x00v\x00{'descr': '<f8'"),
        ("x.npy", b""),
        ("x.csv", b"1,2\n3\n"),
        ("x.csv", b"1,2\n3,b4\n"),
        ("x.csv", b"1,\xff\n"),
        ("x.csv", b""),
        ("x.csv", b"1,nan\n"),
    ],
)
def test_what_is_no_vectors_is_one_line(
    name: str, content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_bytes(content)
    assert attncert.main(["kruskal", str(tmp_path / name), "--out", str(tmp_path / "k")]) == 2
    assert capsys.readouterr().err.count("\n") == 1 and not (tmp_path / "k").exists()


def test_the_first_vectors_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "v.csv").write_text("1,0\n0,1\n1,0\n")
    words = ["kruskal", str(tmp_path / "v.csv"), "--work", "1", "--k", "2"]
    words += ["--out", str(tmp_path / "k")]
    assert [attncert.main([*words, *more]) for more in ([], ["--examples", "2"])] == [1, 0]
    assert attncert.main([*words, "--examples", "4"]) == 2
    assert "--examples: must be from 1 to 3, not 4" in capsys.readouterr().err


def test_a_layer_of_long_numbers_is_read(tmp_path: Path) -> None:
    """More digits than Python's own limit, as readouts have."""
    long = Fraction(10**100_000 + 1, 3**100_000)  # longer than a data set's denominators
    layer = {
        "query": [[1]],
        "key": [[1]],
        "value": [["1/2"]],
        "output": [[numeral(long)]],
    }
    (tmp_path / "w.json").write_text(json.dumps(layer))
    found = load_weights(tmp_path / "w.json").layer.output[0, 0]
    assert (int(found.p), int(found.q)) == long.as_integer_ratio()


@pytest.mark.slow
def test_the_readme_certificate_is_its_own_layer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its readout has numbers of more than 4,300 digits, which Python does not read by default."""
    words = ["prove", "digits", "--heads", "8", "--head-width", "4", "--examples", "25"]
    words += ["--saturate", "20"]  # as `make report` asks for
    assert attncert.main([*words, "--out", str(tmp_path / "o")]) == 0
    certificate = str(tmp_path / "o" / "certificate.json")
    assert max(map(len, re.findall("[0-9]+", Path(certificate).read_text()))) > 4300
    for data in (["digits", "--examples", "25"], [certificate]):
        words = ["audit", *data, "--layer", certificate, "--out", str(tmp_path / "a")]
        assert attncert.main(words) == 0
        assert "Largest error 0 (every output equals its label); " in capsys.readouterr().out
