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


def test_a_certified_T_is_marked_by_what_limits_it(
    experiments: ModuleType, result: dict[str, Any]
) -> None:
    heads = {"series": "heads", "labels": "real"}
    (end,) = rows(result, **heads, contexts="random", heads=10)
    (weak,) = rows(result, **heads, contexts="fixed", heads=10)
    (large,) = rows(result, **heads, contexts="random", heads=30)
    (uncertified,) = rows(result, series="one-hot", contexts="fixed", heads=2)
    assert [experiments.notes(row) for row in (end, weak, large, uncertified)] == [
        "‡", "†", "\\*‡", "† (12 found)",
    ]  # fmt: skip
    (all_of_N,) = rows(result, **heads, contexts="random", heads=1)
    assert experiments.notes(all_of_N) == ""


def test_one_hot_labels_are_counted_in_examples(
    experiments: ModuleType, result: dict[str, Any]
) -> None:
    (row,) = rows(result, series="one-hot", contexts="fixed", heads=4)
    assert (experiments.examples(row), row["bounds"]["universal"], row["T"]) == (37, 29, 3)
    assert experiments.below_what_is_proved(row)
    assert not experiments.below_what_is_proved(row | {"T": 29})
    line = "| fixed | one-hot | 10 | 4 | 3† (11 found) | 8 % | 37 | 29 |"
    assert line in experiments.render(result)["report.md"].decode()


def test_saturation_is_compared_at_equal_T(experiments: ModuleType) -> None:
    same = {"contexts": "fixed", "n": 4, "d": 8, "heads": 2, "T": 13}
    (line,) = experiments.equal(
        same | {"weights": name, "saturated": shares}
        for name, shares in (
            ("paper", [[0.5, 1.0]]), ("width one", [[0.0, 1.0]]),
            ("fitted", [[0.0, 0.0], [0.2, 0.4], [0.0, 0.2]]),
        )
    )  # fmt: skip
    assert (line["paper"], line["width one"], line["median"]) == ([0.75], [0.5], 0.1)


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
