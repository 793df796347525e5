"""Token sequences: each claim on them, against the same claim on prefixes written out here."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from support import labelling_cases, near_cases
from support.given_oracle import jacobian_rank, zero_groups
from support.small_certificates import (
    Certificate,
    changed,
    impossible_certificate,
    layer_certificate,
    put,
    sealed,
    text,
    third,
    written,
)

from attncert import Dataset
from attncert.reports.certificate.explain import explain
from attncert.verify import checker
from attncert.verify.coq.instance import instance
from attncert.verify.fast import check as fast

EMBEDDING = [[1, 0, 2], [-1, 1, 1], [0, 2, -1], [2, 1, 0]]
POSITIONS = [[1, 1, 0], [0, -1, 2], [1, 0, 1], [-2, 1, 1], [0, 3, 1], [1, -1, -1]]
SEQUENCES = [[0, 1, 1, 2, 1, 3], [0, 2, 2, 1], [3]]
EXAMPLES = [[0, 1], [0, 2], [0, 3], [0, 5], [1, 2], [1, 3], [1, 0]]
TOKENS = [place + 1 for _, place in EXAMPLES]
LABELS = [[x] for x in (3, 1, 2, 5, 1, 2, 4)]


def prefixes(positions: Any = None) -> tuple[list[Any], list[Any]]:
    """Contexts, each token in a row of its own, and queries."""
    shifts = positions or [[0, 0, 0]] * 6
    contexts = [
        [
            [a + b for a, b in zip(EMBEDDING[x], shifts[i], strict=True)]
            for i, x in enumerate(SEQUENCES[s][: place + 1])
        ]
        for s, place in EXAMPLES
    ]
    return contexts, [context[-1] for context in contexts]


def listed(plain: Certificate, positions: Any = None) -> Certificate:
    """The same claim, its data as sequences."""
    data = {
        "embedding": text(EMBEDDING),
        "positions": positions and text(positions),
        "sequences": SEQUENCES,
        "examples": EXAMPLES,
        "labels": plain["data"]["labels"],
    }
    return sealed(plain | {"data": data, "tokens": None})


def of_layer(claim: str, positions: Any = None) -> Certificate:
    contexts, queries = prefixes(positions)
    rows = [[[Fraction(x) for x in row] for row in context] for context in contexts]
    inputs = rows, [[Fraction(x) for x in row] for row in queries]
    return layer_certificate(claim, T=7, d=3, H=4, tokens=TOKENS, inputs=inputs)


def near(positions: Any = None) -> Certificate:
    plain = near_cases.certificate(Dataset.of(*prefixes(positions), LABELS), 3, 1, 1)
    plain["data"]["contexts"] = text(prefixes(positions)[0])
    return third(plain, TOKENS)


def every_labelling(positions: Any = None) -> Certificate:
    draw, examples = random.Random(5), list(zip(*prefixes(positions), strict=True))
    while True:
        heads = zero_groups(draw, (2, 2), 3, 1)
        if jacobian_rank(examples, heads) == 7:
            plain = labelling_cases.certificate_of(examples, heads)
            plain["rank"]["prime"] = "11863067"  # for the fast check, too
            plain["dims"]["context"] = 6
            return third(plain, TOKENS)


def impossible(positions: Any = None) -> Certificate:
    """The first example is there twice."""
    contexts, queries = prefixes(positions)
    contexts[6], queries[6] = contexts[0], queries[0]
    return impossible_certificate(contexts, queries, LABELS, [1, 0, 0, 0, 0, 0, -1])


def network(positions: Any = None) -> Certificate:
    plain = of_layer("interpolation", positions)
    dims = {key: plain["dims"][key] for key in ("examples", "context", "width", "labels")}
    return sealed({k: x for k, x in plain.items() if k != "groups"}
                  | {"claim": "network", "dims": dims})  # fmt: skip


def within(positions: Any = None) -> Certificate:
    return sealed(network(positions) | {"claim": "outputs-within", "within": "1/1000"})


BUILDERS: dict[str, Callable[..., Certificate]] = {
    "interpolation": lambda positions=None: of_layer("interpolation", positions),
    "full-rank": lambda positions=None: of_layer("full-rank", positions),
    "interpolation-near": near,
    "every-labelling": every_labelling,
    "impossible": impossible,
    "network": network,
    "outputs-within": within,
}


def twice(certificate: Certificate) -> Certificate:
    """The last example is the first once more."""
    return changed(certificate, "data.examples.6", EXAMPLES[0])


def true_file(claim: str, positions: Any = None) -> Certificate:
    file = listed(BUILDERS[claim](positions), positions)
    return twice(file) if claim == "impossible" else file


TRUE = {claim: true_file(claim) for claim in BUILDERS}
CLAIMS = pytest.mark.parametrize("claim", BUILDERS)


def verdicts(certificate: Certificate, folder: Path) -> set[str]:
    path = written(certificate, folder)
    checks = [checker.check_file]
    checks += [fast.check_file] if certificate["claim"] in fast.FAST_CLAIMS else []
    return {check(path).status for check in checks}


@CLAIMS
@pytest.mark.parametrize("positions", [None, POSITIONS], ids=["symbols", "positions"])
def test_sequences_and_prefixes_have_one_verdict(
    claim: str, positions: Any, tmp_path: Path
) -> None:
    assert verdicts(BUILDERS[claim](positions), tmp_path) == {"holds"}
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
    """A rank, which may be full of others too, is that of a row that is there twice; no relation
    is between others."""
    file = copy.deepcopy(TRUE[claim])
    edit(file)
    if claim in ("full-rank", "every-labelling"):
        file = twice(file)
    if claim == "impossible":
        file["data"]["examples"][6] = [1, 0]
    assert verdicts(sealed(file), tmp_path) == {"wrong"}


def test_a_symbol_counts_as_often_as_it_stands(tmp_path: Path) -> None:
    """ "0 1" and "0 1 0 1" are one example to every head; "0 1" and "0 0 1" are not."""
    file = copy.deepcopy(TRUE["impossible"])
    file["data"] |= {"sequences": [[0, 1, 0, 1], [0, 0, 1]], "labels": [["1"], ["2"]]}
    file["dims"] |= {"examples": 2, "context": 4}
    file["relation"] = ["1", "-1"]
    for other, status in (([0, 3], "holds"), ([1, 2], "wrong")):
        file["data"]["examples"] = [[0, 1], other]
        file["dims"]["context"] = other[1] + 1
        assert verdicts(sealed(file), tmp_path) == {status}


def test_saturation_takes_every_token(tmp_path: Path) -> None:
    """The symbol 1 leads 0 by 3 in ln 2: 1 - p is 1/9, and 2/10 where 0 is there twice."""
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
    "an older format": put("format", to="attncert/2"),
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
    assert "places in 3 sequences over 4 symbols" in words


def test_no_theorem_is_written_of_sequences(tmp_path: Path) -> None:
    verdict, theorem = instance(written(TRUE["full-rank"], tmp_path))
    assert (verdict.status, verdict.message, theorem) == (
        "unusable", "--kernel reads no sequences", None,
    )  # fmt: skip
