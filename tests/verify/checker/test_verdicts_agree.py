"""The checker, the fast check, `explain` and the verified checker, where it is built, give one
verdict: on every file that tests have."""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.adversarial_certificates import MAKERS
from support.adversarial_changes import OF_CLAIM, is_true, mutant, of_bytes, true_files
from support.adversarial_changes import changed as adversarially
from support.file_strategies import mutants
from support.labelling_cases import case as labelling_case
from support.labelling_cases import with_small_prime
from support.near_cases import case
from support.requires import EXECUTABLE, verified_status
from support.shares import SOME_OR_ALL
from support.small_certificates import (
    CASES,
    Certificate,
    changed,
    digested,
    impossible_certificate,
    in_format_2,
    sealed,
    written,
)
from test_checker_mutations import changes, replaced
from test_checker_rejections import REJECTIONS

from attncert.constructions.errors import InputError
from attncert.reports.certificate.explain import explain
from attncert.verify import checker
from attncert.verify.fast import check as fast


def verdicts(content: Certificate | bytes | str, folder: Path) -> set[str]:
    """Of all that can judge the file; explain says "unusable" by an error. Of a network with two
    defects the fast check may name the other."""
    path = written(content, folder)
    verdict = checker.check_file(path)
    found = {verdict.status}
    try:
        found.add(explain(path).status)
    except InputError:
        found.add("unusable")
    if verdict.claim in (None, *fast.FAST_CLAIMS):
        quick = fast.check_file(path)
        both = {verdict.status, quick.status}
        two = verdict.claim == "network" and both == {"wrong", "unusable"}
        if not (two or quick.message.endswith("leave out --fast")):  # of primes it does not take
            found.add(quick.status)
    if EXECUTABLE.exists():  # its limits are its own
        found |= {verified_status(path)} - {"over limit"}
    within = found - {"over limit"}  # the verified checker takes longer powers
    return within if within and verdict.claim == "interpolation" else found


@pytest.mark.parametrize("name", REJECTIONS)
def test_on_rejections(name: str, tmp_path: Path) -> None:
    content, status, _ = REJECTIONS[name]
    assert verdicts(content, tmp_path) == {status}


@SOME_OR_ALL
@pytest.mark.parametrize("name", CASES)
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


# Every so many of their changed leaves in the slow tests; by default, of these each thirteenth.
OTHERS: dict[str, tuple[Callable[[], Certificate], int]] = {
    "near": (lambda: case("shared"), 7),
    "near, narrow values": (lambda: case("narrow values"), 7),
    "near, second": (lambda: in_format_2(case("shared")), 7),
    "every labelling": (lambda: with_small_prime(labelling_case("pair")), 5),
    "every labelling, shared": (lambda: with_small_prime(labelling_case("shared")), 5),
    "every labelling, wide labels": (lambda: with_small_prime(labelling_case("wide labels")), 5),
    "every labelling, second": (lambda: in_format_2(with_small_prime(labelling_case("wide"))), 5),
}


@SOME_OR_ALL
@pytest.mark.parametrize("name", OTHERS)
def test_on_changed_leaves_of_other_claims(name: str, every: int, tmp_path: Path) -> None:
    make, step = OTHERS[name]
    certificate, seen = make(), Counter[str]()
    assert verdicts(certificate, tmp_path) == {"holds"}
    for place, other in changes(certificate)[:: step * every]:
        found = verdicts(sealed(replaced(certificate, place, other)), tmp_path)
        assert len(found) == 1, (place, other, found)
        seen.update(found)
    assert set(seen) >= {"wrong", "unusable"}


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(mutant=mutants(), seal=st.sampled_from([sealed, digested, dict]))
def test_on_mutants(mutant: Any, seal: Any, tmp_path: Path) -> None:
    assert len(verdicts(seal(mutant), tmp_path)) == 1


@pytest.mark.slow
@pytest.mark.parametrize("claim", OF_CLAIM)
def test_on_adversarial_changes(claim: str, tmp_path: Path) -> None:
    """So many files as ATTNCERT_FILES says; what holds is true by plain formulas."""
    count = int(os.environ.get("ATTNCERT_FILES", 2000))
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


@pytest.mark.parametrize("name", MAKERS)
def test_on_costly_files(name: str, tmp_path: Path) -> None:
    assert len(verdicts(MAKERS[name](12), tmp_path)) == 1


@pytest.mark.parametrize("depth", [60, 61, 62, 63, 64, 985, 995, 100_000])
def test_nested_free_text(depth: int, tmp_path: Path) -> None:
    """61 brackets in those of the certificate and its `produced_by` make 63; the cap is 64."""
    for name in ("full-rank", "impossible"):
        text = json.dumps(sealed(CASES[name]() | {"produced_by": "HERE"}))
        nested = text.replace('"HERE"', "[" * depth + "]" * depth)
        if depth < 900:
            nested = json.dumps(sealed(json.loads(nested)))
        assert verdicts(nested, tmp_path) == {"holds" if depth < 64 else "unusable"}


def test_two_defects_are_seen_in_one_order(tmp_path: Path) -> None:
    """What is wrong in the rounding comes before what cannot be read, in the prime after it."""
    true = CASES["interpolation, rounded third"]()
    assert verdicts(true, tmp_path) == {"holds"}
    content = changed(true, "origin.largest_change", "7")
    assert verdicts(content, tmp_path) == {"wrong"}
    content = changed(content, "network.0.rule", "hardmax")
    assert verdicts(content, tmp_path) == {"wrong"}
    content = changed(CASES["full-rank, third"](), "rank.prime", "9")
    assert verdicts(changed(content, "network.0.logit_unit", "1"), tmp_path) == {"unusable"}


def test_long_sums_of_labels(tmp_path: Path) -> None:
    """1/p + 1/q + ... with a denominator of more digits than Python writes."""
    labels = [[f"1/{10**99 + 2 * t + 1}"] for t in range(60)]
    certificate = impossible_certificate([[[1], [2]]] * 60, [[1]] * 60, labels, [1, -1] * 30)
    assert verdicts(certificate, tmp_path) == {"holds"}
