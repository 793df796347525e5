"""Fits to given labels and ranks of Jacobians, with CuPy and with NumPy on one machine."""

from __future__ import annotations

import functools
import importlib
import time
from typing import Any

import numpy as np

from attncert.constructions.data import generators
from attncert.constructions.given.attention import Shape
from attncert.constructions.given.least_squares import descend
from attncert.constructions.given.zeros import draw_groups
from attncert.verify.rank.whole_layer.jacobian_rows import jacobian_rank
from gpu.rows import START, Row, beside_floor, rounded, timed

# T, n, d, heads, whether to run on the CPU too, expected seconds on the GPU
FITS = [
    (360, 8, 16, 8, True, 10.0),
    (1800, 32, 64, 10, True, 20.0),
    (9000, 32, 64, 50, False, 60.0),
]
JACOBIANS = [(3000, 32, 64, 48, True, 30.0)]
DRY_FITS, DRY_JACOBIANS = [(12, 3, 4, 3, True, 0.0)], [(12, 4, 6, 6, True, 0.0)]
ERROR = 1e-9


def rows(dry: bool) -> list[Row]:
    found = []
    for cases, name, job in (
        (DRY_FITS if dry else FITS, "fit", fitted),
        (DRY_JACOBIANS if dry else JACOBIANS, "Jacobian", ranked),
    ):
        for T, n, d, heads, cpu, seconds in cases:
            for device in ("GPU", "CPU")[: 1 + cpu]:
                call = functools.partial(job, T, n, d, heads, device)
                found.append(Row(f"{name} T={T} {device}", START + seconds, call))
    return found


def namespace(device: str) -> Any:
    return importlib.import_module("array_api_compat.cupy") if device == "GPU" else np


def fitted(T: int, n: int, d: int, heads: int, device: str) -> dict[str, Any]:
    """Fit from small random weights to a largest error of 1e-9, and again if the first run
    compiled."""
    xp, draw = namespace(device), np.random.default_rng(0)
    shapes = (T, n, d), (T, d), (T, 1)
    host = [np.round(draw.standard_normal(shape) * 64) / 64 for shape in shapes]
    data, seen = [xp.asarray(x) for x in host], list[float]()

    def job() -> Any:
        seen.clear()
        return descend(
            *data, Shape(d, 1, heads, 1, 1), 0, tolerance=ERROR,
            progress=lambda step, error: seen.append(time.perf_counter()),
        )  # fmt: skip

    found, times = timed(job, 1 if device == "GPU" and T < 5000 else 0)
    row = times | {"T": T, "heads": heads, "steps": len(found.steps) - 1, "error_left": found.error}
    per_step = (seen[-1] - seen[0]) / max(1, len(seen) - 1)
    row["seconds_per_step"] = rounded(per_step)
    if device == "GPU":  # J Jᵀ and its elimination
        weights = found.shape.free
        row |= beside_floor(2 * T**2 * weights + 2 / 3 * T**3, per_step)
    if not found.converged:
        row["error"] = f"no fit: {found.why}"
    return row


def ranked(T: int, n: int, d: int, heads: int, device: str) -> dict[str, Any]:
    """The rank of the Jacobian where all outputs are 0; if full, every labelling is memorized."""
    data = generators.random(T=T, n=n, d=d, seed=1)
    layer = draw_groups(
        data, (heads // 2,) * 2 if heads < 12 else (12,) * (heads // 12), seed=1
    ).layer
    job = lambda: jacobian_rank(data, layer, xp=namespace(device))  # noqa: E731
    found, times = timed(job, 1 if device == "GPU" else 0)
    row = times | {"rank": found.rank, "rows": found.rows, "prime": found.prime}
    if device == "GPU":
        weights = layer.head_width * 2 * d * len(layer.heads)
        row |= beside_floor(T**2 * weights - T**3 / 3, times["seconds"])
    return row if found.full else row | {"error": f"rank {found.rank} of {found.rows}"}
