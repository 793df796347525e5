"""Both checkers of interpolation-near: what they accept, and the spoiled files they do not."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.adversarial_certificates import near
from support.near_cases import Certificate, case
from support.small_certificates import digested, put, sealed, written

from attncert.verify import checker
from attncert.verify.checker import Verdict
from attncert.verify.fast import check as fast

CHECKS = {"standard library": checker.check_file, "fast": fast.check_file}
both = pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
Check = Callable[[str], Verdict]


# Files that were spoiled, with digests computed afresh.


def plus_one(text: str) -> str:
    p, _, q = text.partition("/")
    return f"{int(p) + int(q or 1)}/{q or 1}"


def minus(text: str) -> str:
    return text[1:] if text.startswith("-") else f"-{text}"


SPOILED = {
    "label": put("data", "labels", 0, 0, to=plus_one),
    "label of the last example": put("data", "labels", -1, 0, to=plus_one),
    "token": put("data", "contexts", 0, 0, 0, to=plus_one),
    "query": put("data", "queries", 0, 0, to=plus_one),
    "key": put("network", 0, "heads", 0, "key", 0, 0, to=plus_one),
    "query weight": put("network", 0, "heads", 1, "query", 0, 0, to=plus_one),
    "value": put("network", 0, "heads", 0, "value", 0, 0, to=plus_one),
    "output": put("network", 0, "output", 0, 0, to=plus_one),
    "heads exchanged": put("network", 0, "heads", to=lambda heads: heads[::-1]),
    "radius too small": put("near", "radius", to="1/1" + "0" * 25),
    "radius too large": put("near", "radius", to="100"),
    "radius zero": put("near", "radius", to="0"),
    "radius negative": put("near", "radius", to="-1/1000000000"),
    "inverse": put("near", "inverse", 0, 0, to=lambda x: plus_one(plus_one(x))),
    "inverse zero": put("near", "inverse", to=lambda A: [["0"] * len(A)] * len(A)),
    "inverse turned": put("near", "inverse", to=lambda A: [list(x) for x in zip(*A, strict=True)]),
    "inverse negated": put("near", "inverse", 0, to=lambda row: [minus(x) for x in row]),
    "unknowns exchanged": put("near", "unknowns", to=lambda k: [k[1], k[0], *k[2:]]),
    "unknown twice": put("near", "unknowns", to=lambda k: [k[1], *k[1:]]),
    "unknown too few": put("near", "unknowns", to=lambda k: k[1:]),
    "unknown beyond": put("near", "unknowns", -1, to=10_000),
    "unknown negative": put("near", "unknowns", 0, to=-1),
}  # fmt: skip
MALFORMED = {
    "logit unit": put("network", 0, "logit_unit", to="ln 2"),
    "unknown as text": put("near", "unknowns", 0, to="3"),
    "unknown as a truth value": put("near", "unknowns", 0, to=True),
    "radius as a float": put("near", "radius", to=0.5),
    "radius in another form": put("near", "radius", to="1e-9"),
    "inverse ragged": put("near", "inverse", 0, to=lambda row: row[1:]),
    "inverse of floats": put("near", "inverse", 0, 0, to=1.5),
    "a key too many": put("near", "more", to=1),
    "a key too few": lambda file: file["near"].pop("radius"),
    "groups": lambda file: file.update(groups=[[0]]),
    "another claim": put("claim", to="interpolation"),
    "dims": put("dims", "heads", to=0),
    "heads too many": put("dims", "heads", to=3),
}


@both
@pytest.mark.parametrize("spoil", SPOILED.values(), ids=SPOILED)
def test_false_ones_are_wrong(
    spoil: Callable[[Certificate], None], check: Check, tmp_path: Path
) -> None:
    file = case("distinct")
    spoil(file)
    assert check(written(sealed(file), tmp_path)).status == "wrong"


@both
@pytest.mark.parametrize("spoil", MALFORMED.values(), ids=MALFORMED)
def test_malformed_ones_are_unusable(
    spoil: Callable[[Certificate], None], check: Check, tmp_path: Path
) -> None:
    file = case("distinct")
    spoil(file)
    assert check(written(sealed(file), tmp_path)).status == "unusable"


@both
def test_a_label_that_is_off_by_less_than_the_radius_is_seen(check: Check, tmp_path: Path) -> None:
    """Not by rounding: what is 10^-9 away has no weights within 10^-14."""
    file = case("shared")
    p, _, q = file["data"]["labels"][0][0].partition("/")
    file["data"]["labels"][0][0] = f"{int(p) * 10**9 + 1}/{int(q or 1) * 10**9}"
    assert check(written(digested(sealed(file)), tmp_path)).status == "wrong"


@both
@pytest.mark.parametrize(
    ("path", "value", "status"),
    [
        (("near", "radius"), "1/1" + "0" * 300_000, "over limit"),  # bits of every ball
        (("network", 0, "heads", 0, "key", 0, 0), "9" * 150_000, "wrong"),  # of every logit
        (("near", "inverse", 0, 0), "1/" + "9" * 300_000, "holds"),  # over one denominator
        (("data", "contexts", 0, 0, 0), "7" * 200_000, "wrong"),
    ],
)
def test_long_numbers_are_judged_in_time(
    path: tuple[str | int, ...], value: str, status: str, check: Any, tmp_path: Path
) -> None:
    file = case("distinct")
    put(*path, to=value)(file)
    start = time.process_time()
    verdict = check(written(sealed(file), tmp_path), 2.0)
    assert time.process_time() - start < 4.0
    floats = check is fast.check_file and verdict.status == "wrong"  # and their balls infinite
    assert verdict.status == status or floats


# What is beyond float64.


@pytest.mark.parametrize("power", [300, 309, 400, 4000])
def test_a_radius_beyond_float64_is_judged(power: int, tmp_path: Path) -> None:
    """A weight that nothing depends on but one output, linearly: any radius will do."""
    content = near(radius=f"1{'0' * power}", unknowns=[2], inverse=[["1"]])
    for check in CHECKS.values():
        assert check(written(content, tmp_path)).status == "holds"


@pytest.mark.filterwarnings("error")
def test_numbers_beyond_float64_are_no_warnings(tmp_path: Path) -> None:
    """An infinite query times a derivative that is zero, of weights that do not even move."""
    head = {"key": [["0"]], "query": [["1"]], "value": [["1"]]}
    content = near(queries=[[f"1{'0' * 400}"]], head=head, unknowns=[2], inverse=[["1"]])
    assert fast.check_file(written(content, tmp_path)).status == "holds"
