"""Writes export_weights.ipynb from export_weights.py (cells are marked by `# %%`)."""

from __future__ import annotations

import json
from pathlib import Path

HERE = Path(__file__).parent


def notebook(source: str) -> str:
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
    return json.dumps(content, indent=1) + "\n"


if __name__ == "__main__":
    script = (HERE / "export_weights.py").read_text()
    (HERE / "export_weights.ipynb").write_text(notebook(script))
