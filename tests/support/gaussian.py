"""Data sets of random floats, which only tests use."""

from __future__ import annotations

import numpy as np

from attncert.constructions.data.dataset import Dataset


def gaussian(
    T: int,
    n: int,
    d: int,
    *,
    m: int = 1,
    shared: bool = False,
    dtype: type[np.floating] = np.float32,
    seed: int = 0,
) -> Dataset:
    """Standard normal floats, taken exactly: dyadic rationals, almost surely in general
    position."""
    rng = np.random.default_rng(seed)
    shapes = (1 if shared else T, n, d), (T, d), (T, m)
    E, e, y = (rng.standard_normal(shape).astype(dtype) for shape in shapes)
    return Dataset.of(E, e, y, "gaussian")
