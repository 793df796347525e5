"""The checker, the fast check, `explain` and the verified checker, if it is built, give the same
verdict on every file that the tests use."""

from __future__ import annotations

import json
import random
import subprocess
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import every_claim
from support.adversarial_certificates import MAKERS
from support.adversarial_changes import OF_CLAIM, is_true, mutant, of_bytes, true_files
from support.adversarial_changes import changed as adversarially
from support.file_strategies import mutants
from support.requires import EXECUTABLE, verified_status
from support.shares import SOME_OR_ALL, random_cases, share
from support.small_certificates import (
    CASES,
    Certificate,
    changed,
    digested,
    impossible_certificate,
    sealed,
    written,
)
from support.verdict_cases import verdict_file
from test_checker_mutations import changes, replaced
from test_checker_rejections import REJECTIONS

from attncert.constructions.errors import InputError
from attncert.reports.certificate.explain import explain
from attncert.verify import checker
from attncert.verify.checking.fast import check as fast


def verdicts(content: Certificate | bytes | str, folder: Path) -> set[str]:
    """The verdicts of all judges of the file; explain reports "unusable" with an error. Each judge
    has its own limits."""
    path = written(content, folder)
    found = {checker.check_file(path).status, fast.check_file(path).status}
    try:
        found.add(explain(path).status)
    except InputError:
        found.add("unusable")
    if EXECUTABLE.exists():
        found.add(verified_status(path))
    return found - {"over limit"} or found


@pytest.mark.parametrize("name", REJECTIONS)
def test_on_rejections(name: str, tmp_path: Path) -> None:
    content, status, _ = REJECTIONS[name]
    assert verdicts(content, tmp_path) == {status}


@SOME_OR_ALL
@pytest.mark.parametrize("name", share(CASES, 2))
def test_on_changed_leaves(name: str, every: int, tmp_path: Path) -> None:
    certificate, seen = CASES[name](), Counter[str]()
    assert verdicts(certificate, tmp_path) == {"holds"}
    for place, other in changes(certificate)[:: 2 * every]:
        mutant = replaced(certificate, place, other)
        for seal in (sealed, digested):
            found = verdicts(seal(mutant), tmp_path)
            assert len(found) == 1, (place, other, found)
            seen.update(found)
    assert set(seen) >= {"wrong", "unusable"}


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(mutant=mutants(), seal=st.sampled_from([sealed, digested, dict]))
def test_on_mutants(mutant: Any, seal: Any, tmp_path: Path) -> None:
    assert len(verdicts(seal(mutant), tmp_path)) == 1


@pytest.mark.parametrize("count", [random_cases(500)])
@pytest.mark.parametrize("claim", OF_CLAIM)
def test_on_adversarial_changes(claim: str, count: int, tmp_path: Path) -> None:
    """Plain formulas must not refute an accepted file."""
    draw, true, seen = random.Random(count), true_files(claim), Counter[str]()
    for k in range(count):
        make = (of_bytes, adversarially, mutant, adversarially)[k % 4]
        content = make(draw, draw.choice(true))
        found = verdicts(content, tmp_path)
        assert len(found) == 1, (found, content)
        if found == {"holds"}:
            assert is_true(content if isinstance(content, dict) else json.loads(content)), content
        seen.update(found)
    assert set(seen) >= {"holds", "wrong", "unusable"}


@pytest.mark.parametrize("count", [random_cases(300)])
def test_on_files_of_every_claim(count: int, tmp_path: Path) -> None:
    """Files known to be true hold, and the others are wrong."""
    draw, seen = random.Random(count), Counter[str]()
    for _ in range(count):
        content, true = verdict_file(draw)
        found = verdicts(content, tmp_path)
        assert len(found) == 1, (found, content)
        assert true is None or found <= {"over limit", "holds" if true else "wrong"}, content
        seen.update(found)
    assert set(seen) >= {"holds", "wrong", "unusable"}


TIE: dict[str, Any] = {  # e / (1 + e) is above 1/2; then a sign at 0, exactly
    "data": {"contexts": [[["0"], ["1"]]], "queries": [["1"]], "labels": [["1"]]},
    "network": [
        {
            "kind": "attention", "of": "query", "rule": "softmax", "logit_unit": "1",
            "heads": [{"key": [["1"]], "query": [["1"]], "value": [["1"]]}], "output": [["1"]],
            "mask": None, "residual": False,
        },
        *(
            {"kind": "feed-forward", "of": "query", "activation": "threshold",
             "weights": [["1"]], "bias": [bias], "residual": False}
            for bias in ("-1/2", "-1")
        ),
    ],
}  # fmt: skip


@pytest.mark.parametrize("claim", [{"claim": "network"}, {"within": "1/9"}])
def test_exact_points_decide_ties(claim: dict[str, Any], tmp_path: Path) -> None:
    dims = {"examples": 1, "context": 2, "width": 1, "labels": 1}
    file = sealed(every_claim.TRUE["network"] | TIE | {"tokens": None, "dims": dims} | claim
                  | ({"claim": "outputs-within"} if "within" in claim else {}))  # fmt: skip
    path = written(file, tmp_path)
    assert checker.check_file(path).status == "holds"
    if EXECUTABLE.exists():
        line = subprocess.run([EXECUTABLE, path], capture_output=True, check=False).stdout.decode()
        assert line == f"holds: {checker.check_file(path).message}\n" and "the one example" in line
    assert verdicts(changed(file, "data.labels.0.0", "0"), tmp_path) == {"wrong"}
    assert verdicts(changed(file, "network.1.bias.0", "-1"), tmp_path) == {"wrong"}


def test_a_rational_network_is_judged_in_rationals(tmp_path: Path) -> None:
    """The error of an output is exactly the bound."""
    file = every_claim.TRUE["outputs-within"]
    label = Fraction(file["data"]["labels"][0][0])
    for off, status in ((Fraction(1, 3), "holds"), (Fraction(1, 3) + Fraction(1, 2**200), "wrong")):
        edge = changed(file | {"within": "1/3"}, "data.labels.0.0", str(label + off))
        path = written(edge, tmp_path)
        assert checker.check_file(path).status == status


@pytest.mark.parametrize("name", share(MAKERS, 6))
def test_on_costly_files(name: str, tmp_path: Path) -> None:
    assert len(verdicts(MAKERS[name](12), tmp_path)) == 1


@pytest.mark.parametrize("depth", [60, 61, 62, 63, 64, 985, 995, 100_000])
def test_nested_free_text(depth: int, tmp_path: Path) -> None:
    """At most 64 brackets may be nested: those of the certificate itself, and 63 inside them."""
    for name in ("full-rank", "impossible"):
        text = json.dumps(sealed(CASES[name]() | {"produced_by": "HERE"}))
        nested = text.replace('"HERE"', "[" * depth + "]" * depth)
        if depth < 900:
            nested = json.dumps(sealed(json.loads(nested)))
        assert verdicts(nested, tmp_path) == {"holds" if depth < 64 else "unusable"}


def test_two_defects_are_seen_in_one_order(tmp_path: Path) -> None:
    """An error in the rounding is reported before an unreadable prime, which follows it."""
    true = CASES["interpolation, steered"]()
    assert verdicts(true, tmp_path) == {"holds"}
    content = changed(true, "origin.largest_change", "7")
    assert verdicts(content, tmp_path) == {"wrong"}
    content = changed(content, "network.0.rule", "hardmax")
    assert verdicts(content, tmp_path) == {"wrong"}
    content = changed(CASES["full-rank, lengths"](), "rank.prime", "9")
    assert verdicts(changed(content, "network.0.logit_unit", "1"), tmp_path) == {"unusable"}


def test_long_sums_of_labels(tmp_path: Path) -> None:
    """The sum 1/p + 1/q + ... has a denominator of more digits than Python writes."""
    labels = [[f"1/{10**99 + 2 * t + 1}"] for t in range(60)]
    certificate = impossible_certificate([[[1], [2]]] * 60, [[1]] * 60, labels, [1, -1] * 30)
    assert verdicts(certificate, tmp_path) == {"holds"}
