"""Random subsets as `attncert kruskal` draws them, on the GPU and on the CPU, which must agree."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from attncert.verify.kruskal.shards.subsets import Sampler
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.sharding.engine import run
from gpu.rows import START, Row, beside_floor, timed

CASES = [(2000, 768, 197, 20_000), (2000, 768, 768, 1000)]  # N, d, k, number of subsets
DRY = [(24, 9, 7, 8), (24, 9, 9, 4)]


def rows(dry: bool) -> list[Row]:
    found = []
    for n, d, k, count in DRY if dry else CASES:
        job = functools.partial(measure, n, d, k, count)
        found.append(Row(f"N={n} k={k}", START + 45.0, job))
    return found


def measure(n: int, d: int, k: int, count: int) -> dict[str, Any]:
    """Test all shards of a plan, twice on the GPU since the first run compiles."""
    table = np.random.default_rng(1).integers(-99, 99, (n, d))
    table[n // 2] = table[1] - table[n - 2]  # a planted circuit
    vectors, said, row = Vectors.of(table.astype(np.float32)), {}, dict[str, Any]()
    for device in ("cuda", "cpu"):
        sampler = Sampler.of(vectors, k, count, device=device)  # type: ignore[arg-type]
        plan = sampler.plan(0)

        def job(sampler: Sampler = sampler, plan: Any = plan) -> Any:
            how = 1 if sampler.device == "cuda" else None
            records = run(plan.shards(), sampler, (vectors.array,), threads=how).values()
            return sampler.summary(vectors, plan, records).as_dict()

        said[device], times = timed(job, 1 if device == "cuda" else 0)
        row[device] = times
    row |= beside_floor(2 / 3 * k**3 * count, row["cuda"]["seconds"])
    row |= {"drawn": count, "says": said["cuda"]}
    if said["cuda"] != said["cpu"]:
        row["error"] = f"the CPU says {said['cpu']}"
    return row
