"""The rows of a part: each has a name, an expected time and a job.

The *floor* of a row is the time that its multiplications and additions would take at the rate
of a large float64 product on the same card, measured in the same process.
"""

from __future__ import annotations

import functools
import importlib
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

START = 15.0
"""The estimated seconds to start a process: imports, CUDA's context, compiled code."""


@dataclass(frozen=True)
class Row:
    """seconds: an estimate; if less time is left, the row waits for the next run. job: its result
    goes into the results file."""

    name: str
    seconds: float
    job: Callable[[], dict[str, Any]]


def timed(job: Callable[[], Any], repeats: int) -> tuple[Any, dict[str, Any]]:
    """The result, the seconds of the first run, which compiles, and the median of the others."""
    seconds, found = [], None
    for _ in range(repeats + 1):
        start = time.perf_counter()
        found = job()
        seconds.append(time.perf_counter() - start)
    times = {"first_s": rounded(seconds[0])}
    return found, times | ({"seconds": rounded(statistics.median(seconds[1:]))} if repeats else {})


def rate(job: Callable[[int], int], limit_s: float) -> dict[str, Any]:
    """Items per second: until the limit, job(i) processes slice i and returns how many
    items it has.

    The first slice also compiles and prepares, and counts only towards `first_s`.
    """
    start = time.perf_counter()
    job(0)
    begun = time.perf_counter()
    done = slices = 0
    while slices == 0 or time.perf_counter() - begun < limit_s:
        slices += 1
        done += job(slices)
    seconds = time.perf_counter() - begun
    return {
        "first_s": rounded(begun - start),
        "per_second": rounded(done / seconds),
        "items": done,
        "seconds": rounded(seconds),
    }


@functools.cache
def product_rate() -> float:
    """Operations per second of the card's own float64 product of random 8,192 × 8,192 matrices."""
    cupy = importlib.import_module("cupy")
    size = 8192 if cupy.cuda.runtime.runtimeGetVersion() else 256
    left, right = (cupy.asarray(np.random.default_rng(i).random((size, size))) for i in (0, 1))

    def job() -> None:
        cupy.matmul(left, right)
        cupy.cuda.Device().synchronize()

    return 2.0 * size**3 / timed(job, 5)[1]["seconds"]


def beside_floor(operations: float, seconds: float) -> dict[str, Any]:
    """The row with its floor. operations: the fewest that the job needs."""
    floor = operations / product_rate()
    found = {"floor_s": floor, "times_floor": seconds / floor, "float64_per_s": product_rate()}
    return {name: rounded(x) for name, x in found.items()}


def rounded(x: float) -> float:
    """The number to four digits."""
    return float(f"{x:.4g}")
