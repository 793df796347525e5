"""Compares each claim on token sequences with the same claim on prefixes written out here."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from support.requires import EXECUTABLE, verified_status
from support.sequence_cases import BUILDERS, EXAMPLES, POSITIONS, TOKENS, TRUE, true_file, twice
from support.small_certificates import Certificate, put, sealed, text, written
from test_checker import VALIDATOR

from attncert.reports.certificate.explain import explain
from attncert.verify import checker
from attncert.verify.certificates.coq.instance import instance
from attncert.verify.checking.fast import check as fast

CLAIMS = pytest.mark.parametrize("claim", BUILDERS)


def verdicts(certificate: Certificate, folder: Path) -> set[str]:
    path = written(certificate, folder)
    checks = [checker.check_file]
    checks += [fast.check_file] if certificate["claim"] in fast.FAST_CLAIMS else []
    found = {check(path).status for check in checks}
    return found | {verified_status(path)} if EXECUTABLE.exists() else found


@CLAIMS
@pytest.mark.parametrize("positions", [None, POSITIONS], ids=["symbols", "positions"])
def test_sequences_and_prefixes_have_one_verdict(
    claim: str, positions: Any, tmp_path: Path
) -> None:
    file = BUILDERS[claim](positions)
    VALIDATOR.validate(file)
    assert verdicts(file, tmp_path) == {"holds"}
    assert verdicts(true_file(claim, positions), tmp_path) == {"holds"}


@pytest.mark.parametrize(
    "edit",
    [
        put("data", "sequences", 0, 2, to=3),
        put("data", "examples", 4, to=[1, 1]),
        put("data", "embedding", 1, 0, to="5"),
        put("data", "labels", 0, 0, to="-7"),
    ],
)
@CLAIMS
def test_another_text_is_another_claim(claim: str, edit: Any, tmp_path: Path) -> None:
    """For a claim about ranks, which may also be true of other data, one row is repeated; for a
    relation, one example is replaced."""
    file = copy.deepcopy(TRUE[claim])
    edit(file)
    if claim in ("full-rank", "every-labelling"):
        file = twice(file)
    if claim == "impossible":
        file["data"]["examples"][6] = [1, 0]
    assert verdicts(sealed(file), tmp_path) == {"wrong"}


def test_a_symbol_counts_as_often_as_it_stands(tmp_path: Path) -> None:
    """ "0 1" and "0 1 0 1" are the same example to every head; "0 1" and "0 0 1" are not."""
    file = copy.deepcopy(TRUE["impossible"])
    file["data"] |= {"sequences": [[0, 1, 0, 1], [0, 0, 1]], "labels": [["1"], ["2"]]}
    file["dims"] |= {"examples": 2, "context": 4}
    file["relation"] = ["1", "-1"]
    for other, status in (([0, 3], "holds"), ([1, 2], "wrong")):
        file["data"]["examples"] = [[0, 1], other]
        file["dims"]["context"] = other[1] + 1
        assert verdicts(sealed(file), tmp_path) == {status}


def test_saturation_takes_every_token(tmp_path: Path) -> None:
    """The symbol 1 leads 0 by 3 ln 2, so 1 - p is 1/9, and 2/10 if 0 occurs twice."""
    file = copy.deepcopy(TRUE["full-rank"])
    heads = [{"key": [["1"]], "query": [[x]], "value": None} for x in ("3", "9")]
    file["network"][0]["heads"] = heads
    file["dims"] = dict.fromkeys(file["dims"], 1) | {"examples": 1, "heads": 2}
    file["rank"]["value"] = 1
    for sequence, status in (([0, 1], "holds"), ([0, 0, 1], "wrong"), ([0, 1, 1], "wrong")):
        place = len(sequence) - 1
        file["data"] = {"embedding": [["0"], ["1"]], "positions": None, "sequences": [sequence],
                        "examples": [[0, place]], "labels": [["0"]]}  # fmt: skip
        file["dims"]["context"] = place + 1
        steered = {"groups": [[0]], "saturation": {"bits": 3, "own": True}}
        assert verdicts(sealed(file | steered), tmp_path) == {status}


UNUSABLE = {
    "token counts": put("tokens", to=TOKENS),
    "a symbol beyond": put("data", "sequences", 0, 1, to=4),
    "a negative symbol": put("data", "sequences", 0, 1, to=-1),
    "a symbol that is a truth value": put("data", "sequences", 0, 1, to=True),
    "a text": put("data", "sequences", 0, to="abc"),
    "no list of sequences": put("data", "sequences", to={}),
    "a place beyond": put("data", "examples", 0, to=[1, 4]),
    "a place before": put("data", "examples", 0, to=[1, -1]),
    "a sequence beyond": put("data", "examples", 0, to=[3, 0]),
    "a triple": put("data", "examples", 0, to=[0, 0, 0]),
    "fewer examples": put("data", "examples", to=EXAMPLES[1:]),
    "a ragged embedding": put("data", "embedding", 0, to=["1", "2"]),
    "few positions": put("data", "positions", to=text(POSITIONS[:5])),
    "narrow positions": put("data", "positions", to=[["1"]] * 6),
    "another length": put("dims", "context", to=7),
    "another key": put("data", "first", to=0),
}


@pytest.mark.parametrize("name", UNUSABLE)
@pytest.mark.parametrize("claim", ["full-rank", "interpolation-near", "impossible", "network"])
def test_what_is_no_sequence_is_unusable(claim: str, name: str, tmp_path: Path) -> None:
    file = copy.deepcopy(TRUE[claim])
    UNUSABLE[name](file)
    assert verdicts(sealed(file), tmp_path) == {"unusable"}


def test_a_huge_expansion_is_over_the_limit(tmp_path: Path) -> None:
    file = copy.deepcopy(TRUE["full-rank"])
    file["data"] |= {"sequences": [[0] * 200_000], "examples": [[0, 199_999]] * 7}
    file["dims"]["context"] = 200_000
    path = written(sealed(file), tmp_path)
    assert checker.check_file(path, limit_mib=1.0).status == "over limit"


@CLAIMS
def test_it_is_explained(claim: str, tmp_path: Path) -> None:
    words = dict(explain(written(TRUE[claim], tmp_path)).parts)["What it is about"]
    assert "positions in 3 sequences over 4 symbols" in words


def test_no_theorem_is_written_of_sequences(tmp_path: Path) -> None:
    verdict, theorem = instance(written(TRUE["full-rank"], tmp_path))
    assert (verdict.status, verdict.message, theorem) == (
        "unusable", "--kernel cannot read sequences", None,
    )  # fmt: skip
