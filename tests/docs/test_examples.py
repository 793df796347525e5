"""The examples run, and the notebooks are their scripts."""

from __future__ import annotations

import importlib.util
import json
import runpy
from itertools import groupby
from operator import itemgetter
from types import ModuleType
from typing import Any

import pytest
from support.paths import EXAMPLES

quiet = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_notebook", EXAMPLES / "make_notebook.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def cells(text: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(text)["cells"]
    return found


def printed(text: str) -> list[list[str]]:
    """For each code cell what it printed, and `picture` for each picture.

    A kernel sends what one cell prints in pieces of any size; neighbouring pieces are one.
    """

    def of_cell(outputs: list[dict[str, Any]]) -> list[str]:
        pieces = [("".join(o["text"]) if "text" in o else "picture", "text" in o) for o in outputs]
        runs = [[piece for piece, _ in run] for _, run in groupby(pieces, itemgetter(1))]
        return [text for run in runs for text in (run if "picture" in run else ["".join(run)])]

    return [of_cell(cell["outputs"]) for cell in cells(text) if cell["cell_type"] == "code"]


@pytest.mark.usefixtures("proved_once")
def test_the_script_runs(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / "export_weights.py"), run_name="__main__")
    printed = capsys.readouterr()
    assert "largest error in float64" in printed.out and printed.err == ""


@pytest.mark.parametrize("name", ["export_weights", "tutorial"])
def test_the_notebook_is_the_script(name: str, maker: ModuleType) -> None:
    made = maker.notebook((EXAMPLES / f"{name}.py").read_text())
    kept = cells((EXAMPLES / f"{name}.ipynb").read_text())
    assert [cell["source"] for cell in kept] == [cell["source"] for cell in cells(made)]


@pytest.mark.slow
@quiet
def test_the_tutorial_prints_what_it_shows(maker: ModuleType) -> None:
    kept = (EXAMPLES / "tutorial.ipynb").read_text()
    assert printed(maker.executed(kept)) == printed(kept)
