"""Embeddings in a folder: a manifest and .npz shards (docs/models-and-layers.md).

    manifest.json    the contents of the folder and its provenance
    shard-00000.npz  queries (B, d), contexts (C, n, d), kept (C,): one block of the inputs

Inputs are numbered from 0 across all shards. A folder contains the queries of all inputs and the
contexts of some inputs, whose numbers are in `kept`. Floats are taken as exactly the stored
numbers. Other programs may write such a folder, so everything in it is checked.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from attncert.constructions.arrays import AnyArray
from attncert.constructions.data.archives import read_arrays
from attncert.constructions.data.loading import MAX_JSON_BYTES, json_value
from attncert.constructions.errors import InputError, path_errors, whole
from attncert.constructions.foreign import printable, safe_name
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.third_party.assume.inputs import Contexts, LayerInputs

FORMAT = "attncert-embeddings/1"
MANIFEST = "manifest.json"
ARRAYS = ("queries", "contexts", "kept")
_SHARD = re.compile(r"[A-Za-z0-9_-]{1,64}\.npz")
_MOST_INPUTS, _MOST_NUMBERS = 10**6, 2**30  # the most inputs, and numbers in all queries
_MOST_TEXTS = 100  # the most texts in a provenance
_MUST = f"a folder of embeddings with {MANIFEST}"


def load_embeddings(folder: str | os.PathLike[str]) -> LayerInputs:
    """Read such a folder, given by its path or its manifest. Raises InputError."""
    path = Path(folder)
    path = path.parent if path.name == MANIFEST else path
    with path_errors(str(folder), _MUST, path):
        manifest = read_manifest(path / MANIFEST)
    inputs, n, d = (_positive(manifest, key) for key in ("inputs", "tokens", "width"))
    if inputs > _MOST_INPUTS or inputs * d > _MOST_NUMBERS:
        must = f"of at most {_MOST_INPUTS} inputs and {_MOST_NUMBERS} numbers in queries"
        raise InputError(MANIFEST, must, f"{inputs} × {d}")
    heads, head_width = (
        _positive(manifest, key) if key in manifest else None for key in ("heads", "head_width")
    )
    shards = shard_hashes(manifest)
    queries, numbers, start = list[AnyArray](), list[int](), 0
    for name, expected in shards.items():
        if expected is not None and (actual := file_sha256(path / name)) != expected:
            raise InputError(name, f"the file with SHA-256 {printable(expected, 64)}", actual)
        arrays = _read(path / name, (n, d), range(start, inputs), contexts=False)
        queries.append(arrays["queries"])
        numbers += arrays["kept"].tolist()
        start += len(arrays["queries"])
    if start != inputs:
        raise InputError(MANIFEST, f'of "inputs" as in its shards, {start}', inputs)
    name = safe_name(path.resolve().name, "embeddings")
    contexts = partial(_contexts, [path / shard for shard in shards], (n, d), inputs)
    return LayerInputs(
        Vectors.of(np.concatenate(queries), name), n, heads, head_width, tuple(numbers), contexts,
        _provenance(manifest),
    )  # fmt: skip


def read_manifest(path: Path) -> dict[str, Any]:
    """The manifest as an object of this format. Raises InputError and OSError."""
    require_file(path)
    with path.open("rb") as file:
        manifest = json_value(file.read(MAX_JSON_BYTES + 1), path.name)
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise InputError(path.name, f'an object with "format": "{FORMAT}"', "another")
    return manifest


def shard_hashes(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The names of the shards in their order, each with its SHA-256 or None."""
    entries = manifest.get("shards")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise InputError(f"{MANIFEST}: shards", "a list of objects", "something else")
    hashes: dict[str, Any] = {}
    for entry in entries:
        name = entry.get("file")
        if not isinstance(name, str) or not _SHARD.fullmatch(name) or name in hashes:
            raise InputError(f"{MANIFEST}: file", "the name of an .npz in its folder, once", name)
        hashes[name] = entry.get("sha256")
    return hashes


def file_sha256(path: Path) -> str:
    require_file(path)
    with path_errors(path.name, "a file that can be read", path), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def require_file(path: Path) -> None:
    """Refuse pipes, which would block, and devices, which may never end. Raises InputError."""
    if path.exists() and not path.is_file():
        raise InputError(path.name, "a file", "a directory, a pipe or a device")


def _contexts(shards: Sequence[Path], context: tuple[int, int], inputs: int) -> Contexts:
    """The contexts with their numbers. Only one shard is in memory at a time."""
    start = 0
    for path in shards:
        arrays = _read(path, context, range(start, inputs))
        yield from zip(arrays["kept"].tolist(), arrays["contexts"], strict=True)
        start += len(arrays["queries"])


def _read(
    path: Path, context: tuple[int, int], inputs: range, contexts: bool = True
) -> dict[str, AnyArray]:
    """The arrays of a shard, which contains the first of `inputs` and whose contexts have this
    shape (n, d). contexts: whether to read the contexts."""
    name = path.name

    def choose(keys: list[str]) -> tuple[str, ...]:
        if sorted(keys) != sorted(ARRAYS):
            actual = ", ".join(repr(key[:40]) for key in sorted(keys)[:8]) or "nothing"
            raise InputError(name, f"made of {', '.join(ARRAYS)}", f"of {actual}")
        return ARRAYS if contexts else ("queries", "kept")

    def check(shapes: list[tuple[int, ...]]) -> None:
        queries, *others, numbers = shapes
        if len(queries) != 2 or queries[1] != context[1]:
            raise InputError(f"{name}: queries", f"of shape (B, {context[1]})", queries)
        if queries[0] > len(inputs):
            raise InputError(f"{MANIFEST}: inputs", "as many as in its shards", f"less, at {name}")
        if len(numbers) != 1 or numbers[0] > queries[0]:
            raise InputError(
                f"{name}: kept", f"of shape (C,), with C at most {queries[0]}", numbers
            )
        if others and others[0] != (*numbers, *context):
            raise InputError(f"{name}: contexts", f"of shape {(*numbers, *context)}", others[0])

    require_file(path)
    with path_errors(name, "a file that can be read", path), path.open("rb") as file:
        arrays = read_arrays(file, name, choose, check)
    for key, array in arrays.items():
        if array.dtype.kind != ("i" if key == "kept" else "f"):
            must = "integers" if key == "kept" else "floats"
            raise InputError(f"{name}: {key}", must, array.dtype)
        if not np.isfinite(array).all():
            raise InputError(f"{name}: {key}", "finite numbers", array[~np.isfinite(array)][0])
    numbers, block = arrays["kept"].tolist(), inputs[: len(arrays["queries"])]
    if numbers != sorted(set(numbers)) or not all(number in block for number in numbers):
        must = f"increasing numbers from {block.start} to {block.stop - 1}, of its own inputs"
        raise InputError(f"{name}: kept", must, "others")
    return arrays


def _positive(manifest: Mapping[str, Any], key: str) -> int:
    number = manifest.get(key, "left out")
    if not whole(number) or not 1 <= number < 2**31:
        raise InputError(f"{MANIFEST}: {key}", "a positive whole number", number)
    return int(number)


def _provenance(manifest: Mapping[str, Any]) -> dict[str, str]:
    provenance = manifest.get("provenance", {})
    if not isinstance(provenance, dict) or len(provenance) > _MOST_TEXTS:
        must = f"an object of at most {_MOST_TEXTS} texts"
        raise InputError(f"{MANIFEST}: provenance", must, "something else")
    facts = {key: manifest[key] for key in ("layer", "query") if key in manifest} | provenance
    return {printable(key, 40): printable(fact, 120) for key, fact in facts.items()}
