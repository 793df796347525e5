"""`attncert embed` as a function: a model's states of many inputs, in batches, to a folder.

Memory holds the model, one batch and one shard. A run that was interrupted goes on where it ended:
until it is finished its manifest is called run.json, and names the finished shards and their
hashes. What depends on nothing but the manifest and the inputs is not made again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from attncert.constructions.arrays import AnyArray
from attncert.constructions.errors import InputError, path_errors
from attncert.constructions.models.embeddings import (
    MANIFEST,
    file_sha256,
    read_manifest,
    shard_hashes,
    write_manifest,
    write_shard,
)
from attncert.constructions.models.inputs import Inputs, open_inputs, spread
from attncert.constructions.models.network import EmbedSettings, Network, build, configuration
from attncert.constructions.progress import StageProgress, silent

RUN = "run.json"
_SHARD_BYTES = 2**27  # contexts of one shard, at most, where more than one input fits
_SHARD_INPUTS = 256


def embed(
    model: str,
    source: str,
    folder: Path,
    settings: EmbedSettings,
    progress: StageProgress = silent,
) -> dict[str, Any]:
    """Queries of all inputs and contexts of some, as the folder that `embeddings` describes; what
    was written, and how many of its shards an earlier run had finished.

    Deterministic for one machine and its libraries. Raises InputError before anything is written
    for what can be known then; a bad input later on leaves the shards before it.
    """
    progress("model", 0, 1)
    config = configuration(model, settings.random)
    inputs = open_inputs(source, model, config, settings)
    network = build(model, config, settings)
    _, tokens, width = network.states(inputs.batch(0, 1)).shape
    query = settings.query or ("last" if config.model_type.startswith("gpt") else "first")
    place = _position(query, tokens)
    numbers = spread(inputs.count, settings.contexts)
    size = _shard_size(inputs.count, len(numbers) * tokens * width * 8, settings.batch)
    names = [f"shard-{i:05d}.npz" for i in range(-(-inputs.count // size))]
    facts = {
        "inputs": inputs.count, "tokens": tokens, "width": width,
        "heads": config.num_attention_heads, "head_width": width // config.num_attention_heads,
        "layer": settings.layer, "query": query,
        "provenance": {
            **network.provenance, **inputs.provenance, "batch": settings.batch,
            "contexts kept": len(numbers), "inputs of a shard": size,
        },
    }  # fmt: skip
    with path_errors("--out", "a folder that can be written", folder):
        finished, reused = _begin(folder, facts), 0
        for number, name in enumerate(names):
            block = range(number * size, min((number + 1) * size, inputs.count))
            progress("inputs", block.start, inputs.count)
            if name in finished and file_sha256(folder / name) == finished[name]:
                reused += 1
                continue
            part = [k for k in numbers if k in block]
            queries, contexts = _states(network, inputs, block, settings.batch, place, part)
            write_shard(folder / name, queries, contexts, part)
            finished[name] = file_sha256(folder / name)
            write_manifest(folder / RUN, facts, finished)
        os.replace(folder / RUN, folder / MANIFEST)
    sizes = {"inputs": inputs.count, "tokens": tokens, "width": width, "kept": len(numbers)}
    return {"folder": str(folder), **sizes, "shards": len(names), "reused": reused}


def _states(
    network: Network, inputs: Inputs, block: range, batch: int, place: int, numbers: list[int]
) -> tuple[AnyArray, AnyArray]:
    """Of a block of the inputs the queries (B, d), and the contexts (C, n, d) of some."""
    queries, contexts = list[AnyArray](), list[AnyArray]()
    for start in block[::batch]:
        stop = min(start + batch, block.stop)
        states = network.states(inputs.batch(start, stop))
        queries.append(states[:, place])
        contexts.append(states[[k - start for k in numbers if start <= k < stop]])
    return np.concatenate(queries), np.concatenate(contexts)


def _position(query: str, tokens: int) -> int:
    ends = {"first": 0, "last": tokens - 1}
    if query in ends:
        return ends[query]
    if not re.fullmatch("[0-9]{1,9}", query) or int(query) >= tokens:
        raise InputError("--query", f"first, last, or a position from 0 to {tokens - 1}", query)
    return int(query)


def _shard_size(inputs: int, contexts: int, batch: int) -> int:
    """Inputs in one shard: whole batches, so that a shard depends on itself alone. contexts: bytes
    of all that are kept."""
    size = min(_SHARD_INPUTS, _SHARD_BYTES * inputs // max(1, contexts))
    return max(1, -(-size // batch)) * batch


def _begin(folder: Path, facts: Mapping[str, Any]) -> dict[str, Any]:
    """The finished shards of this run in the folder, with their hashes. Raises InputError for a
    folder of anything else."""
    folder.mkdir(parents=True, exist_ok=True)
    if not any(folder.iterdir()):
        write_manifest(folder / RUN, facts, {})
    manifest, same = {}, False
    with suppress(InputError, OSError):
        manifest = read_manifest(folder / RUN)
        same = facts == {key: manifest[key] for key in facts if key in manifest}
    if not same:
        must = "new, empty, or the folder of the same run"
        raise InputError("--out", must, f"{folder}, which holds something else")
    return {name: digest for name, digest in shard_hashes(manifest).items()
            if (folder / name).exists()}  # fmt: skip
