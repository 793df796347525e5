"""Embeddings for tests: a folder such as a user would write, and a stand-in for a model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from attncert.constructions.errors import InputError
from attncert.verify.third_party.assume.embeddings import FORMAT, MANIFEST, file_sha256

CONFIG = SimpleNamespace(model_type="fake", num_attention_heads=2)


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
    facts = {"format": FORMAT, "inputs": inputs, "tokens": tokens, "width": width} | more
    names = ["part-0.npz", "part-1.npz"]
    shards = [{"file": name, "sha256": file_sha256(folder / name)} for name in names]
    (folder / MANIFEST).write_text(json.dumps(facts | {"shards": shards}))
    return folder


def write_shard(path: Path, queries: np.ndarray, contexts: np.ndarray, kept: list[int]) -> None:
    np.savez(path, queries=queries, contexts=contexts, kept=np.array(kept, dtype=np.int64))


@dataclass
class FakeNetwork:
    """A stand-in for the network of a model with 10 tokens: a table instead of layers."""

    width: int = 6
    layer: int = 1
    spoiled: int = -1  # the token that gives NaN
    provenance: Mapping[str, Any] = field(default_factory=lambda: {"model": "fake"})
    model: Any = field(default_factory=lambda: SimpleNamespace(config=CONFIG))

    def states(self, batch: Mapping[str, np.ndarray]) -> np.ndarray:
        ids = batch["input_ids"]
        if (ids == self.spoiled).any():
            raise InputError("MODEL", "one with finite states", "another")
        table = random_states(10, 1, self.width)[:, 0]
        return table[ids] * (1 + np.arange(ids.shape[1], dtype=np.float32))[:, None]
