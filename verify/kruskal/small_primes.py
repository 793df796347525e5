"""Primes below 2^18 for the compiled searches, and their inverses by table."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from verify.rank.primes import safe_primes_below

__all__ = ["inverses", "search_primes"]


@lru_cache(maxsize=4)
def search_primes(N: int) -> tuple[int, int]:
    """Small enough for tables that stay in cache, large enough for few alarms."""
    p, q = safe_primes_below(1 << (16 if N <= 4000 else 18), 2)
    return p, q


@lru_cache(maxsize=4)
def inverses(p: int) -> np.ndarray:
    """1/x modulo p at place x, 0 at 0; float32 holds integers below 2^24."""
    table = np.zeros(p, dtype=np.float32)
    table[1] = 1
    for x in range(2, p):
        table[x] = (p - p // x) * int(table[p % x]) % p
    return table
