"""docs/performance.md says what the committed results say."""

from __future__ import annotations

import importlib
import json
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
    text = (ROOT / "docs" / "performance.md").read_text()
    name = benchmark.__name__
    between = text.split(f"<!-- {name}.py -->\n")[1].split("<!-- end -->")[0]
    assert between == benchmark.markdown(result) + "\n"
    assert benchmark.markdown(result).count("\n") > 1


@pytest.mark.parametrize("benchmark", ["models"], indirect=True)
def test_the_tables_of_real_models_are_those_of_the_results(benchmark: ModuleType) -> None:
    """After a new run of benchmarks/models.py, which writes them itself."""
    assert benchmark.page() == benchmark.PAGE.read_text()
    records = json.loads(benchmark.RESULTS.read_text())["cases"]
    assert set(records) == set(benchmark.CASES)
