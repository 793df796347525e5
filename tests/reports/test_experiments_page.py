"""The page on the paper's experiments says what its rows say."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from support.paths import ROOT

from attncert.reports.fit import experiments

RESULT = ROOT / "benchmarks" / "results" / "experiments.json"


def row(axis: str, value: int, T: int | None, contexts: str = "random") -> dict[str, Any]:
    sizes = {"n": 8, "heads": 4, "head_width": 1} | {axis: value}
    series = {"n": "context, small", "heads": "heads, small", "head_width": "head width"}[axis]
    return {
        "series": series, "contexts": contexts, "labels": "real", "d": 16, "m": 1, **sizes,
        "bounds": {"N": 200}, "T": T, "outcome": "certified" if T else "not found",
    }  # fmt: skip


def verdict(axis: str, found: Mapping[int, int | None]) -> str:
    (reading,) = experiments.readings([row(axis, x, T) for x, T in found.items()])
    return str(reading["verdict"])


@pytest.mark.parametrize(
    ("axis", "found", "said"),
    [
        ("heads", {1: 47, 2: 92, 4: 184}, "holds"),
        ("heads", {1: 47, 2: 70, 4: 100}, "**does not hold**"),
        ("n", {2: 188, 4: 184, 8: 184}, "**does not hold**"),
        ("n", {2: 60, 4: 80, 8: 110}, "holds"),
        ("n", {2: 60, 4: 80, 8: 70}, "open"),
        ("n", {2: 100, 4: 101, 8: 100}, "open"),  # N = 200 leaves room
        ("head_width", {1: 53, 8: 109, 16: 110}, "holds"),
        ("head_width", {1: 53, 8: 109, 16: 160}, "**does not hold**"),
        ("head_width", {1: 53, 4: 80, 8: 109}, "open"),
        ("head_width", {1: 53, 4: 80, 8: 109, 16: None}, "open"),
    ],
)
def test_a_reading_is_judged_by_the_certified_points(
    axis: str, found: dict[int, int | None], said: str
) -> None:
    assert verdict(axis, found) == said


def test_two_points_are_no_reading() -> None:
    assert experiments.readings([row("heads", H, 40 * H) for H in (1, 2)]) == []


def test_the_committed_points_are_certificates_that_were_checked() -> None:
    rows = json.loads(RESULT.read_text())["rows"]
    certified = [row for row in rows if row["outcome"] == "certified"]
    assert len(certified) > 100
    for point in certified:
        last = point["certificates"][-1]
        assert last["T"] == point["T"] and last["status"] == "holds"
        assert last["unknowns"] == point["T"] * point["m"] <= point["bounds"]["N"]
        own = point["T"] if point["contexts"] == "random" else 1
        items = last["unknowns"] ** 2 + own * point["n"] * point["d"]  # about, of its file
        small = last["unknowns"] <= 2000 and items < 2**23
        assert last["checked"] == ("file" if small else "in memory")
        tried = [one for one in point["tried"] if one["T"] == point["T"] and one["found"]]
        assert tried and point["kappa"] < 1
    for point in rows:
        if point["outcome"] != "certified":
            assert point.get("T") is None
