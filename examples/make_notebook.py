"""Regenerate the notebooks from their scripts: `python examples/make_notebook.py`.

Cells are marked by `# %%` in the script. The tutorial is also run, and keeps its outputs.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PLAIN, EXECUTED = ("export_weights",), ("tutorial",)
SHOWN = ("image/svg+xml", "text/markdown")


def notebook(source: str) -> str:
    """The notebook made from a script, without outputs."""
    cells = []
    for number, chunk in enumerate(source.split("# %%")[1:]):
        first, _, body = chunk.partition("\n")
        lines = body.strip("\n").split("\n")
        markdown = "[markdown]" in first
        if markdown:
            lines = [line.removeprefix("#").removeprefix(" ") for line in lines]
        cell: dict[str, object] = {
            "cell_type": "markdown" if markdown else "code",
            "id": f"cell-{number}",
            "metadata": {},
            "source": [line + "\n" for line in lines[:-1]] + lines[-1:],
        }
        if not markdown:
            cell |= {"execution_count": None, "outputs": []}
        cells.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    content = {
        "cells": cells,
        "metadata": {"kernelspec": kernel},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return _text(content)


def executed(text: str) -> str:
    """The notebook with its outputs, run in this folder; identical runs give identical text."""
    import nbformat
    from nbclient import NotebookClient

    ran = nbformat.reads(text, as_version=4)
    NotebookClient(ran, timeout=120, resources={"metadata": {"path": HERE}}).execute()
    content = json.loads(text)
    for cell, done in zip(content["cells"], ran.cells, strict=True):
        if done.cell_type == "code":
            cell["execution_count"] = done.execution_count
            cell["outputs"] = [_output(output) for output in done.outputs]
    return _text(content)


def _output(output: dict[str, Any]) -> dict[str, Any]:
    """What was printed or shown, without the text that is meant for terminals."""
    if output["output_type"] == "stream":
        return {"name": output["name"], "output_type": "stream", "text": _lines(output["text"])}
    kind = next(kind for kind in SHOWN if kind in output["data"])
    shown = {kind: _lines(output["data"][kind])}
    return {"data": shown, "metadata": {}, "output_type": "display_data"}


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def _text(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for name in PLAIN + EXECUTED:
        made = notebook((HERE / f"{name}.py").read_text())
        (HERE / f"{name}.ipynb").write_text(executed(made) if name in EXECUTED else made)
