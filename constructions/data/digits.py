"""Real data: the UCI handwritten digits as a data set for memorization (see data/README.md).

An image has 8×8 pixels, 0 to 16. Its context is the four 4×4 quarters (n = 4 tokens of width 16,
row by row), its query is the sixteen sums over 2×2 blocks, and its label is the digit. Only the
1,782 of 1,797 images whose context has rank 4 are kept, in their order.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from flint import fmpz_mat

from attncert.constructions.data.dataset import Dataset

FILE = Path(__file__).parent / "digits.json"


def digits() -> Dataset:
    """The digits that satisfy A2, exactly: contexts (1782, 4, 16), queries (1782, 16), labels
    (1782, 1).

    >>> data = digits()
    >>> data.T, data.n, data.d, data.m
    (1782, 4, 16, 1)
    """
    data = all_digits()
    tables = data.contexts.stored.reshape(data.T, -1).tolist()
    ranks = (fmpz_mat(data.n, data.d, table).rank() for table in tables)
    return data.take([t for t, rank in enumerate(ranks) if rank == data.n])


def all_digits() -> Dataset:
    """All 1,797 images, in the order of the file."""
    file = json.loads(FILE.read_bytes())
    images = np.array(file["images"], dtype=np.int64)
    count = len(images)
    quarters = images.reshape(count, 2, 4, 2, 4).swapaxes(2, 3).reshape(count, 4, 16)
    blocks = images.reshape(count, 4, 2, 4, 2).sum(axis=(2, 4)).reshape(count, 16)
    return Dataset.of(quarters, blocks, np.array(file["labels"]), name="digits")
