"""Finds weights on the GPU for points of the paper's experiments that are too large for two cores.

This finds the largest T whose labels are fitted. It makes no claim: `python
benchmarks/experiments.py --found FOLDER` certifies the weights kept here.
"""

from __future__ import annotations

import functools
import importlib
from dataclasses import asdict
from typing import Any

from experiments import Found, keep
from experiments_points import Point

from gpu import place
from gpu.rows import START, Row, rounded

LABELS = "real", "classes"
# contexts, heads, labels, the share of N where the search begins, expected seconds
POINTS = [
    *(("random", 60, labels, 0.95, 30.0) for labels in LABELS),
    *(("fixed", heads, labels, 0.72, 2.0 * heads) for heads in (20, 30, 60) for labels in LABELS),
]


def rows(dry: bool) -> list[Row]:
    found = []
    if dry:
        point = Point("heads, small", "fixed", "real", 8, 16, 1)
        return [Row("n=8 d=16 H=1", 0.0, functools.partial(search, point, 0.5))]
    for contexts, heads, labels, share, seconds in POINTS:
        point = Point("heads", contexts, labels, 32, 64, heads)
        job = functools.partial(search, point, share)
        found.append(Row(f"{contexts} H={heads} {labels}", START + seconds, job))
    return found


def search(point: Point, share: float) -> dict[str, Any]:
    """The largest T by bisection, and the time of each part."""
    found = Found(point, importlib.import_module("array_api_compat.cupy"))
    last = found.largest(share, len(found.candidates))
    keep(found, place.results / "weights")
    row: dict[str, Any] = {"point": asdict(point), "N": point.law, "tried": found.tried}
    row["T"] = found.candidates[last] if last >= 0 else 0
    row["seconds"] = rounded(sum(attempt["seconds"] for attempt in found.tried))
    return row if last >= 0 else row | {"error": "no weights found"}
