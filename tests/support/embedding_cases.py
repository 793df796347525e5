"""Embeddings for tests: a folder as a user would write it, and a model that is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from attncert.constructions.models.embeddings import write_manifest, write_shard


def random_states(inputs: int, tokens: int, width: int, seed: int = 0) -> np.ndarray:
    """(N, n, d), float32."""
    return np.random.default_rng(seed).standard_normal((inputs, tokens, width)).astype(np.float32)


def write_folder(folder: Path, states: np.ndarray, kept: list[int], **more: Any) -> Path:
    """States of all inputs as an embeddings folder of two shards; queries are first tokens."""
    inputs, tokens, width = states.shape
    folder.mkdir(parents=True, exist_ok=True)
    cut = inputs // 2
    for number, (start, stop) in enumerate([(0, cut), (cut, inputs)]):
        part = [k for k in kept if start <= k < stop]
        contexts = states[part].reshape(-1, tokens, width)
        write_shard(folder / f"part-{number}.npz", states[start:stop, 0], contexts, part)
    facts = {"inputs": inputs, "tokens": tokens, "width": width} | more
    write_manifest(folder, facts, ["part-0.npz", "part-1.npz"])
    return folder


@dataclass
class FakeNetwork:
    """As `constructions.models.network.Network`, for tokens: a table instead of layers."""

    tokens: int = 5
    width: int = 6
    heads: int = 2
    vocabulary: int = 10
    longest: int = 5
    spoiled: int = -1  # the token that gives NaN
    calls: int = 0
    pixels = None
    blocks = ()
    last = False

    @property
    def told(self) -> Mapping[str, Any]:
        return {"model": "fake", "weights": "random"}

    @property
    def model(self) -> Any:
        class Model:
            config = None

            def parameters(self) -> list[Any]:
                return []

        return Model()

    def states(self, batch: Mapping[str, np.ndarray]) -> np.ndarray:
        self.calls += 1
        ids = batch["input_ids"]
        table = random_states(self.vocabulary, 1, self.width)[:, 0]
        out = table[ids] * (1 + np.arange(ids.shape[1], dtype=np.float32))[:, None]
        out[ids == self.spoiled] = np.nan
        return out
