"""Measures the search for planted dependent sets of `size` among N = 2,000 vectors, d = 768.

Two ways to find one are compared by their probability of detection per second:

- random k-subsets, k = 197, the reference's choice: the probability C(N - s, k - s)/C(N, k)
  that one contains a given set, times the rate at which subsets are certified, measured here;
- circuits: bases drawn until the planted set is found and proved, measured over seeds; the time
  is summed over all runs, including those that found nothing within the limit, and
  found/seconds is the rate. The next column is the probability per basis by the hypergeometric
  formula.

    python benchmarks/rank_detection.py [--quick] [--threads N] [--out FILE]
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from machine import machine

from attncert.verify.kruskal.budget import Budget
from attncert.verify.kruskal.methods.circuits import depth_for, meeting_probability, small_circuits
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.rank.modular import IndependenceTester
from attncert.verify.sharding.threads import available_threads

N, D, K = 2000, 768, 197
SIZES = range(2, 13)
PACKAGES = ("numpy", "numba", "python-flint")


def run(quick: bool, threads: int) -> dict[str, Any]:
    """Rows for each planted size; under three minutes on two idle cores."""
    rate = subsets_per_second(200 if quick else 4000, threads)
    depth = depth_for(N, D)
    rows = []
    by_circuits(3, 1, 2.0, threads)  # compiles
    for size in SIZES[:2] if quick else SIZES:
        circuits = by_circuits(size, 1 if quick else 4, 2.0 if quick else 12.0, threads)
        chance = math.comb(N - size, K - size) / math.comb(N, K)
        per_second = circuits["found"] / circuits["seconds"]
        rows.append({
            "size": size,
            "one subset of 197 holds it": chance,
            "5,000 subsets meet it": 1 - (1 - chance) ** 5000,
            "subsets: detections per second": chance * rate,
            "one basis meets it": meeting_probability(size, N, D, depth),
            "circuits": circuits,
            "circuits: detections per second": per_second,
            "ratio": per_second / (chance * rate),
        })  # fmt: skip
        print({key: rows[-1][key] for key in ("size", "ratio", "circuits")}, flush=True)
    return {
        "N": N, "d": D, "k": K, "threads": threads, "subsets_per_second": rate,
        "vectors outside a basis": depth, "rows": rows,
    }  # fmt: skip


def subsets_per_second(count: int, threads: int) -> float:
    """The rate of exact tests of random k-subsets, without the preparation of the table."""
    rng = np.random.default_rng(0)
    table = rng.standard_normal((N, D)).astype(np.float32)
    subsets = np.array([rng.choice(N, K, replace=False) for _ in range(count)])
    tester = IndependenceTester(table, device="cpu", threads=threads)
    tester.subsets(subsets[:64])
    start = time.perf_counter()
    tester.subsets(subsets)
    return count / (time.perf_counter() - start)


def by_circuits(size: int, seeds: int, limit_s: float, threads: int) -> dict[str, Any]:
    """The number of planted sets that are found and proved within the limit, and the time."""
    found, seconds, bases, slowest = 0, 0.0, 0, 0.0
    for seed in range(seeds):
        vectors, members = planted(size, seed)
        start = time.perf_counter()
        search = small_circuits(vectors, below=size + 1, budget=Budget(limit_s), seed=seed)
        met = next(search, None)
        taken = time.perf_counter() - start
        seconds, slowest = seconds + taken, max(slowest, taken)
        if met is not None:
            if met.dependency.indices != members:
                raise RuntimeError(f"not the planted set: {met.dependency.indices}")
            found, bases = found + 1, bases + met.numbers["bases"]
    return {"planted": seeds, "found": found, "seconds": seconds, "slowest": slowest,
            "bases until found": bases, "limit": limit_s}  # fmt: skip


def planted(size: int, seed: int) -> tuple[Vectors, tuple[int, ...]]:
    """float32 multiples of 2^-10; one vector is a combination of size - 1 others."""
    rng = np.random.default_rng([seed, size])
    table = np.round(rng.standard_normal((N, D)) * 1024) / 1024
    members = rng.choice(N, size, replace=False)
    factors = rng.integers(1, 4, size - 1) * rng.choice([-1, 1], size - 1)
    table[members[-1]] = factors @ table[members[:-1]]
    return Vectors.of(table.astype(np.float32)), tuple(sorted(members.tolist()))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Detection of planted dependent sets.")
    parser.add_argument("--quick", action="store_true", help="one set for each of two sizes")
    parser.add_argument("--threads", type=int, default=available_threads())
    parser.add_argument("--out", type=Path, help="write JSON here")
    options = parser.parse_args(arguments)
    report = {
        "benchmark": "rank detection",
        "quick": options.quick,
        "machine": machine(*PACKAGES),
        **run(options.quick, options.threads),
    }
    text = json.dumps(report, indent=1, sort_keys=True) + "\n"
    if options.out:
        options.out.write_text(text)
    else:
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
