"""Weights from a file in any format: the names of its arrays show where a layer is."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from attncert.constructions.arrays import AnyArray
from attncert.constructions.data import loading
from attncert.constructions.errors import InputError
from attncert.constructions.foreign import printable
from attncert.constructions.network.file import parsed
from attncert.constructions.network.network import Network
from attncert.constructions.weights import files, own
from attncert.constructions.weights.libraries import LENS, LIBRARIES, library
from attncert.constructions.weights.model_types import BY_NAME, model_type, number_of_heads
from attncert.constructions.weights.naming import NAMINGS, Place, choose, places
from attncert.constructions.weights.projections import of_projections
from attncert.constructions.weights.stored import StoredLayer
from attncert.constructions.weights.transformer import Transformer

FORMATS = ("auto", "attncert", *dict.fromkeys(naming.format for naming in NAMINGS))

_MOST_CONFIG = 2**20  # the longest configuration, in bytes
_FILE = "an .npz, .safetensors, .pt or JSON file of weights"
_STORED = "model.safetensors"  # the file in a model's folder
_LISTED = 6  # names of arrays in an error

Reader = Callable[[BinaryIO, str, files.Choose], dict[str, AnyArray]]


@dataclass(frozen=True)
class Selection:
    """Which layer of a file is meant, and how it is read. Without a configuration, plain attention
    is assumed. Errors name `source` (the configuration) and `way_out` (an alternative to it)."""

    format: str = "auto"
    prefix: str | None = None
    heads: int | None = None
    config: Mapping[str, Any] | None = None
    source: str = "config.json"
    way_out: str = "--format hf"

    def __post_init__(self) -> None:
        if self.format not in FORMATS:
            raise InputError("format", f"one of {', '.join(FORMATS)}", self.format)

    def place(self, names: Sequence[str], source: str) -> Place | None:
        """The place of the layer; None if it is in our own format. Raises InputError."""
        ours = self.format == "attncert" or own.NAMES.issuperset(names)
        if ours and self.format in ("auto", "attncert") and self.prefix is None:
            return None
        namings = [n for n in NAMINGS if self.format in ("auto", n.format)]
        if layers := places(names, namings):
            return choose(layers, self.prefix)
        some = ", ".join(printable(repr(name)) for name in list(names)[:_LISTED]) or "nothing"
        more = ", …" if len(names) > _LISTED else ""
        kind = "any known format" if self.format == "auto" else f"the format {self.format}"
        must = f"one with the query, key, value and output weights of a layer, in {kind}"
        raise InputError(source, must, f"one with {some}{more}")


def load_weights(
    source: str | os.PathLike[str],
    format: str = "auto",
    prefix: str | None = None,
    heads: int | None = None,
) -> StoredLayer | Network:
    """The layer in a file, a model's folder or standard input ("-"), as `attncert layer`
    reads it; or the network in a network.json or certificate, if it is not one layer.

    format, prefix, heads: as in `Selection`; with "auto", a config.json in the same folder says
    what the layer computes. Exact: a float in an array is the dyadic rational that it stores, and a
    decimal in JSON is taken as written. Raises InputError, and nothing else, for any other file.
    """
    if os.path.isdir(source):
        source = os.path.join(source, _STORED)
    config = _configuration(source) if format == "auto" else None
    selection = Selection(format, prefix, heads, config)
    torch = partial(_of_arrays, reader=files.from_torch_file, selection=selection)
    readers: loading.Readers[StoredLayer | Network] = {
        "npz": partial(_of_arrays, reader=files.from_npz, selection=selection),
        "safetensors": partial(_of_arrays, reader=files.from_safetensors, selection=selection),
        "json": partial(_of_json, selection=selection),
        "pt": torch,
        "pth": torch,
        "bin": torch,
    }
    return loading.read_source(source, readers, _FILE)


def of_state(
    read: Callable[[files.Choose], dict[str, AnyArray]],
    name: str,
    source: str,
    selection: Selection,
) -> StoredLayer:
    """The selected layer. `read` takes a function that picks some of the names, and returns the
    arrays with these names. Raises InputError."""
    selected: list[Place | None] = []

    def choice(names: Sequence[str]) -> Collection[str]:
        selected.append(selection.place(names, source))
        return list(names) if selected[0] is None else selected[0].names(names)

    arrays = read(choice)
    if selected[0] is None:
        return _own(own.of_arrays(arrays, name, source), selection)
    if selection.config is None:
        return of_projections(selected[0], arrays, selection.heads, name)
    kind = model_type(selection.config, selection.source, selection.way_out)
    heads = number_of_heads(selection.config)
    if heads is not None:
        _same_heads(selection, heads, selection.source)
    stored = of_projections(selected[0], arrays, heads or selection.heads, name)
    scale, name = kind.scale(selection.config), str(selection.config["model_type"])
    return replace(stored, scale=scale, type=name)


def network_of_state(
    read: Callable[[files.Choose], dict[str, AnyArray]],
    config: Mapping[str, Any],
    prefix: str,
    source: str,
) -> Network:
    """The network of all arrays under the prefix. read: as for `of_state`. Raises InputError."""
    kind, below = library(config), _with_dot(prefix)
    if kind is None:
        must = f"one of {', '.join(name for x in LIBRARIES for name in x.types)}"
        raise InputError(f"{source}: model_type", must, printable(str(config.get("model_type"))))
    design = kind.design(config, source)
    outside = tuple(f".{name}" for name in kind.outside)

    def choice(names: Sequence[str]) -> Collection[str]:
        return [x for x in names if x.startswith(below) and not f".{x}".endswith(outside)]

    arrays = read(choice)
    blocks = Transformer(design, kind, arrays).blocks(below)
    return Network(blocks, str(config.get("model_type", LENS)))


def _with_dot(prefix: str) -> str:
    return prefix and prefix.removesuffix(".") + "."


def _configuration(source: str | os.PathLike[str]) -> Mapping[str, Any] | None:
    """The config.json beside a model's weights, if that file names a type. Raises InputError."""
    if str(source) in ("", "-") or not (path := Path(source).with_name("config.json")).is_file():
        return None
    config = loading.read_source(path, {"json": _json}, "the configuration of a model")
    return config if isinstance(config, dict) and "model_type" in config else None


def _json(file: BinaryIO, name: str, source: str) -> Any:
    return loading.json_value(file.read(_MOST_CONFIG), source)


def _of_arrays(
    file: BinaryIO, name: str, source: str, *, reader: Reader, selection: Selection
) -> StoredLayer | Network:
    """One layer, if the model's attention is plain and no prefix selects more; else a network."""

    def read(choose: files.Choose) -> dict[str, AnyArray]:
        return reader(file, source, choose)

    config, prefix = selection.config or {}, selection.prefix
    kind, plain = library(config), str(config.get("model_type")) in BY_NAME
    if kind is None or (plain and (prefix is None or _with_dot(prefix).endswith(kind.attention))):
        return of_state(read, name, source, selection)
    return network_of_state(read, config, prefix or "", selection.source)


def _of_json(
    file: BinaryIO, name: str, source: str, *, selection: Selection
) -> StoredLayer | Network:
    if selection.format not in ("auto", "attncert") or selection.prefix is not None:
        raise InputError(source, "an .npz, .safetensors or .pt file for this format", "JSON")
    network = parsed(file, name, source)
    layer = own.of_network(network, name)
    return network if layer is None else _own(layer, selection)


def _own(weights: StoredLayer, selection: Selection) -> StoredLayer:
    """The layer in our own format, which states the number of heads. Raises InputError."""
    _same_heads(selection, len(weights.layer.heads), "the file")
    return weights


def _same_heads(selection: Selection, heads: int, source: str) -> None:
    if selection.heads not in (None, heads):
        raise InputError("heads", f"{heads}, as {source} says", selection.heads)
