"""The examples run, and the notebook is the script."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import nbformat
import pytest
from nbclient import NotebookClient
from support.paths import EXAMPLES


def test_the_script_runs() -> None:
    done = subprocess.run(
        [sys.executable, EXAMPLES / "export_weights.py"], capture_output=True, text=True, check=True
    )
    assert "largest error in float64" in done.stdout


def test_the_notebook_is_the_script() -> None:
    spec = importlib.util.spec_from_file_location("make_notebook", EXAMPLES / "make_notebook.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    script = (EXAMPLES / "export_weights.py").read_text()
    assert (EXAMPLES / "export_weights.ipynb").read_text() == module.notebook(script)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_the_notebook_runs() -> None:
    notebook = nbformat.read(EXAMPLES / "export_weights.ipynb", as_version=4)
    NotebookClient(notebook, timeout=120).execute()
    printed = [
        output["text"]
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if output.output_type == "stream"
    ]
    assert any("largest error in float64" in text for text in printed)
