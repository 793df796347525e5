"""Features of logits that are products, worked out without the products, against those with."""

from __future__ import annotations

import numpy as np
import pytest

from attncert.constructions.arrays import IntegerArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.exact_array import narrow
from attncert.constructions.exact.modular import PRIMES
from attncert.constructions.search.feature_blocks import FeatureBlocks

SIZES = [0, 1, -1, 2, -3, 1099, 1100, -1101, 2**40, -(2**62), 3**100, -(5**90)]


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("scale", [1, 367, 2**61, 7**50])
def test_features_of_products(shared: bool, scale: int) -> None:
    """Logits of any size and sign, rows with ties: the same residues, and the same floats."""
    T, n, d = len(SIZES), 4, 5
    rng = np.random.default_rng(0)
    count = 1 if shared else T
    contexts = rng.integers(-9, 10, (count, n, d))
    data = Dataset.of(contexts[0] if shared else contexts, rng.integers(-9, 10, (T, d)))
    blocks = FeatureBlocks(data, PRIMES[0])
    products: IntegerArray = narrow(SIZES, (T,))
    small = rng.integers(-3, 4, (count, n)).ravel().tolist()
    rows = narrow([x * scale for x in small], (count, n))
    logits = products.astype(object)[:, None] * rows.astype(object)
    wanted, found = blocks.of(logits), blocks.of_products(products, rows)
    assert np.array_equal(found.mod, wanted.mod) and np.array_equal(found.float, wanted.float)
    wanted = blocks.points(0, products.astype(object)[:, None] * rows[:1].astype(object))
    found = blocks.points_of_products(0, products, rows[0])
    assert np.array_equal(found.mod, wanted.mod) and np.array_equal(found.float, wanted.float)
