"""The pages that benchmarks/ makes say what their rows say."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from support.paths import ROOT

RESULT = ROOT / "benchmarks" / "results" / "experiments.json"


@pytest.fixture
def experiments(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("experiments_page")


@pytest.fixture(scope="module")
def result() -> dict[str, Any]:
    return dict(json.loads(RESULT.read_text()))


def rows(result: dict[str, Any], **wanted: Any) -> Iterator[dict[str, Any]]:
    return (r for r in result["rows"] if all(r[key] == x for key, x in wanted.items()))


def test_the_committed_points_are_certificates_that_were_checked(
    experiments: ModuleType, result: dict[str, Any]
) -> None:
    certified = list(rows(result, outcome="certified"))
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
    for point in result["rows"]:
        assert point["bounds"] == experiments.key(point).bounds()
        assert point["outcome"] == "certified" or point.get("T") is None
