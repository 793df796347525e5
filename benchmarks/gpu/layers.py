"""Rank of whole layers on the GPU and on the CPU of the same machine: rank, prime and seconds."""

from __future__ import annotations

import functools
from typing import Any

from rank_layers import example, multiplications, result

from attncert.constructions.exact.primes import PRIMES_FLOAT64, safe_primes_below
from attncert.verify.rank.whole_layer.layer import layer_rank
from gpu.rows import START, Row, beside_floor, timed

# heads, n, d, whether contexts are shared, whether to run on the CPU too, and seconds on the GPU
# without making the data
CASES = [
    (12, 197, 768, True, True, 10.0),  # T = 2,353
    (12, 197, 768, False, True, 40.0),
    (64, 197, 768, True, True, 60.0),  # T = 12,545
    (256, 197, 768, True, False, 120.0),  # T = 50,177
]
DRY = [(5, 4, 8, True, True, 0.0), (5, 4, 8, False, False, 0.0)]
MEMORY = 32 << 30


def rows(dry: bool) -> list[Row]:
    found = []
    for heads, n, d, shared, cpu, seconds in DRY if dry else CASES:
        name = f"T={heads * (n - 1) + 1} {'shared' if shared else 'distinct'}"
        for device in ("cuda", "cpu")[: 1 + cpu]:
            job = functools.partial(measure, heads, n, d, shared, device)
            label = "GPU" if device == "cuda" else "CPU"
            found.append(Row(f"{name} {label}", START + seconds, job))
    return found


@functools.lru_cache(maxsize=1)
def made(heads: int, n: int, d: int, shared: bool) -> Any:
    return example(heads, n, d, shared)


def measure(heads: int, n: int, d: int, shared: bool, device: str) -> dict[str, Any]:
    """Measure the rank, twice on the GPU since the first run compiles. In about one of every
    p/(TH) layers, a softmax sum vanishes modulo p, so T = 50,177 needs more than 3 primes."""
    data, layer = made(heads, n, d, shared)
    primes = PRIMES_FLOAT64
    if heads * data.T > 10**6:
        primes = tuple(safe_primes_below(PRIMES_FLOAT64[0] + 1, 20))

    def job() -> Any:
        return layer_rank(data, layer, device=device, memory=MEMORY, primes=primes)

    found, times = timed(job, 1 if device == "cuda" and data.T < 20_000 else 0)
    seconds = times.get("seconds", times["first_s"])
    row = times | result(seconds, found)
    if device == "cuda":
        row |= beside_floor(2 * multiplications(data, layer, found), seconds)
    if found.rank != data.T:
        row["error"] = f"rank {found.rank} of {data.T}"
    return row | {"heads": heads, "n": n, "d": d}
