"""Embeddings for tests: a folder such as a user would write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from attncert.verify.third_party.assume.embeddings import FORMAT, MANIFEST, file_sha256


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
