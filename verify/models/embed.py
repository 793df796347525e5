"""`attncert embed` as a function: a model's states of many inputs, in batches, to a folder.

What one batch gives is one shard; memory holds the model and one batch. A run that was interrupted
goes on where it ended: until it is finished its manifest is called run.json, and names the finished
shards and their hashes. What depends on nothing but the manifest and the inputs is not made again.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from attncert.constructions.errors import InputError, path_errors
from attncert.constructions.progress import StageProgress, silent
from attncert.verify.assume.embeddings import (
    MANIFEST,
    file_sha256,
    read_manifest,
    shard_hashes,
    write_manifest,
    write_shard,
)
from attncert.verify.models.inputs import open_inputs, spread
from attncert.verify.models.network import build, configuration
from attncert.verify.questions.embed import Embed

RUN = "run.json"


def embed(
    model: str, source: str, folder: Path, options: Embed, progress: StageProgress = silent
) -> dict[str, Any]:
    """Queries of all inputs and contexts of some, as the folder that `embeddings` describes; what
    was written, and how many of its shards an earlier run had finished.

    Deterministic for one machine and its libraries. Raises InputError before anything is written
    for what can be known then; a bad input later on leaves the shards before it.
    """
    progress("model", 0, 1)
    config = configuration(model, options.random)
    inputs = open_inputs(source, model, config, options)
    network = build(model, config, options)
    _, tokens, width = network.states(inputs.batch(0, 1)).shape
    query = options.query or ("last" if config.model_type.startswith("gpt") else "first")
    place = 0 if query == "first" else -1
    kept = spread(inputs.count, options.contexts)
    facts = {
        "inputs": inputs.count, "tokens": tokens, "width": width,
        "heads": config.num_attention_heads, "head_width": width // config.num_attention_heads,
        "layer": options.layer, "query": query,
        "provenance": {
            **network.provenance, **inputs.provenance, "batch": options.batch,
            "contexts kept": len(kept),
        },
    }  # fmt: skip
    starts = range(0, inputs.count, options.batch)
    with path_errors("--out", "a folder that can be written", folder):
        finished, reused = _begin(folder, facts), 0
        for number, start in enumerate(starts):
            progress("inputs", start, inputs.count)
            path = folder / f"shard-{number:05d}.npz"
            if path.exists() and file_sha256(path) == finished.get(path.name):
                reused += 1
                continue
            stop = min(start + options.batch, inputs.count)
            states = network.states(inputs.batch(start, stop))
            numbers = [k for k in kept if start <= k < stop]
            contexts = states[[k - start for k in numbers]]
            write_shard(path, states[:, place], contexts, numbers)
            finished[path.name] = file_sha256(path)
            write_manifest(folder / RUN, facts, finished)
        os.replace(folder / RUN, folder / MANIFEST)
    sizes = {"inputs": inputs.count, "tokens": tokens, "width": width, "kept": len(kept)}
    return {"folder": str(folder), **sizes, "shards": len(starts), "reused": reused}


def _begin(folder: Path, facts: Mapping[str, Any]) -> dict[str, Any]:
    """The finished shards of this run in the folder, with their hashes. Raises InputError for a
    folder of anything else."""
    folder.mkdir(parents=True, exist_ok=True)
    if not any(folder.iterdir()):
        write_manifest(folder / RUN, facts, {})
    with suppress(InputError, OSError):
        manifest = read_manifest(folder / RUN)
        if facts.items() <= manifest.items():
            return shard_hashes(manifest)
    must = "new, empty, or the folder of the same run"
    raise InputError("--out", must, f"{folder}, which holds something else")
