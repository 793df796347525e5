"""The parts in order of importance, each a module of this room with `rows(dry)`."""

from __future__ import annotations

import importlib

from gpu.rows import Row

PARTS = ("tests", "subsets", "layers", "kruskal", "fit", "commands")


def rows(number: int, dry: bool) -> list[Row]:
    """Of part `number`, counted from 1; dry: at the sizes of a dry run."""
    found: list[Row] = importlib.import_module(f"gpu.{PARTS[number - 1]}").rows(dry)
    return found
