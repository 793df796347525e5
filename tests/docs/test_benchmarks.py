"""docs/measured.md says what the committed results say."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from types import ModuleType

import pytest
from support.paths import ROOT


@pytest.fixture
def benchmark(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module(request.param)


@pytest.mark.parametrize(
    "benchmark", ["digits", "fit", "width_one", "rank_tables", "every_labelling"], indirect=True
)
def test_the_table_is_that_of_the_committed_results(benchmark: ModuleType) -> None:
    """After a new run: `python benchmarks/NAME.py --table`."""
    result = json.loads((ROOT / benchmark.OUT).read_text())
    text = (ROOT / "docs" / "measured.md").read_text()
    name = benchmark.__name__
    between = text.split(f"<!-- {name}.py -->\n")[1].split("<!-- end -->")[0]
    assert between == benchmark.markdown(result) + "\n"
    assert benchmark.markdown(result).count("\n") > 1


@pytest.mark.parametrize("benchmark", ["models"], indirect=True)
def test_the_tables_of_real_models_are_those_of_the_results(benchmark: ModuleType) -> None:
    """After a new run of benchmarks/models.py, which writes them itself."""
    assert benchmark.page() == benchmark.PAGE.read_text()
    assert {path.name for path in benchmark.REPORTS.iterdir()} == set(benchmark.CASES)
    told = json.loads(benchmark.RESULTS.read_text())["cases"]
    assert set(told) == set(benchmark.CASES)


@pytest.mark.parametrize("benchmark", ["digits"], indirect=True)
def test_what_was_not_reached_is_said(benchmark: ModuleType) -> None:
    ours = {"parameters": 100, "bits_of_Z": 7, "build_s": 0.1, "solve_s": 0.2, "readout_bits": 5000}
    rows = [
        {"construction": "width-one", "T": 25, "heads": 8, **ours},
        {"construction": "paper", "T": 25, "heads": 8, **ours, "parameters": 250},
        {"construction": "width-one", "T": 49, "heads": 16, **ours},
        {"construction": "paper", "T": 49, "outcome": "not within 60 s"},
        {"construction": "width-one", "T": 97, "heads": 32, **ours},
        {"construction": "width-one", "T": 193, "outcome": "not within 5 s"},
    ]
    lines = benchmark.markdown({"rows": rows}).splitlines()[2:]
    assert "250" in lines[0] and "2.50" in lines[0]
    assert "not within 60 s" in lines[1]
    assert "not tried" in lines[2]
    assert "not within 5 s" in lines[3]
    assert {line.count("|") for line in lines} == {lines[0].count("|")}


@pytest.mark.parametrize("benchmark", ["cases"], indirect=True)
def test_a_case_beyond_its_limit_is_a_row(benchmark: ModuleType, tmp_path: Path) -> None:
    script = tmp_path / "slow.py"
    script.write_text("import time; time.sleep(60)")
    row = benchmark.in_own_process(str(script), {"T": 3}, 0.2)
    assert row == {"T": 3, "outcome": "not within 0.2 s"}


@pytest.mark.parametrize("benchmark", ["experiments"], indirect=True)
def test_a_point_counts_with_a_certificate_alone(
    benchmark: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    point = benchmark.Point("heads", "random", "real", 2, 2, 1)  # N = 5
    row = benchmark.row_of(point, share=1.0)
    assert row["outcome"] == "certified" and row["T"] == row["certificates"][-1]["T"] >= 2
    assert row["certificates"][-1]["checked"] == "file"
    monkeypatch.setattr(benchmark, "checked", lambda near: {"status": "wrong"})
    row = benchmark.row_of(point, share=0.3)
    assert row["outcome"] == "not found" and row["T"] is None
    tried = [one["T"] for one in row["certificates"]]
    assert tried == sorted(tried, reverse=True) and len(set(tried)) == len(tried)


@pytest.mark.parametrize("benchmark", ["experiments"], indirect=True)
def test_where_the_search_begins_decides_nothing(
    benchmark: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    point = benchmark.Point("heads", "random", "real", 2, 2, 2)  # N = 10
    found = lambda point, T, tried: "weights" if T <= 6 else tried.append(T)  # noqa: E731
    monkeypatch.setattr(benchmark, "search", found)
    told: list[int] = []
    monkeypatch.setattr(benchmark, "certified", lambda point, T, best, row: told.append(T) or True)
    for share in (0.1, 0.5, 0.6, 0.7, 1.0):
        benchmark.row_of(point, share)
    assert set(told) == {6} and len(told) == 5
    done = [benchmark.asdict(point) | {"T": 6, "bounds": {"N": 10}}]
    assert benchmark.share_near(point, done) == 0.6 and benchmark.share_near(point, []) == 1


@pytest.mark.parametrize("benchmark", ["experiments"], indirect=True)
def test_points_are_run_once(benchmark: ModuleType) -> None:
    rows = benchmark.not_run([])
    everything = benchmark.pending(rows, None)
    assert everything and all(p.seconds() <= benchmark.MOST_SECONDS for p in everything)
    rows = [row | {"outcome": "not found"} for row in rows]
    assert benchmark.pending(rows, None) == [] == benchmark.not_run(rows)
