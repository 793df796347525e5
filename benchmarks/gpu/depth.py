"""Ranks of Jacobians of two attention layers on CuPy, compared with NumPy on the same machine."""

from __future__ import annotations

import functools
from typing import Any

from attncert.constructions.data import generators
from attncert.verify.depth.draw import draw_network
from attncert.verify.depth.law import Architecture, DeepSpans
from attncert.verify.depth.ranks import deep_rank
from gpu.fit import namespace
from gpu.rows import START, Row, beside_floor, timed

# T, n, d, whether to run on the CPU too, expected seconds on the GPU
CASES = [(2000, 8, 32, True, 10.0), (12_000, 8, 64, False, 60.0)]
DRY = [(40, 3, 4, True, 0.0)]


def rows(dry: bool) -> list[Row]:
    found = []
    for T, n, d, cpu, seconds in DRY if dry else CASES:
        for device in ("GPU", "CPU")[: 1 + cpu]:
            job = functools.partial(ranked, T, n, d, device)
            found.append(Row(f"two layers T={T} {device}", START + seconds, job))
    return found


def ranked(T: int, n: int, d: int, device: str) -> dict[str, Any]:
    """The rank of two layers with the fewest heads of width 1 for which the bound reaches T."""
    data = generators.random(T=T, n=n, d=d, shared=False, seed=1)
    shape = Architecture(2, DeepSpans.of(data).fewest_heads(2, 1, 1), 1, 1)
    network = draw_network(data, shape)
    job = lambda: deep_rank(data, network, xp=namespace(device))  # noqa: E731
    found, times = timed(job, 1 if device == "GPU" and T < 5000 else 0)
    row = times | {"heads": shape.heads, "rank": found.rank, "primes": found.primes}
    if device == "GPU":
        floor = T**2 * shape.parameters(data) - T**3 / 3
        row |= beside_floor(floor, times.get("seconds", times["first_s"]))
    return row if found.full else row | {"error": f"rank {found.rank} of {found.rows}"}
