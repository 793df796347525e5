"""Small files that require much time or memory are refused with a one-line error before either is
used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import fmpq

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.weights.files import MAX_NUMBERS
from attncert.constructions.weights.load import load_weights
from attncert.constructions.weights.stored import StoredLayer
from attncert.verify.outputs.error import default_limit
from attncert.verify.outputs.nearest import margins

DATA = Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, 1]], [5, 7])


def small_layer(tmp_path: Path, **more: Any) -> StoredLayer:
    arrays: dict[str, Any] = {name: np.ones((1, 2, 1)) for name in ("query", "key", "value")}
    arrays |= {"output": np.ones((1, 1))} | more
    np.savez_compressed(tmp_path / "x.npz", **arrays)
    return load_weights(tmp_path / "x.npz")


def test_numbers_of_a_layer_are_counted_not_bytes(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a layer of at most 16777216 numbers, not 16777222"):
        small_layer(tmp_path, output=np.zeros((1, MAX_NUMBERS), dtype=np.int8))


def test_empty_rows_are_counted_when_repeated() -> None:
    contexts: list[Any] = [[[]] * 4096, *[[[]]] * 10_000]
    with pytest.raises(InputError, match="numbers, with each context padded to the longest"):
        Dataset.of(contexts, [[1]] * 10_001, None)


def test_labels_are_told_apart_by_no_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many labels with the same hash would make a set slow; too many are refused."""
    same_hash = [[str((2**61 - 1) * k)] for k in range(1, 301)]
    data = Dataset.of([[1]], [[1]] * 300, same_hash)
    assert default_limit(data).bound is None
    least = [low for low, _ in margins(data, data.label_matrix).bounds]
    assert set(least) == {fmpq((2**61 - 1) ** 2, 2)}
    monkeypatch.setattr("attncert.verify.outputs.error._MOST_COMPARED", 1000)
    with pytest.raises(InputError, match="tolerance: must be given if 300 outputs are"):
        default_limit(data)
