"""Small files that require much time or memory are refused in one line, before either is spent."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import fmpq
from support.embedding_cases import random_states, write_folder

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.weights.files import MAX_NUMBERS
from attncert.constructions.weights.load import load_weights
from attncert.constructions.weights.stored import StoredLayer
from attncert.verify.outputs.error import default_limit
from attncert.verify.outputs.nearest import margins
from attncert.verify.third_party.assume.embeddings import load_embeddings

DATA = Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, 1]], [5, 7])
STATES = random_states(6, 3, 4)


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
    with pytest.raises(InputError, match="numbers, each context as long as the longest"):
        Dataset.of(contexts, [[1]] * 10_001, None)


def folder(tmp_path: Path, **changes: Any) -> Path:
    made = write_folder(tmp_path, STATES, [1, 4])
    path = made / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    return made


def test_a_manifest_limits_what_its_shards_hold(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="inputs: must be as many as in its shards, not less"):
        load_embeddings(folder(tmp_path, inputs=5))
    with pytest.raises(InputError, match="1073741824 numbers in queries, not"):
        load_embeddings(folder(tmp_path, inputs=10**6, width=2048))


def test_a_provenance_is_short(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="provenance: must be an object of at most 100 texts"):
        load_embeddings(folder(tmp_path, provenance={str(k): 1 for k in range(101)}))
    long = load_embeddings(folder(tmp_path, provenance={"a" * 999: {"b": ["c" * 999] * 99}}))
    assert [(len(key), len(text)) for key, text in long.provenance.items()] == [(40, 120)]


@pytest.mark.parametrize("name", ["manifest.json", "part-0.npz"])
def test_a_pipe_in_a_folder_is_not_waited_for(name: str, tmp_path: Path) -> None:
    made = folder(tmp_path)
    (made / name).unlink()
    os.mkfifo(made / name)
    with pytest.raises(InputError, match=f"{name}: must be a file, not"):
        load_embeddings(made)


def test_labels_are_told_apart_by_no_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many labels with one hash would make a set slow; too many are refused."""
    same_hash = [[str((2**61 - 1) * k)] for k in range(1, 301)]
    data = Dataset.of([[1]], [[1]] * 300, same_hash)
    assert default_limit(data).bound is None
    least = [low for low, _ in margins(data, data.label_matrix).bounds]
    assert set(least) == {fmpq((2**61 - 1) ** 2, 2)}
    monkeypatch.setattr("attncert.verify.outputs.error._MOST_COMPARED", 1000)
    with pytest.raises(InputError, match="tolerance: must be given if 300 outputs are"):
        default_limit(data)
