"""Compares certificates of random k-subsets of 2,000 vectors in dimension 768 with the float loop.

The paper tests 5,000 random subsets (1,000 at k = 768) for independence. The reference takes one
float32 `matrix_rank` per subset (torch; NumPy if torch is not installed), with one thread and with
all threads, and the better rate counts: on few cores two threads can be slower for small matrices.
Our test is timed as a whole: residues, coordinates and eliminations. Rates are subsets per second;
the reference is timed on fewer subsets, interleaved with our test in one run. With --quick, our
test runs on a hundredth of the subsets, too few to repay the preparation, so the ratios are low.
"""

from __future__ import annotations

import importlib.util
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from attncert.verify.rank.modular import IndependenceTester

VECTORS, WIDTH = 2000, 768
SUBSETS = {32: 5000, 197: 5000, 768: 1000}  # k: number for our test
SAMPLE = {32: 400, 197: 60, 768: 8}  # k: number for the reference


def gaussian(seed: int) -> np.ndarray:
    """Independent normal entries, float32."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((VECTORS, WIDTH)).astype(np.float32)


def decaying(seed: int) -> np.ndarray:
    """float32 vectors whose singular values fall over eight decades, as in trained embeddings."""
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.standard_normal((WIDTH, WIDTH)))[0]
    spectrum = np.logspace(0, -8, WIDTH)
    return ((rng.standard_normal((VECTORS, WIDTH)) * spectrum) @ basis).astype(np.float32)


TABLES = {"gaussian": gaussian, "decaying": decaying}


def run(quick: bool, threads: int) -> dict[str, Any]:
    """Rows of this section: rates, ratios, verdicts, and the gap to the DGEMM floor."""
    repeats = 1 if quick else 3
    floors = {name: matrix_product_rate(threads, name) for name in ("float64", "float32")}
    rows = []
    for spectrum, make in TABLES.items():
        table = make(0)
        for k, wanted in SUBSETS.items():
            count = wanted // 100 if quick else wanted
            rng = np.random.default_rng(k)
            subsets = np.array([rng.permutation(VECTORS)[:k] for _ in range(count)])
            rows.append({"spectrum": spectrum, "k": k, "subsets": count})
            rows[-1] |= compare(table, subsets, k, repeats, threads, floors)
            shown = {key: rows[-1][key] for key in ("spectrum", "k", "per_second", "ratio")}
            print(shown, flush=True)
    return {"rows": rows, "matrix_product_gflops": floors}


def compare(
    table: np.ndarray,
    subsets: np.ndarray,
    k: int,
    repeats: int,
    threads: int,
    floors: dict[str, float],
) -> dict[str, Any]:
    """Our test and the reference, interleaved; each rate is a median over the repeats."""
    reference, name = reference_loop()
    sample = subsets[: SAMPLE[k]]
    teams = sorted({1, threads})
    certified = 0
    rates: dict[str, list[float]] = {"ours": []}
    rates |= {f"reference, {team} threads": [] for team in teams}

    def ours() -> Any:
        return IndependenceTester(table, device="cpu", threads=threads).subsets(subsets)

    ours()  # compiles, and warms the caches
    reference(table, sample[:2], threads)
    independent = 0
    for _ in range(repeats):
        for team in teams:
            start = time.perf_counter()
            independent = sum(rank == k for rank in reference(table, sample, team))
            seconds = time.perf_counter() - start
            rates[f"reference, {team} threads"].append(len(sample) / seconds)
            time.sleep(0.5)  # until idle threads of the other library stop spinning
        with threadpool_limits(threads):  # the projection is a BLAS product
            start = time.perf_counter()
            certified = int(ours().sum())
            rates["ours"].append(len(subsets) / (time.perf_counter() - start))
    rate = {method: statistics.median(values) for method, values in rates.items()}
    best = max(rate[f"reference, {team} threads"] for team in teams)
    work = 2 / 3 * k**3
    return {
        "reference": name,
        "reference_says_independent": f"{independent} of {len(sample)}",
        "certified_independent": f"{certified} of {len(subsets)}",
        "per_second": {method: round(value, 1) for method, value in rate.items()},
        "ratio": round(rate["ours"] / best, 1),
        "floor_per_second": {d: round(g * 1e9 / work, 1) for d, g in floors.items()},
        "share_of_dgemm_floor": round(rate["ours"] * work / floors["float64"] / 1e9, 2),
    }


def reference_loop() -> tuple[Callable[[np.ndarray, np.ndarray, int], list[int]], str]:
    """One float32 rank at a time, as in the paper's notebooks."""
    if importlib.util.find_spec("torch") is not None:
        import torch

        def by_torch(table: np.ndarray, subsets: np.ndarray, threads: int) -> list[int]:
            torch.set_num_threads(threads)
            tensor = torch.from_numpy(table)
            return [
                int(torch.linalg.matrix_rank(tensor[torch.from_numpy(s)]).item()) for s in subsets
            ]

        return by_torch, f"torch {torch.__version__} matrix_rank, float32"

    def by_numpy(table: np.ndarray, subsets: np.ndarray, threads: int) -> list[int]:
        with threadpool_limits(threads):
            return [int(np.linalg.matrix_rank(table[s])) for s in subsets]

    return by_numpy, f"numpy {np.__version__} matrix_rank, float32"


def matrix_product_rate(threads: int, dtype: str) -> float:
    """GFLOP/s of a large product on all threads: no elimination (2/3 k^3 FLOP) can exceed it."""
    n = 2048
    a, b = np.ones((n, n), dtype), np.ones((n, n), dtype)
    out = np.empty((n, n), dtype)
    with threadpool_limits(threads):
        np.matmul(a, b, out=out)
        best = min(_seconds(lambda: np.matmul(a, b, out=out)) for _ in range(5))
    return round(2 * n**3 / best / 1e9, 1)


def _seconds(job: Callable[[], Any]) -> float:
    start = time.perf_counter()
    job()
    return time.perf_counter() - start
