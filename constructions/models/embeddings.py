"""Embeddings of real inputs in a folder: a manifest and .npz shards; docs/assumptions.md states it.

    manifest.json    what is in the folder, and where it comes from
    shard-00000.npz  queries (B, d), contexts (C, n, d), kept (C,): one block of the inputs

Inputs are numbered from 0 through all shards. The queries of all inputs are there; the contexts of
some of them, whose numbers are `kept`. Floats are taken exactly, as they are stored. A user may
write such a folder without us, so nothing here trusts one.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from attncert.constructions.arrays import AnyArray
from attncert.constructions.brief import in_brief
from attncert.constructions.data.archives import read_arrays
from attncert.constructions.data.loading import MAX_JSON_BYTES, json_value
from attncert.constructions.errors import InputError, path_errors, whole
from attncert.constructions.foreign import printable, safe_name

FORMAT = "attncert-embeddings/1"
MANIFEST = "manifest.json"
ARRAYS = ("queries", "contexts", "kept")
_SHARD = re.compile(r"[A-Za-z0-9_-]{1,64}\.npz")
_MOST_SHARDS = 10**5
_MOST_INPUTS = 10**6
_MOST_NUMBERS = 2**30  # in the queries of all inputs
_MOST_TOLD, _MOST_LEVELS = 100, 4  # texts of a provenance, and objects in objects
_MUST = f"a folder of embeddings with {MANIFEST}"


@dataclass(frozen=True)
class Embeddings:
    """What one layer of a model sees of N inputs.

    queries:    (N, d), float16, float32 or float64, finite.
    tokens:     n, rows of each context. heads, head_width: of the layer; None: not stated.
    kept:       numbers of the inputs whose contexts are there, increasing.
    provenance: what the manifest says of model, layer and inputs, for reports: text in, text out.
    """

    name: str
    queries: AnyArray
    tokens: int
    heads: int | None
    head_width: int | None
    kept: tuple[int, ...]
    provenance: Mapping[str, str]
    folder: Path
    shards: tuple[str, ...] = field(repr=False)

    def __repr__(self) -> str:
        return in_brief(self, self.name, inputs=len(self.queries), contexts=len(self.kept))

    def contexts(self) -> Iterator[tuple[int, AnyArray]]:
        """(number of the input, its context (n, d)), one shard in memory at a time."""
        for name in self.shards:
            arrays = _read(self.folder / name, self.tokens, *self.queries.shape[::-1])
            for number, context in zip(arrays["kept"].tolist(), arrays["contexts"], strict=True):
                _require_finite("contexts", context, f"of input {number}")
                yield number, context


def load_embeddings(folder: str | os.PathLike[str]) -> Embeddings:
    """A folder as `attncert embed` writes it, or its manifest. Raises InputError."""
    path = Path(folder)
    path = path.parent if path.name == MANIFEST else path
    with path_errors(str(folder), _MUST, path):
        _require_file(path / MANIFEST)
        with (path / MANIFEST).open("rb") as file:
            manifest = json_value(file.read(MAX_JSON_BYTES + 1), MANIFEST)
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise InputError(MANIFEST, f'an object with "format": "{FORMAT}"', "another")
    inputs, n, d = (_positive(manifest, key) for key in ("inputs", "tokens", "width"))
    if inputs > _MOST_INPUTS:
        raise InputError(MANIFEST, f"of at most {_MOST_INPUTS} inputs", inputs)
    if inputs * d > _MOST_NUMBERS:
        raise InputError(MANIFEST, f"of at most {_MOST_NUMBERS} numbers in queries", inputs * d)
    stated = {k: _positive(manifest, k) if k in manifest else None for k in ("heads", "head_width")}
    queries, kept, names, room = list[AnyArray](), list[int](), dict[str, None](), inputs
    for entry in _entries(manifest):
        name, wanted = entry.get("file"), entry.get("sha256")
        if not isinstance(name, str) or not _SHARD.fullmatch(name) or name in names:
            raise InputError(f"{MANIFEST}: file", "the name of an .npz in its folder, once", name)
        _require_file(path / name)
        if wanted is not None and (got := file_sha256(path / name)) != wanted:
            raise InputError(name, f"the file with SHA-256 {printable(wanted, 64)}", got)
        arrays = _read(path / name, n, d, room, contexts=False)
        _require_finite("queries", arrays["queries"], f"in {name}")
        queries.append(arrays["queries"])
        kept += arrays["kept"].tolist()
        names[name], room = None, room - len(arrays["queries"])
        if len(kept) > inputs:  # before the next shard adds as many
            raise InputError("kept", f"increasing numbers from 0 to {inputs - 1}", "more of them")
    found = np.concatenate(queries)
    if len(found) != inputs:
        raise InputError(MANIFEST, f'of "inputs" as in its shards, {len(found)}', inputs)
    if kept != sorted(set(kept)) or (kept and not 0 <= kept[0] <= kept[-1] < inputs):
        raise InputError("kept", f"increasing numbers from 0 to {inputs - 1}", "others")
    title = manifest.get("name", path.resolve().name)
    told = {key: manifest[key] for key in ("layer", "query") if key in manifest}
    return Embeddings(
        safe_name(title if isinstance(title, str) else "", "embeddings"), found, n,
        stated["heads"], stated["head_width"], tuple(kept),
        _provenance(told | _object(manifest, "provenance")), path, tuple(names),
    )  # fmt: skip


def write_shard(path: Path, queries: AnyArray, contexts: AnyArray, kept: Sequence[int]) -> None:
    """One shard, in place at once or not at all. Equal arrays give equal bytes."""
    partial = path.with_suffix(".partial")
    with partial.open("wb") as file:
        np.savez(file, queries=queries, contexts=contexts, kept=np.array(kept, dtype=np.int64))
    os.replace(partial, path)


def write_manifest(folder: Path, manifest: Mapping[str, Any], shards: Sequence[str]) -> None:
    """The manifest, last of all: a folder without one is not finished."""
    entries = [{"file": name, "sha256": file_sha256(folder / name)} for name in shards]
    whole_ = {"format": FORMAT, **manifest, "shards": entries}
    partial = folder / f"{MANIFEST}.partial"
    partial.write_text(json.dumps(whole_, indent=1, sort_keys=True) + "\n")
    os.replace(partial, folder / MANIFEST)


def file_sha256(path: Path) -> str:
    with path_errors(path.name, "a file that can be read", path), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _require_file(path: Path) -> None:
    """A pipe would block, a device never end. Raises InputError."""
    if path.exists() and not path.is_file():
        raise InputError(path.name, "a file", "a directory, a pipe or a device")


def _read(path: Path, n: int, d: int, inputs: int, contexts: bool = True) -> dict[str, AnyArray]:
    """The arrays of a shard of at most so many inputs; without `contexts` those are not read."""
    name = path.name

    def choose(keys: list[str]) -> tuple[str, ...]:
        if sorted(keys) != sorted(ARRAYS):
            got = ", ".join(repr(key[:40]) for key in sorted(keys)[:8]) or "nothing"
            raise InputError(name, f"made of {', '.join(ARRAYS)}", f"of {got}")
        return ARRAYS if contexts else ("queries", "kept")

    def check(shapes: list[tuple[int, ...]]) -> None:
        queries, *others, kept = shapes
        if len(queries) != 2 or queries[1] != d:
            raise InputError(f"{name}: queries", f"of shape (B, {d})", queries)
        if queries[0] > inputs:
            raise InputError(f"{MANIFEST}: inputs", "as many as in its shards", f"less, at {name}")
        if len(kept) != 1 or kept[0] > inputs:
            raise InputError(f"{name}: kept", f"of shape (C,), with at most {inputs} inputs", kept)
        if others and others[0] != (kept[0], n, d):
            raise InputError(f"{name}: contexts", f"of shape {(kept[0], n, d)}", others[0])

    with path_errors(name, "a file that can be read", path), path.open("rb") as file:
        arrays = read_arrays(file, name, choose, check)
    for key, array in arrays.items():
        if (array.dtype.kind == "i") != (key == "kept") or array.dtype.kind not in "if":
            must = "integers" if key == "kept" else "floats"
            raise InputError(f"{name}: {key}", must, array.dtype)
    return arrays


def _require_finite(key: str, array: AnyArray, where: str) -> None:
    if not np.isfinite(array).all():
        bad = array[~np.isfinite(array)][0]
        raise InputError(f"{key} {where}", "finite numbers", bad)


def _entries(manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    found = manifest.get("shards")
    if not isinstance(found, list) or not 1 <= len(found) <= _MOST_SHARDS:
        raise InputError(f"{MANIFEST}: shards", "a list of objects", "something else")
    if not all(isinstance(entry, dict) for entry in found):
        raise InputError(f"{MANIFEST}: shards", "a list of objects", "of something else")
    return found


def _positive(manifest: Mapping[str, Any], key: str) -> int:
    value = manifest.get(key, "missing")
    if not whole(value) or not 1 <= value < 2**31:
        raise InputError(f"{MANIFEST}: {key}", "a positive whole number", value)
    return value


def _object(manifest: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = manifest.get(key, {})
    if not isinstance(value, dict):
        raise InputError(f"{MANIFEST}: {key}", "an object", "something else")
    return value


def _provenance(value: Mapping[str, Any]) -> dict[str, str]:
    found = dict(islice(_told(value), _MOST_TOLD + 1))
    if len(found) > _MOST_TOLD:
        raise InputError(f"{MANIFEST}: provenance", f"of at most {_MOST_TOLD} texts", "of more")
    return found


def _told(value: Mapping[str, Any], prefix: str = "", level: int = 1) -> Iterator[tuple[str, str]]:
    """Flat, and as text that a report may show."""
    for key, x in value.items():
        name = f"{prefix}{printable(key, 40)}"
        if isinstance(x, dict):
            if level == _MOST_LEVELS:
                must = f"of at most {_MOST_LEVELS} objects in objects"
                raise InputError(f"{MANIFEST}: provenance", must, "deeper")
            yield from _told(x, f"{name}: ", level + 1)
        else:
            yield name, printable(x, 120)
