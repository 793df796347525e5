"""Both checkers of interpolation-near accept true files and reject spoiled ones."""

from __future__ import annotations

import time
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from support.adversarial_certificates import near
from support.every_claim import TRUE
from support.near_cases import case
from support.small_certificates import digested, put, sealed, written

from attncert.verify import checker
from attncert.verify.checker import Verdict
from attncert.verify.checker.near import NO_INVERSE
from attncert.verify.checking.fast import check as fast

CHECKS = {"standard library": checker.check_file, "fast": fast.check_file}
both = pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
Check = Callable[[str], Verdict]


@both
def test_a_label_that_is_off_by_less_than_the_radius_is_seen(check: Check, tmp_path: Path) -> None:
    """No weights within 10^-14 output labels that are 10^-9 away."""
    file = case("shared")
    p, _, q = file["data"]["labels"][0][0].partition("/")
    file["data"]["labels"][0][0] = f"{int(p) * 10**9 + 1}/{int(q or 1) * 10**9}"
    assert check(written(digested(sealed(file)), tmp_path)).status == "wrong"


@both
@pytest.mark.parametrize(
    ("path", "value", "status"),
    [
        (("near", "radius"), "1/1" + "0" * 300_000, "over limit"),  # balls need as many bits
        (("network", 0, "heads", 0, "key", 0, 0), "9" * 150_000, "wrong"),  # so do logits
        (("near", "inverse", 0, 0), "1/" + "9" * 300_000, "holds"),  # with one denominator
        (("data", "contexts", 0, 0, 0), "7" * 200_000, "wrong"),
    ],
)
def test_long_numbers_are_judged_in_time(
    path: tuple[str | int, ...], value: str, status: str, check: Any, tmp_path: Path
) -> None:
    file = case("distinct")
    put(*path, to=value)(file)
    start, limit = time.process_time(), 2.0 if status == "over limit" else 20.0
    verdict = check(written(sealed(file), tmp_path), limit)
    assert time.process_time() - start < 15
    floats = check is fast.check_file and verdict.status == "wrong"  # then the balls are infinite
    assert verdict.status == status or floats


@pytest.mark.parametrize("name", ["shared", "network"])
def test_a_file_may_leave_the_inverse_to_the_fast_check(name: str, tmp_path: Path) -> None:
    file = case("shared") if name == "shared" else deepcopy(TRUE["network-near"])
    put("near", "inverse", to=None)(file)
    path = written(sealed(file), tmp_path)
    assert fast.check_file(path).status == "holds"
    verdict = checker.check_file(path)
    assert (verdict.status, verdict.message) == ("over limit", NO_INVERSE)
    put("data", "labels", 0, 0, to="1000/7")(file)
    assert fast.check_file(written(digested(sealed(file)), tmp_path)).status == "wrong"


def test_a_singular_block_shows_nothing(tmp_path: Path) -> None:
    """The output does not depend on its query, since the key is zero."""
    head = {"key": [["0"]], "query": [["1"]], "value": [["1"]]}
    content = near(head=head, unknowns=[1], inverse=None)
    assert fast.check_file(written(content, tmp_path)).status == "wrong"
    content = near(head=head, unknowns=[2], inverse=None)
    assert fast.check_file(written(content, tmp_path)).status == "holds"


# Numbers beyond float64.


@pytest.mark.parametrize("power", [300, 309, 400, 4000])
def test_a_radius_beyond_float64_is_judged(power: int, tmp_path: Path) -> None:
    """Only one output depends on this weight, and linearly: any radius is valid."""
    content = near(radius=f"1{'0' * power}", unknowns=[2], inverse=[["1"]])
    for check in CHECKS.values():
        assert check(written(content, tmp_path)).status == "holds"


@pytest.mark.filterwarnings("error")
def test_numbers_beyond_float64_are_no_warnings(tmp_path: Path) -> None:
    """An infinite query is multiplied by the zero derivative of weights that do not move."""
    head = {"key": [["0"]], "query": [["1"]], "value": [["1"]]}
    content = near(queries=[[f"1{'0' * 400}"]], head=head, unknowns=[2], inverse=[["1"]])
    assert fast.check_file(written(content, tmp_path)).status == "holds"
