"""`attncert embed` as a function: a model's states of many inputs, in batches, to a folder.

Memory is bounded by one batch and one shard; what both take is estimated before anything is spent.
A run that was interrupted goes on where it ended: shards that are there stay, because a shard
depends on the run's settings and its own inputs alone. `run.json` says what run a folder without a
manifest belongs to.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from attncert.constructions.arrays import AnyArray
from attncert.constructions.errors import InputError, path_errors, whole
from attncert.constructions.foreign import safe_name
from attncert.constructions.models.embeddings import MANIFEST, write_manifest, write_shard
from attncert.constructions.models.inputs import Inputs, open_inputs
from attncert.constructions.models.network import BYTES, Network, build, bytes_needed
from attncert.constructions.progress import StageProgress, silent

RUN = "run.json"
CONTEXTS = 200
MEMORY = 4 * 2**30
_SHARD_BYTES = 2**27  # contexts of one shard, at most, where more than one input fits
_SHARD_INPUTS = 256


@dataclass(frozen=True)
class EmbedSettings:
    """query: "first", "last" or a position from 0; "" for the model's own: the last token of a GPT,
    else the first. contexts: how many are kept, evenly spread; None for all. count: inputs; None
    for all. length: of a passage; None for the longest. memory: bytes. dtype: float32 or
    float64. See `build` for the rest."""

    layer: int = 1
    query: str = ""
    random: bool = False
    seed: int = 0
    contexts: int | None = CONTEXTS
    count: int | None = None
    length: int | None = None
    tokenizer: str = ""
    batch: int = 8
    memory: int = MEMORY
    dtype: str = "float32"

    def __post_init__(self) -> None:
        if self.batch < 1:
            raise InputError("--batch", "a positive whole number", self.batch)
        if self.dtype not in BYTES:
            raise InputError("--dtype", "float32 or float64", self.dtype)
        if self.contexts is not None and self.contexts < 0:
            raise InputError("--contexts", "a whole number from 0", self.contexts)


@dataclass(frozen=True)
class Embedded:
    """What was written. estimated: bytes of memory; reused: shards that were there already."""

    folder: Path
    inputs: int
    tokens: int
    width: int
    kept: int
    estimated: int
    shards: int
    reused: int


def embed(
    model: str,
    source: str,
    folder: Path,
    settings: EmbedSettings,
    progress: StageProgress = silent,
) -> Embedded:
    """Queries of all inputs and contexts of some, as the folder that `embeddings` describes.

    Deterministic for one machine and its libraries. Raises InputError before anything is written
    for what can be known then; a bad input later on leaves the shards before it.
    """
    progress("model", 0, 1)
    network = build(
        model,
        layer=settings.layer,
        random=settings.random,
        seed=settings.seed,
        dtype=settings.dtype,
        memory=settings.memory,
    )
    inputs = open_inputs(
        source,
        pixels=network.pixels,
        tokenizer=settings.tokenizer or model,
        length=settings.length,
        longest=network.longest,
        count=settings.count,
    )
    tokens, place = _first_look(network, inputs, settings)
    context = tokens * network.width * BYTES[settings.dtype]
    kept = _spread(inputs.count, settings.contexts)
    size = _shard_size(inputs.count, len(kept), context, settings.batch)
    most = max(len([k for k in kept if at <= k < at + size]) for at in range(0, inputs.count, size))
    estimated = bytes_needed(network, settings.batch, tokens, settings.dtype)
    estimated += 2 * most * context
    _require_memory(estimated, settings)
    manifest: dict[str, Any] = {
        "name": safe_name(folder.name, "embeddings"),
        "inputs": inputs.count,
        "tokens": tokens,
        "width": network.width,
        "heads": network.heads,
        "head_width": network.width // network.heads,
        "layer": settings.layer,
        "query": place,
        "provenance": {
            **network.told,
            "inputs": dict(inputs.told),
            "batch": settings.batch,
            "contexts kept": len(kept),
        },
    }
    names = [f"shard-{i:05d}.npz" for i in range(-(-inputs.count // size))]
    need = len(kept) * context + inputs.count * network.width * BYTES[settings.dtype]
    _begin(folder, {**manifest, "shard": size}, names, need)
    reused = 0
    for number, name in enumerate(names):
        start, stop = number * size, min((number + 1) * size, inputs.count)
        progress("inputs", start, inputs.count)
        if (folder / name).exists():
            reused += 1
            continue
        part = [k for k in kept if start <= k < stop]
        queries = np.empty((stop - start, network.width), dtype=settings.dtype)
        contexts = np.empty((len(part), tokens, network.width), dtype=settings.dtype)
        for at in range(start, stop, settings.batch):
            end = min(at + settings.batch, stop)
            states = network.states(_checked(network, inputs.batch(at, end)))
            _require_finite(states, at)
            queries[at - start : end - start] = states[:, _position(place, tokens)]
            for i, k in enumerate(part):
                if at <= k < end:
                    contexts[i] = states[k - at]
            progress("inputs", end, inputs.count)
        with path_errors("--out", "a folder that can be written", folder):
            write_shard(folder / name, queries, contexts, part)
    with path_errors("--out", "a folder that can be written", folder):
        write_manifest(folder, manifest, names)
        (folder / RUN).unlink(missing_ok=True)
    return Embedded(
        folder, inputs.count, tokens, network.width, len(kept), estimated, len(names), reused
    )


def _first_look(network: Network, inputs: Inputs, settings: EmbedSettings) -> tuple[int, str]:
    """n, as one input shows it, and where its query is. One input is counted before it is made."""
    least = _tokens_of_one(network, inputs)
    _require_memory(bytes_needed(network, 1, least, settings.dtype), settings)
    batch = _checked(network, inputs.batch(0, 1))
    place = settings.query or ("last" if network.last else "first")
    states = network.states(batch)
    _require_finite(states, 0)
    tokens = int(states.shape[1])
    if place not in ("first", "last") and not (
        re.fullmatch("[0-9]{1,9}", place) and int(place) < tokens
    ):
        raise InputError("--query", f"first, last, or a position from 0 to {tokens - 1}", place)
    return tokens, place


def _tokens_of_one(network: Network, inputs: Inputs) -> int:
    """Of an image that many patches, special tokens apart."""
    if network.pixels is None:
        return int(inputs.batch(0, 1)["input_ids"].shape[1])
    patch = getattr(network.model.config, "patch_size", None)
    return int((network.pixels.size // (patch if whole(patch) and patch > 0 else 16)) ** 2)


def _require_memory(estimated: int, settings: EmbedSettings) -> None:
    if estimated > settings.memory:
        must = f"at least {-(-estimated // 2**20)} MiB, what this run is estimated to need"
        raise InputError("--memory", must, f"{settings.memory // 2**20} MiB")


def _position(place: str, tokens: int) -> int:
    return int({"first": "0", "last": str(tokens - 1)}.get(place, place))


def _checked(network: Network, batch: dict[str, AnyArray]) -> dict[str, AnyArray]:
    """The batch, if the model has so many positions and such tokens: torch would end in a heap."""
    ids = batch.get("input_ids")
    if ids is not None:
        if network.longest is not None and ids.shape[1] > network.longest:
            must = f"at most {network.longest} tokens, what this model takes"
            raise InputError("--length", must, ids.shape[1])
        if network.vocabulary is not None and not (
            ids.min() >= 0 and ids.max() < network.vocabulary
        ):
            must = f"ids from 0 to {network.vocabulary - 1}, as this model knows them"
            raise InputError("tokens", must, f"{ids.min()} to {ids.max()}")
    return batch


def _spread(inputs: int, contexts: int | None) -> list[int]:
    """
    >>> _spread(5, None), _spread(10, 3), _spread(2, 9), _spread(5, 0)
    ([0, 1, 2, 3, 4], [0, 3, 6], [0, 1], [])
    """
    count = inputs if contexts is None else min(contexts, inputs)
    return [i * inputs // count for i in range(count)]


def _shard_size(inputs: int, kept: int, context: int, batch: int) -> int:
    """Inputs in one shard: whole batches, so that a shard depends on itself alone."""
    each = max(1, context * kept // inputs)
    size = max(1, min(_SHARD_INPUTS, _SHARD_BYTES // each))
    return -(-size // batch) * batch


def _begin(folder: Path, run: Mapping[str, Any], names: list[str], need: int) -> None:
    """A folder for this run: new, empty, or left by the same one. Raises InputError."""
    must = "new, empty, or the folder of the same run"
    with path_errors("--out", must, folder):
        if folder.exists() and not folder.is_dir():
            raise InputError("--out", must, f"a file: {folder}")
        here = {path.name for path in folder.iterdir()} if folder.exists() else set()
        partial = {path for path in here if path.endswith(".partial")}
        text = json.dumps(run, indent=1, sort_keys=True) + "\n"
        if here:
            same = (folder / RUN).is_file() and (folder / RUN).read_bytes() == text.encode()
            if MANIFEST in here or not same or here - {RUN, *names, *partial}:
                raise InputError("--out", must, f"{folder}, which holds something else")
        folder.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(folder).free
        if need > free:
            raise InputError("--out", f"where {need} bytes are free", f"with {free} bytes free")
        (folder / RUN).write_text(text)


def _require_finite(states: AnyArray, at: int) -> None:
    good = np.isfinite(states).all(axis=(1, 2))
    if not good.all():
        where = at + int(np.argmin(good))
        raise InputError("hidden states", "finite numbers", f"NaN or infinite, input {where}")
