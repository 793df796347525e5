"""`attncert embed` as a function: writes a model's states on many inputs to a folder, in batches.

Each batch is one shard; only the model and one batch are in memory. The manifest lists the finished
shards and their hashes, so that an interrupted run can resume.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from attncert.constructions.errors import InputError, path_errors
from attncert.constructions.progress import StageProgress, silent
from attncert.verify.questions.embed import Embed
from attncert.verify.third_party.assume.embeddings import (
    FORMAT,
    MANIFEST,
    file_sha256,
    read_manifest,
    shard_hashes,
)
from attncert.verify.third_party.models.inputs import open_inputs
from attncert.verify.third_party.models.network import build


def embed(
    model: str, source: str, folder: Path, options: Embed, progress: StageProgress = silent
) -> dict[str, Any]:
    """Write the queries of all inputs and the contexts of some to a folder (see `embeddings`).

    Returns a summary with the number of shards that an earlier run had finished. Identical runs on
    one machine with the same libraries give identical files. Raises InputError, if possible before
    anything is written; shards before an unusable input remain.
    """
    progress("model", 0, 1)
    inputs = open_inputs(source, model, options)
    network = build(model, options)
    config = network.model.config
    _, tokens, width = network.states(inputs.batch(0, 1)).shape
    query = options.query or ("last" if config.model_type.startswith("gpt") else "first")
    place = 0 if query == "first" else -1
    number = min(options.contexts, inputs.count)
    sample = np.arange(number) * inputs.count // max(number, 1)  # evenly spread
    facts = {
        "inputs": inputs.count, "tokens": tokens, "width": width,
        "heads": config.num_attention_heads, "head_width": width // config.num_attention_heads,
        "layer": network.layer, "query": query,
        "provenance": {**network.provenance, **inputs.provenance, "batch": options.batch},
    }  # fmt: skip
    starts = range(0, inputs.count, options.batch)
    with path_errors("--out", "a folder that can be written", folder):
        finished, reused = _begin(folder, facts), 0
        for i, start in enumerate(starts):
            progress("inputs", start, inputs.count)
            path = folder / f"shard-{i:05d}.npz"
            if path.exists() and file_sha256(path) == finished.get(path.name):
                reused += 1
                continue
            stop = start + options.batch
            states = network.states(inputs.batch(start, stop))
            numbers = sample[(start <= sample) & (sample < stop)]
            np.savez(path, queries=states[:, place], contexts=states[numbers - start], kept=numbers)
            finished[path.name] = file_sha256(path)
            _write_manifest(folder / MANIFEST, facts, finished)
    return {
        "folder": str(folder), "inputs": inputs.count, "tokens": tokens, "width": width,
        "kept": number, "shards": len(starts), "reused": reused,
    }  # fmt: skip


def _begin(folder: Path, facts: Mapping[str, Any]) -> dict[str, Any]:
    """The finished shards of this run in the folder, with their hashes. Raises InputError if the
    folder contains anything else."""
    folder.mkdir(parents=True, exist_ok=True)
    if not any(folder.iterdir()):
        _write_manifest(folder / MANIFEST, facts, {})
    with suppress(InputError, OSError):
        manifest = read_manifest(folder / MANIFEST)
        if facts.items() <= manifest.items():
            return shard_hashes(manifest)
    must = "new, empty, or the folder of the same run"
    raise InputError("--out", must, f"{folder}, which holds something else")


def _write_manifest(path: Path, facts: Mapping[str, Any], shards: Mapping[str, str]) -> None:
    """Write the manifest atomically. shards: the names with their SHA-256."""
    entries = [{"file": name, "sha256": digest} for name, digest in sorted(shards.items())]
    text = json.dumps({"format": FORMAT, **facts, "shards": entries}, indent=1, sort_keys=True)
    staged = path.with_suffix(".partial")
    staged.write_text(text + "\n")
    os.replace(staged, path)
