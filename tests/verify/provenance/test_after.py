"""A block before the layer: one certificate covers both, from the given data to the labels."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from support import networks
from support.requires import EXECUTABLE, verified_status
from support.shell import Shell
from support.small_certificates import changed, sealed, written

import attncert
from attncert import Dataset, Prove, prove, write_report
from attncert.constructions.network.file import as_json
from attncert.constructions.network.mixing import mean
from attncert.reports.certificate.explain import explain
from attncert.verify.certificates.certificate import data_file
from attncert.verify.checker import check_file
from attncert.verify.checking.fast.check import check_file as check_fast
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Level
from attncert.verify.claims.proof import Proof
from attncert.verify.provenance.after import AfterBlocks, after, behind

BEFORE = Prove(heads=2, before="mean")
DATA = Dataset.of(
    [[[1, 0, 2], [0, 3, 1]], [[2, 1, 0], [0, 1, 0]], [[1, 1, 5], [0, 2, "1/3"]]],
    [[1, 1, 1]] * 3,
    [5, "1/2", 7],
)


@pytest.fixture(scope="module")
def proof() -> Proof:
    return prove(DATA, BEFORE)


@pytest.fixture(scope="module")
def folder(proof: Proof, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("before") / "o"
    write_report(proof, path)
    return path


def test_one_query_is_memorized_in_two_blocks(proof: Proof, folder: Path) -> None:
    assert prove(DATA, Prove(heads=2)).standing is Level.NOT_APPLICABLE
    trace = proof.trace
    assert proof.standing is Level.PROVED and ids.BEFORE in trace[ids.MEMORIZATION].rests_on
    numbers = trace[ids.BEFORE].numbers
    assert list(numbers.values()) == [1, 1, 3] and trace[ids.A1].level is Level.PROVED
    page = (folder / "report.md").read_text()
    assert "One fixed block computed the data" in page and "--before mean" in page
    assert f"`{DATA.sha256}`" in page


@pytest.mark.parametrize("labels", [[5, "1/2", 7], [5, 6, 5]])
def test_the_report_says_which_data_the_certificate_holds(
    labels: list[int | str], tmp_path: Path
) -> None:
    """Weights are certified on the given data, but a relation only on the data after the blocks."""
    data = Dataset.of([[[1, 0], [0, 3]], [[1, 0], [0, 3]], [[1, 1], [0, 2]]], [[1, 1]] * 3, labels)
    if labels[0] != labels[1]:
        assert prove(data, BEFORE).standing is Level.REFUTED
    write_report(prove(data, BEFORE), tmp_path / "o")
    certificate = json.loads((tmp_path / "o" / "certificate.json").read_text())
    given = certificate["input_sha256"] == data.sha256
    page = (tmp_path / "o" / "report.md").read_text()
    assert ("The certificate holds the given data and all blocks." in page) is given
    assert ("neither the given data nor any fixed block" in page) is not given


def test_a_file_of_the_data_holds_the_given_ones(proof: Proof) -> None:
    """The file holds the data before the blocks, so no block is applied twice."""
    file = data_file(proof.data, always=True)
    assert file is not None and json.loads(file.content) == DATA.canonical()


def test_the_certificate_alone_leads_from_the_data_to_the_labels(
    folder: Path, tmp_path: Path
) -> None:
    """Plain fractions and the checker agree; any change is detected."""
    certificate = json.loads((folder / "certificate.json").read_text())
    labels = [[Fraction(x) for x in row] for row in certificate["data"]["labels"]]
    assert networks.outputs(certificate["network"], certificate["data"]) == labels
    assert certificate["data"] == DATA.canonical()
    assert check_file(str(folder / "certificate.json")).status == "holds"
    for path, leaf in (
        ("data.contexts.1.0.0", "3"),
        ("data.queries.2.1", "2"),
        ("data.labels.0.0", "6"),
        ("network.0.heads.0.value.0.0", "2"),
        ("network.0.residual", False),
        ("network.0.of", "query"),
    ):
        assert check_file(written(changed(certificate, path, leaf), tmp_path)).status == "wrong"


def test_a_rank_is_certified_behind_the_blocks(tmp_path: Path) -> None:
    proof = prove(DATA, replace(BEFORE, claim="full-rank"))
    path = written(dict(proof.certificate or {}), tmp_path)
    for check in (check_file, check_fast):
        assert check(path).status == "holds"
    lost = json.loads(Path(path).read_text())
    lost["network"] = lost["network"][1:]  # all queries are equal: the features are dependent
    assert check_file(written(changed(lost, "claim", "full-rank"), tmp_path)).status == "wrong"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"contexts": DATA.contexts}, "the context of example 0"),
        ({"queries": DATA.queries}, "the query of example 0"),
        ({"stated": None}, "the labels were changed"),
    ],
)
def test_other_data_are_refuted(change: Any, reason: str) -> None:
    front = mean(3)
    (claim,) = AfterBlocks(DATA, front).claims(replace(front.apply(DATA), **change))
    assert claim.level is Level.REFUTED and claim.witness and claim.witness["reason"] == reason


@pytest.mark.parametrize(
    ("other", "status"), [([[1, 1, 1], [0, 1, -1]], 3), ([[0, 2, 0], [1, 0, 0]], 1)]
)
def test_equal_means_leave_queries_equal(
    other: Any, status: int, tmp_path: Path, shell: Shell
) -> None:
    """Two contexts have the same mean; no weights separate them if one is a permutation of the
    other."""
    contexts = [[[1, 0, 0], [0, 2, 0]], other]
    data = {"contexts": contexts, "queries": [[1, 1, 1]] * 2, "labels": [[0], [1]]}
    (tmp_path / "x.json").write_text(json.dumps(data))
    line = ["prove", tmp_path / "x.json", "--before", "mean", "--out", tmp_path / "o"]
    said = shell.runs(*line, status=status).out
    assert said.startswith("Refuted:") == (status == 1), said


def test_equal_tokens_of_a_sequence_are_one_row_behind_the_blocks() -> None:
    """The mean adds the same vector to equal tokens, but the claim still compares each token."""
    data = attncert.of_sequences(["abaabbb"], {"a": [1, 0], "b": [0, 1]}, labels=[*range(1, 7)])
    made = behind(data, "mean")
    assert (data.n, made.n, made.longest) == (2, 2, 6)
    plain = after(data.expanded(), mean(2))
    assert all(made.rows(t).fractions() == plain.rows(t).fractions() for t in range(data.T))
    assert made.origin.claims(made)[0].level is Level.PROVED
    false = replace(made, contexts=made.contexts[::-1]).of_origin(made.origin)
    assert made.origin.claims(false)[0].level is Level.REFUTED


def test_a_network_of_ones_own_comes_before(tmp_path: Path, shell: Shell) -> None:
    """The same blocks are read from a file; files without a network get a one-line error."""
    (tmp_path / "network.json").write_text(json.dumps({"network": as_json(mean(3))}))
    proof = prove(DATA, replace(BEFORE, before=str(tmp_path / "network.json")))
    twin = prove(DATA, BEFORE)
    assert proof.certificate and twin.certificate
    assert proof.certificate["network"] == twin.certificate["network"]
    assert "--before BEFORE" in proof.certificate["produced_by"]["command"]
    (tmp_path / "data.json").write_text(json.dumps(DATA.canonical()))
    for content, words in (
        ("{}", "a JSON file"),
        ('{"network": [{"kind": "x"}]}', "block 1: kind: must be"),
        ('{"network": []}', "network: must be made of one or more blocks"),
        (json.dumps({"network": as_json(mean(2))}), "block 1: query: must be of 3 rows"),
    ):
        (tmp_path / "network.json").write_text(content)
        line = ["prove", tmp_path / "data.json", "--before", tmp_path / "network.json"]
        assert words in shell.refuses(*line, "--out", tmp_path / "o")


@pytest.mark.parametrize(
    ("question", "check"),
    [
        (Prove(heads=2), check_file),
        (Prove(heads=2, claim="full-rank"), check_fast),
        (Prove("relu"), check_file),
    ],
    ids=["layer", "rank", "network"],
)
def test_blocks_before_may_change_the_width(question: Prove, check: Any, tmp_path: Path) -> None:
    wider = {"kind": "feed-forward", "of": "all", "activation": "relu", "residual": False}
    wider |= {"weights": [[1, 0, 1], [0, 1, 1]], "bias": [0, 0, 1]}
    (tmp_path / "network.json").write_text(json.dumps({"network": [wider]}))
    data = Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, 1], [1, 1]], [5, "1/3", 7])
    proof = prove(data, replace(question, before=str(tmp_path / "network.json")))
    assert proof.standing is Level.PROVED and proof.certificate is not None
    certificate = dict(proof.certificate)
    path = written(certificate, tmp_path)
    assert check_file(path).status == check(path).status == "holds"
    assert "(2 tokens of 2 numbers each, the same one for all)" in explain(path).parts[1][1]
    queries, contexts = certificate["data"]["queries"], certificate["data"]["contexts"]
    for key, rows in (
        ("queries", [[*row, "0"] for row in queries]),
        ("queries", queries[:-1]),
        ("contexts", [[[*row, "0"] for row in rows] for rows in contexts]),
    ):
        other = written(changed(certificate, f"data.{key}", rows), tmp_path)
        assert check_file(other).status == check(other).status == "unusable"
    finer = certificate["data"] | {"queries": [["9/8", "2"], *queries[1:]]}
    kinds = {
        "domain": {"contexts": contexts, "queries": [*queries]},
        "rounded": {"grid": "1/2", "largest_change": "1/8", "data": finer},
    }
    for kind, keys in kinds.items():
        told = sealed(certificate | {"origin": {"kind": kind} | keys})
        query = "origin.queries.0" if kind == "domain" else "origin.data.queries.0"
        for file, status in (
            (told, "holds"),
            (changed(told, query, ["4", "4"]), "wrong"),
            (changed(told, query, ["1", "2", "0"]), "unusable"),
        ):
            path = written(file, tmp_path)
            assert check_file(path).status == check(path).status == status, (kind, status)
            if EXECUTABLE.exists():
                assert verified_status(path) == status


def test_a_block_before_and_rounding_are_not_one_run() -> None:
    with pytest.raises(
        attncert.InputError, match="before: must be left out if the data are rounded"
    ):
        Prove(before="mean", round="1/4")
    with pytest.raises(
        attncert.InputError, match="before: must be left out if the data are written to a"
    ):
        Prove(before="mean", data_file=True)
