"""Compares full-rank certificates of layers (rank Z = T, in row blocks) with FLINT on each device.

Heads of width one with random integer weights, T = H(n-1) + 1 examples, integer data from -9 to 9.
"ours" is `layer_rank`, timed as a whole; "FLINT" is the path for small layers: features in Python's
integers, then `nmod_mat.rank`, on one core. The floor is the time that the multiplications of the
features and the elimination would take at the rate of a large matrix product, measured in the run.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from flint import fmpq_mat
from machine import peak_mebibytes
from rank_subsets import matrix_product_rate
from threadpoolctl import threadpool_limits

from attncert.constructions.data import generators
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.exact.primes import PRIMES_31
from attncert.constructions.layer import Head, Layer
from attncert.verify.features import features
from attncert.verify.rank.engines.devices import choose_device
from attncert.verify.rank.whole_layer.layer import LayerRank, layer_rank

# H, n, d, contexts shared, with FLINT, on a GPU only
CASES = [
    (20, 32, 64, True, True, False),  # T = 621
    (20, 32, 64, False, True, False),
    (12, 197, 768, True, True, False),  # T = 2,353
    (12, 197, 768, False, False, False),
    (64, 197, 768, True, False, True),  # T = 12,545
]
LONG = 5.0  # seconds
NO_GPU = "not measured on a GPU yet"


def run(quick: bool, threads: int) -> dict[str, Any]:
    """Seconds, memory and the share of the floor for each case and device."""
    rate = matrix_product_rate(threads, "float64")
    rows = []
    for case in CASES[:2] + CASES[-1:] if quick else CASES:
        rows.append(measure(*case, rate=rate, threads=threads, repeats=1 if quick else 3))
        print(rows[-1], flush=True)
    return {"rows": rows, "matrix_product_gflops": rate}


def measure(
    heads: int,
    n: int,
    d: int,
    shared: bool,
    with_flint: bool,
    gpu_only: bool,
    *,
    rate: float,
    threads: int,
    repeats: int,
) -> dict[str, Any]:
    """Measure one case. Its memory on the CPU is the peak of the process so far (cases grow)."""
    T = heads * (n - 1) + 1
    row: dict[str, Any] = {"T": T, "heads": heads, "n": n, "d": d, "shared": shared}
    if gpu_only and not has_gpu():
        return row | {"cuda": NO_GPU}
    data, layer = example(heads, n, d, shared)
    if not gpu_only:
        with threadpool_limits(threads):
            seconds, found = _timed(lambda: layer_rank(data, layer, device="cpu"), repeats)
        floor = multiplications(data, layer, found) * 2 / rate / 1e9
        row["cpu"] = result(seconds, found) | {
            "peak_MiB": peak_mebibytes(),
            "floor_seconds": round(floor, 3),
            "share_of_dgemm_floor": round(floor / seconds, 2),
        }
        if with_flint:
            row["flint_seconds"] = round(flint_seconds(data, layer), 3)
            row["ratio_to_flint"] = round(row["flint_seconds"] / seconds, 1)
    if has_gpu():
        seconds, found = _timed(lambda: layer_rank(data, layer, device="cuda"), repeats)
        row["cuda"] = result(seconds, found) | {"name": found.device.name}
    else:
        row["cuda"] = NO_GPU
    return row


def result(seconds: float, found: LayerRank) -> dict[str, Any]:
    """The row of one device."""
    return {
        "seconds": round(seconds, 3),
        "rank": found.rank,
        "prime": found.prime,
        "tried": [list(attempt) for attempt in found.tried],
    }


def example(heads: int, n: int, d: int, shared: bool) -> tuple[Dataset, Layer]:
    """Generic weights, with entries large enough that no two tokens of a head have equal logits."""
    data = generators.random(heads * (n - 1) + 1, n, d, shared=shared, bound=9, seed=1)
    rng = np.random.default_rng(0)

    def vector() -> fmpq_mat:
        return fmpq_mat(d, 1, rng.integers(-30_000, 30_000, d, endpoint=True).tolist())

    return data, Layer(tuple(Head(vector(), vector()) for _ in range(heads)))


def flint_seconds(data: Dataset, layer: Layer) -> float:
    """The rank by the path for small layers, run once because it is slow."""
    start = time.perf_counter()
    p = PRIMES_31[0]
    rank = features.residue_rank(
        features.features_mod(data, [features.logits(head, data) for head in layer.heads], p), p
    )
    if rank != data.T:
        raise RuntimeError(f"FLINT says {rank} of {data.T}")
    return time.perf_counter() - start


def multiplications(data: Dataset, layer: Layer, found: LayerRank) -> float:
    """Operations for mixing tokens, c columns per head, and eliminating T rows of w = H c."""
    T, H, n, d, c = data.T, len(layer.heads), data.n, data.d, found.width
    mixing = T * H * n * c if data.shared else T * H * n * d + T * H * d * c * (c < d)
    return mixing + T * T * H * c / 2 - T**3 / 6


def has_gpu() -> bool:
    """Whether `--device cuda` would run here."""
    try:
        choose_device("cuda")
    except InputError:
        return False
    return True


def _timed(job: Callable[[], LayerRank], repeats: int) -> tuple[float, LayerRank]:
    """The median without the first run, which compiles; after a long run, one more is enough."""
    seconds: list[float] = []
    while len(seconds) <= (repeats if max(seconds, default=0.0) < LONG else 1):
        start = time.perf_counter()
        found = job()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds[1:]), found
