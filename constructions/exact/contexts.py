"""Products of contexts with integer columns, and the frequencies of tokens in contexts."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from attncert.constructions.arrays import IntegerArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.exact import integers
from attncert.constructions.exact.hashing import Hashed

_TOGETHER = 2**22  # the number of context entries in one product


def context_products(data: Dataset, columns: IntegerArray) -> IntegerArray:
    """The numerators of all contexts times integer columns (d, k): (T or 1, n, k), exact."""
    count, n, d = data.contexts.shape
    step, used = max(1, _TOGETHER // (n * d)), np.flatnonzero((columns != 0).any(axis=1))
    parts = []
    for start in range(0, count, step):
        some = data.contexts[start : start + step, :, used].numerators
        parts.append(integers.product(some.reshape(len(some) * n, len(used)), columns[used]))
    return np.concatenate(parts).reshape(count, n, -1)


def as_if_once(data: Dataset, t: int) -> list[list[int]]:
    """The tokens of a context (numerators). If lengths differ, the counts of tokens are divided by
    their common factor, which has no effect on any head."""
    if not data.ragged:
        return [[int(x) for x in row] for row in data.rows(t).numerators.tolist()]
    return [list(row) for row, count in shares(data, t).items() for _ in range(count)]


def shares(data: Dataset, t: int) -> dict[Hashed, int]:
    """The distinct tokens of a context (numerators), and their counts without a common factor."""
    counts = multiplicities(data, t)
    common = math.gcd(*counts.values())
    return {row: count // common for row, count in counts.items()}


def multiplicities(data: Dataset, t: int) -> Counter[Hashed]:
    """The distinct tokens of a context (numerators), and how often each occurs."""
    counts = Counter[Hashed]()
    rows = data.contexts[0 if data.shared else t, : data.kinds(t)].numerators.tolist()
    times = [1] * len(rows) if data.times is None else data.times[t].tolist()
    for row, often in zip(rows, times, strict=False):
        counts[Hashed(row)] += often
    return counts
