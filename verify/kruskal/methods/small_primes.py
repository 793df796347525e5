"""Primes below 2^18 for the compiled searches: inverses by table, vectors in a few coordinates."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from attncert.constructions.arrays import FloatArray, ResidueArray
from attncert.constructions.exact.primes import safe_primes_below
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.rank.engines.arithmetic import matmul
from attncert.verify.rank.residues import residues


@lru_cache(maxsize=16)
def search_primes(N: int, attempt: int = 0) -> tuple[int, int]:
    """Small enough for tables that stay in cache, large enough for few alarms; others each time."""
    *_, p, q = safe_primes_below(1 << (16 if N <= 4000 else 18), 2 * attempt + 2)
    return p, q


@lru_cache(maxsize=16)
def inverses(p: int) -> ResidueArray:
    """1/x modulo p at place x, 0 at 0; float32 holds integers below 2^24."""
    table = np.zeros(p, dtype=np.float32)
    table[1] = 1
    for x in range(2, p):
        table[x] = (p - p // x) * int(table[p % x]) % p
    return table


def mixed_coordinates(vectors: Vectors, width: int, p: int, seed: int) -> FloatArray:
    """(N, width) residues in [0, p): a random projection; mixed also where d <= width."""
    rng = np.random.default_rng([seed, p])
    table = residues(vectors.array, p)
    mixing = rng.integers(0, p, (vectors.d, min(width, vectors.d))) - p // 2
    return np.mod(matmul(table, mixing.astype(np.float64), p), p)
