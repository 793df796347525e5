"""The parts in order of importance, each a module in this folder with `rows(dry)`."""

from __future__ import annotations

import importlib

from gpu.rows import START, Row

PARTS = ("tests", "subsets", "layers", "kruskal", "fit", "experiments", "commands", "depth")


def rows(number: int, dry: bool) -> list[Row]:
    """The rows of part `number`, counted from 1; dry: with the sizes of a dry run."""
    found: list[Row] = importlib.import_module(f"gpu.{PARTS[number - 1]}").rows(dry)
    return found


def expected(number: int) -> float:
    """An estimate of how many seconds a part takes in one process, if torch is installed."""
    return START + sum(row.seconds - START * (row.seconds >= START) for row in rows(number, False))
