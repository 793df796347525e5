"""Mutated certificates: none is accepted unless what it states is true.

The judge of truth is `certificate_judge.true_statement`. With the old digests every change is
rejected; with digests computed afresh, the checker and the judge agree on every changed number, and
the checker accepts no structural change that the judge does not find true.
"""

from __future__ import annotations

import copy
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.certificate_judge import judgement, true_statement
from support.file_strategies import UNICODE, certificates, garbage, mutants, mutated
from support.networks import at, places
from support.shares import SOME_OR_ALL
from support.small_certificates import (
    CASES,
    Certificate,
    digested,
    put,
    sealed,
    written,
)

from attncert.verify.checker import check_file

Place = tuple[str | int, ...]


# Every leaf, changed.


def replaced(certificate: Certificate, place: Place, value: Any) -> Certificate:
    certificate = copy.deepcopy(certificate)
    put(*place, to=value)(certificate)
    return certificate


def other_numbers(text: str) -> list[str]:
    x = Fraction(text)
    values = [x + 1, -x, 2 * x, Fraction(0), x + Fraction(1, 3), x - 30]
    return [str(value) for value in values if value != x]


def other_values(place: Place, value: Any) -> list[Any]:
    """Changes to one leaf: well-formed numbers first, then other values."""
    if value is None:
        return [0, "", {}]
    if place[0] == "data" or (
        place[0] == "network" and {"key", "query", "value", "output"} & {*place}
    ):
        return [*other_numbers(value), value + " ", 1, None]
    if place[0] == "origin" and place[1] != "kind":
        return [*other_numbers(value), "1/2", "-1", 1, None]
    if isinstance(value, int):
        return [value + 1, value - 1, -value - 1, str(value), True, None, 10**9, [value]]
    if place == ("rank", "prime"):
        return ["7", "3", "2", "1", "2147483647", "2147483581", int(value), value + "0"]
    if place[0] == "relation":
        return [*other_numbers(value), value + "/0", 1]
    return ["", "interpolation", "full-rank", "dependent-set", "impossible", f"{value}0", 0, None]


def changes(certificate: Certificate) -> list[tuple[Place, Any]]:
    """Every leaf is replaced by every other value."""
    return [
        (place, other)
        for place in places(certificate)
        if not isinstance(value := at(certificate, place), dict | list)
        for other in other_values(place, value)
        if other != value or type(other) is not type(value)
    ]


@SOME_OR_ALL
@pytest.mark.parametrize("name", CASES)
def test_a_changed_leaf_under_a_fresh_digest_is_judged(
    name: str, every: int, tmp_path: Path
) -> None:
    certificate = CASES[name]()
    accepted = rejected = 0
    for place, other in changes(certificate)[::every]:
        if place[0] in ("digest", "input_sha256"):
            continue
        changed = sealed(replaced(certificate, place, other))
        verdict = check_file(written(changed, tmp_path))
        assert (verdict.status == "holds") == true_statement(changed), (place, other, verdict)
        accepted += verdict.status == "holds"
        rejected += verdict.status != "holds"
    assert accepted > 0 and rejected > accepted, "free text may change, numbers rarely"


# Random changes to the structure, and certificates of random shapes.


def judged(certificate: Any, tmp_path: Path) -> str:
    """The checker's status; files that it accepts must have correct digests."""
    verdict = check_file(written(certificate, tmp_path))
    assert verdict.status in ("holds", "wrong", "unusable", "over limit")
    assert "\n" not in verdict.message
    if verdict.status == "holds":
        assert digested(sealed(certificate)) == certificate
    return verdict.status


some = partial(
    settings,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@some(max_examples=150)
@given(mutant=mutants(), fresh=st.sampled_from([sealed, digested, dict]))
def test_no_mutant_is_accepted_that_is_not_true(mutant: Any, fresh: Any, tmp_path: Path) -> None:
    file = fresh(mutant)
    assert judged(file, tmp_path) != "holds" or judgement(file) is not False


@some(max_examples=60)
@given(certificate=certificates())
def test_valid_certificates_of_random_shapes_hold(certificate: Any, tmp_path: Path) -> None:
    assert judged(certificate, tmp_path) == "holds" and judgement(certificate) is not False


@some(max_examples=50)
@given(certificate=st.dictionaries(st.text(UNICODE), garbage) | mutated({"format": "attncert/3"}))
def test_garbage_is_refused(certificate: Any, tmp_path: Path) -> None:
    assert judged(certificate, tmp_path) == "unusable"
