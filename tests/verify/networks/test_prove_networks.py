"""`prove` for every construction of a network: proofs, and refusals with a pair of examples or a
one-line error."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from flint import fmpq, fmpq_mat
from support.shares import share

from attncert import Construction, Dataset, InputError, Prove, check, prove, write_report
from attncert.constructions.data.loading import load
from attncert.constructions.layer import Head
from attncert.constructions.network.blocks import Attention, FeedForward
from attncert.constructions.network.network import Network
from attncert.reports.answers import report, verdict
from attncert.verify.claims.evidence import Level
from attncert.verify.claims.proof import Proof
from attncert.verify.statements import registry

NAMES = [method.name for method in registry.network_methods() if registry.known(method.name)]
STEPS = {
    "relu": ["line", "hinges"],
    "threshold-pairs": ["planes"],
    "derivative-pairs": ["planes"],
    "two-layers": ["line", "halves"],
    "bits": ["line", "tapes"],
    "attention-relu": ["attention", "line", "hinges"],
}
OF_INPUTS = [name for name in STEPS if name != "attention-relu"]
SMALL = Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, 1], [1, 1], [0, 0]], [5, "1/3", 7, 5])
SAME_QUERY = Dataset.of([[[1], [2]], [[2], [3]], [[0], [3]]], [[1]] * 3, [1, 2, 3])
DEGENERATE = {
    "one example": Dataset.of([[0]], [[0]], ["-7/3"]),
    "zero input": Dataset.of([[0, 0]], [[0, 0], [1, 0]], [1, 2]),
    "on a line": Dataset.of([[1, 1]], [[t, -t] for t in range(-3, 4)], [0, 1, 0, 2, 0, 1, 3]),
    "twice": Dataset.of([[[1]], [[1]], [[2]]], [[4], [4], [5]], [1, 1, 2]),
    "one label": Dataset.of([[1]], [[1], [2], [3]], ["1/2"] * 3),
    "three labels": Dataset.of([[1]], [[1], [2], ["5/2"]], [[1, 0, 0], [0, "1/3", 0], [0, 0, -5]]),
    "one query": SAME_QUERY,
    "other lengths": Dataset.of([[[1]], [[2], [1]], [[0]]], [[1], [1], [3]], [1, 1, 3]),
}


def proved(data: Dataset, name: str, **options: Any) -> Proof:
    proof = prove(data, Prove(name, **options))
    assert isinstance(proof, Proof)
    return proof


def test_every_construction_has_its_steps_listed() -> None:
    assert set(STEPS) <= set(NAMES)


@pytest.mark.parametrize("kind", DEGENERATE)
@pytest.mark.parametrize("name", STEPS)
def test_degenerate_data_are_memorized(name: str, kind: str) -> None:
    data = DEGENERATE[kind]
    proof = proved(data, name)
    assert proof.standing is Level.PROVED and proof.exit_status == 0
    ids = [claim.id for claim in proof.trace if claim.id.startswith("step.")]
    assert ids == [f"step.{step}" for step in STEPS[name]]
    assert proof.proof_standing is Level.PROVED and "network.recomputed" in proof.trace
    numbers = proof.trace["parameters"].numbers
    assert numbers["blocks"] == proof.network.depth  # type: ignore[union-attr]
    assert proof.certificate is not None


@pytest.mark.parametrize("name", share(STEPS, 3))
def test_digits(name: str, tmp_path: Path) -> None:
    """The result is proved, and the checker in the folder accepts the certificate."""
    proof = proved(load("digits"), name, examples=20)
    assert proof.standing is Level.PROVED
    write_report(proof, tmp_path / "o")
    assert check(tmp_path / "o" / "certificate.json").status == "holds"
    line = [sys.executable, "-I", "checker", "certificate.json"]
    folder = subprocess.run(line, cwd=tmp_path / "o", capture_output=True, text=True, check=False)
    assert folder.returncode == 0 and "of all 20 examples, exactly" in folder.stdout
    spoilt = json.loads((tmp_path / "o" / "certificate.json").read_text())
    spoilt["network"][-1]["bias"][0] += "1"
    (tmp_path / "spoilt.json").write_text(json.dumps(spoilt))
    assert check(tmp_path / "spoilt.json").status == "wrong"


# Refusals.


@pytest.mark.parametrize("name", STEPS)
def test_equal_inputs_with_different_labels_are_refuted_with_the_pair(name: str) -> None:
    data = Dataset.of([[[1]], [[0]], [[1]]], [[2], [2], [2]], [1, 1, 3])
    proof = proved(data, name)
    assert (proof.standing, proof.exit_status) == (Level.REFUTED, 1)
    assert proof.trace["hypothesis.distinct-inputs"].witness["examples"] == [0]  # type: ignore[index]
    assert proof.trace["labels.function"].witness == {"examples": [0, 2]}
    claim = proof.trace["memorization"]
    assert claim.rests_on == ("labels.function",)
    assert claim.witness is not None and claim.witness["examples"] == [0, 2]
    assert proof.certificate is None and "no network outputs them" in verdict(proof)
    page = report(proof).files["report.md"].decode()
    assert "## The blocks" not in page and "refuted" in page


@pytest.mark.parametrize("name", OF_INPUTS)
def test_one_query_in_contexts_of_different_lengths_is_out_of_reach(name: str) -> None:
    """Only attention-relu takes such data, since attention reads the contexts."""
    data = Dataset.of([[[1]], [[2], [1]]], [[1], [1]], [1, 3])
    proof = proved(data, name)
    assert (proof.standing, proof.exit_status) == (Level.NOT_APPLICABLE, 3)
    assert proof.trace["labels.function"].level is Level.PROVED
    assert "does not apply" in proof.claim.statement
    assert "the numbers of tokens differ" in str(proof.claim.witness)
    assert proved(data, "attention-relu").standing is Level.PROVED


def test_tokens_in_another_order_are_the_same_to_attention_alone() -> None:
    data = Dataset.of([[[1], [2]], [[2], [1]]], [[1], [1]], [1, 3])
    assert proved(data, "attention-relu").standing is Level.NOT_APPLICABLE
    assert proved(data, "relu").standing is Level.PROVED


def test_undecided_where_the_search_ends() -> None:
    data = Dataset.of([[[-(2**60)], [2**60]], [[0], [0]]], [[1], [1]], [1, 2])
    proof = proved(data, "attention-relu")
    assert (proof.standing, proof.exit_status) == (Level.UNDECIDED, 3)


@pytest.mark.parametrize(
    ("option", "setting"),
    [
        ("heads", 2), ("head_width", 2), ("value_width", 2),
        ("saturate", 10), ("data_file", True),
    ],
)  # fmt: skip
def test_options_of_heads_are_refused(option: str, setting: Any) -> None:
    words = rf"^{option}: must be left out for the construction relu, not {setting}$"
    with pytest.raises(InputError, match=words):
        prove(SMALL, Prove("relu", **{option: setting}))


def test_other_questions_are_refused() -> None:
    with pytest.raises(InputError, match=r"^claim: must be interpolation with construction bits"):
        prove(SMALL, Prove("bits", claim="full-rank"))
    with pytest.raises(InputError, match=r"^labels"):
        prove(Dataset.of([[0]], [[1]]), Prove("relu"))


# Data with an origin.


@pytest.mark.parametrize("name", STEPS)
def test_rounded_data(name: str, tmp_path: Path) -> None:
    data = Dataset.of([[0]], [["1/3"], ["2/3"], [5]], [1, 2, 3])
    proof = proved(data, name, round="1/4")
    assert proof.standing is Level.PROVED and "rounding" in proof.claim.rests_on
    write_report(proof, tmp_path / "o")
    verdict = check(tmp_path / "o" / "certificate.json")
    assert verdict.status == "holds" and "rounded to multiples of 1/4" in verdict.message
    same = proved(data, name, round="1")  # 1/3 becomes 0, 2/3 becomes 1
    assert same.standing is Level.PROVED
    assert proved(data, name, round="8").standing is Level.REFUTED  # all become 0 or 8


@pytest.mark.parametrize("name", STEPS)
def test_a_block_in_front(name: str, tmp_path: Path) -> None:
    """The certificate holds the given data and all blocks."""
    data = Dataset.of([[[1], [3]], [[2], [6]], [[0], [1]]], [[1]] * 3, [1, 2, 3])
    proof = proved(data, name, before="mean")
    assert proof.standing is Level.PROVED and "before" in proof.claim.rests_on
    write_report(proof, tmp_path / "o")
    path = tmp_path / "o" / "certificate.json"
    file = json.loads(path.read_text())
    assert len(file["network"]) == proof.network.depth + 1  # type: ignore[union-attr]
    assert file["data"]["queries"] == [["1"]] * 3 and check(path).status == "holds"
    page = (tmp_path / "o" / "report.md").read_text()
    assert "One block before it computed its data" in page and f"`{data.sha256}`" in page


# What is written.


@pytest.mark.parametrize("name", STEPS)
def test_the_report_says_what_each_block_is_for(name: str) -> None:
    proof = proved(SMALL, name)
    method, network = proof.construction, proof.network
    assert network is not None
    purposes = list(method.purposes_of(network))
    assert sum(len(blocks) for blocks, _ in purposes) == network.depth
    page = report(proof).files["report.md"].decode()
    assert (
        page.splitlines()[1] == f"# A network on `attncert`: {method.title}" or method.title in page
    )
    assert f"`{method.source}`" in page and Path(method.source).is_file()
    for _, purpose in purposes:
        assert f"| {purpose} |" in page
    for key, number in proof.trace["parameters"].numbers.items():
        assert f"| {key} | {number} |" in page
    assert f"attncert prove DATA --construction {name}" in page
    for step in STEPS[name]:
        assert f"`step.{step}`**: proved" in page


ONE = fmpq_mat(1, 1, [1])
STEP = FeedForward(ONE, fmpq_mat(1, 1, [fmpq(-1, 2)]), activation="threshold")
BELOW = FeedForward(ONE, fmpq_mat(1, 1, [-2]), activation="relu")


@pytest.mark.parametrize(
    ("tokens", "behind", "label", "level"),
    [
        ([[0], [1]], (), 1, Level.REFUTED),
        ([[0], [1]], (STEP,), 1, Level.ENCLOSED),
        ([[0], [1]], (BELOW,), 0, Level.ENCLOSED),
        ([[0], [1]], (BELOW,), 1, Level.REFUTED),
        ([[0, 1], [1, 1]], (), 1, Level.UNDECIDED),
    ],
)
def test_an_irrational_network_of_a_third_party(
    tokens: Any, behind: Any, label: int, level: Level, tmp_path: Path
) -> None:
    """Balls can refute equality, and prove it if they are exact points; the certificate then states
    a tiny bound. The last network outputs a mean of ones with irrational weights."""
    d = len(tokens[0])
    first, last = (fmpq_mat(d, 1, row) for row in ([1, 0][:d], [0, 1][-d:]))
    softmax = Attention((Head(first, first, last),), ONE, unit="1")
    network = Network((softmax, *behind))
    registry.register(Construction("irrational", lambda *_: SimpleNamespace(network=network)))
    data = Dataset.of([tokens], [[1] * d], [label])
    answer = prove(data, Prove("irrational"))
    assert answer.standing is level
    assert ("not decided on 0" in answer.reason) == (level is Level.UNDECIDED)
    assert (answer.certificate is not None) == level.holds
    if answer.certificate is not None:
        assert answer.certificate["claim"] == "outputs-within"
        path = tmp_path / "certificate.json"
        path.write_text(json.dumps(answer.certificate))
        assert check(path).status == "holds"
