"""Networks in JSON: the key `network` of a certificate, and a user's own network.json.

Both hold the blocks in order, with the keys and words of docs/certificate.md and numbers of any
length that the checker reads. In a user's file, numbers may be integers, decimals or "p/q".
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from flint import fmpq, fmpq_mat

from attncert.constructions.data.conversion import OF_WEIGHTS, describe
from attncert.constructions.data.exact_array import ExactArray
from attncert.constructions.data.loading import MAX_JSON_BYTES, json_value, read_source
from attncert.constructions.errors import InputError, odd_key, path_errors
from attncert.constructions.layer import Head
from attncert.constructions.network.blocks import Attention, Block, FeedForward, Mask, Normalization
from attncert.constructions.network.composed import Gated, Group
from attncert.constructions.network.network import Network
from attncert.constructions.network.positional import GeneralAttention, HeadNorm, Positions, Rotary
from attncert.constructions.numerals import numeral

_FILE = 'a JSON file {"network": blocks}, or a certificate with a network'
# The kinds of blocks, and the attribute that each key stands for.
_KINDS: dict[str, type[Any]] = {"attention": Attention, "feed-forward": FeedForward,
                              "normalization": Normalization, "gated": Gated,
                              "group": Group, "positions": Positions,
                              "general-attention": GeneralAttention}  # fmt: skip
_KEYS: dict[type[Any], dict[str, str]] = {
    Attention: {"of": "of", "rule": "rule", "logit_unit": "unit", "heads": "heads",
                "output": "output", "mask": "mask", "residual": "residual"},
    FeedForward: {x: x for x in ("of", "activation", "weights", "bias", "residual")},
    Normalization: {x: x for x in ("of", "centred", "epsilon", "gain", "bias", "residual")},
    Gated: {x: x for x in ("of", "activation", "gate", "gate_bias", "weights", "bias", "residual")},
    Group: {x: x for x in ("of", "blocks", "residual")},
    Positions: {x: x for x in ("of", "table", "query_place", "residual")},
}  # fmt: skip
_KEYS[GeneralAttention] = _KEYS[Attention] | {
    x: x for x in ("root", "norm", "rotary", "cap", "slopes", "tables", "sinks", "query_place")
}  # fmt: skip
_HEAD = ("key", "query", "value")
_NORM, _ROTARY = ("epsilon", "query_gain", "key_gain"), ("unit", "frequencies")


def as_json(network: Network) -> list[dict[str, Any]]:
    """The blocks in the form of a certificate.

    >>> relu = FeedForward(fmpq_mat(1, 1, [2]), fmpq_mat(1, 1), activation="relu")
    >>> as_json(Network((relu,)))  # doctest: +NORMALIZE_WHITESPACE
    [{'kind': 'feed-forward', 'of': 'query', 'activation': 'relu', 'weights': [['2']],
      'bias': ['0'], 'residual': False}]
    """
    return [
        {"kind": kind_of(x)}
        | {key: _written(key, getattr(x, name)) for key, name in _KEYS[type(x)].items()}
        for x in network.blocks
    ]


def write_network(network: Network, path: str | os.PathLike[str]) -> None:
    """Write a network.json, which `attncert layer` and `prove --before` read. Exact. Raises
    InputError if the file cannot be written. Source: docs/models-and-layers.md.

    >>> one = fmpq_mat([[1]])
    >>> write_network(Network((FeedForward(one, one),)), "no/such/folder/network.json")
    Traceback (most recent call last):
    attncert.InputError: path: must be a file that can be written, not no/such/folder/network.json \
(No such file or directory)
    """
    with path_errors("path", "a file that can be written", path):
        Path(path).write_text(json.dumps({"network": as_json(network)}) + "\n")


def kind_of(block: Block) -> str:
    """The kind of a block in files."""
    return next(kind for kind, type_ in _KINDS.items() if type_ is type(block))


def loaded(source: str | os.PathLike[str]) -> Network:
    """The network of a JSON file {"network": blocks}, or of a certificate. Raises InputError."""
    return read_source(source, {"json": parsed}, _FILE)


def parsed(file: BinaryIO, name: str, source: str) -> Network:
    value = json_value(file.read(MAX_JSON_BYTES + 1), source, exact=True)
    whole = isinstance(value, dict) and ("format" in value or list(value) == ["network"])
    if not whole or "network" not in value:
        raise InputError(source, _FILE, describe(value))
    return of_json(value["network"])


def of_json(blocks: Any) -> Network:
    """The network of these blocks. Raises InputError, which names the block.

    >>> of_json([{"kind": "feed-forward", "of": "query", "activation": "relu",
    ...           "weights": [[2, 0.5]], "bias": [0, "1/3"], "residual": False}])
    Network(depth=1, units=2, parameters=3)
    >>> of_json([{"kind": "convolution"}])
    Traceback (most recent call last):
    attncert.InputError: block 1: kind: must be one of: attention, feed-forward, normalization, \
gated, group, positions, general-attention, not 'convolution'
    """
    return Network(_blocks(blocks, "network"))


def _blocks(blocks: Any, key: str) -> tuple[Block, ...]:
    if not isinstance(blocks, list):
        raise InputError(key, "a list of blocks", describe(blocks))
    return tuple(_block(block, f"block {k}") for k, block in enumerate(blocks, 1))


def _written(key: str, part: Any) -> Any:
    if key == "blocks":
        return as_json(Network(part))
    if key == "heads":
        return [{x: _written(x, getattr(head, x)) for x in _HEAD} for head in part]
    if key == "tables":
        return part and [_written("table", x) for x in part]
    if isinstance(part, (HeadNorm, Rotary)):
        names = _NORM if key == "norm" else _ROTARY
        return {x: _written(x, getattr(part, x)) for x in names}
    if isinstance(part, fmpq_mat):
        rows = [[numeral(x) for x in row] for row in part.tolist()]
        return rows[0] if key in _ROWS else rows
    if isinstance(part, fmpq):
        return numeral(part)
    return [list(map(int, row)) for row in part] if isinstance(part, tuple) else part


def _block(block: Any, where: str) -> Block:
    try:
        kind = block.get("kind") if isinstance(block, dict) else None
        if kind not in list(_KINDS):
            raise InputError("kind", f"one of: {', '.join(_KINDS)}", repr(kind))
        keys = _KEYS[_KINDS[kind]]
        if set(block) != {"kind", *keys}:
            raise InputError("keys", f"kind, {', '.join(keys)}", odd_key(block, ("kind", *keys)))
        parts = {
            name: _READERS[key](block[key], key) if key in _READERS else block[key]
            for key, name in keys.items()
        }
        return _KINDS[kind](**parts)
    except InputError as error:
        raise InputError(f"{where}: {error.argument}", error.must, error.got) from None


def _flag(flag: Any, key: str) -> bool:
    if type(flag) is not bool:
        raise InputError(key, "true or false", describe(flag))
    return flag


def _heads(heads: Any, key: str) -> tuple[Head, ...]:
    if not isinstance(heads, list):
        raise InputError(key, "a list of objects with key, query and value", describe(heads))
    for number, head in enumerate(heads, 1):
        if not isinstance(head, dict) or set(head) != set(_HEAD):
            got = odd_key(head, _HEAD) if isinstance(head, dict) else describe(head)
            raise InputError(f"{key}: head {number}", "an object with key, query and value", got)
    return tuple(Head(*(_matrix(head[name], name) for name in _HEAD)) for head in heads)


def _matrix(rows: Any, key: str) -> fmpq_mat:
    array = ExactArray.of(rows, key, OF_WEIGHTS)
    if len(array.shape) != 2 or 0 in array.shape:
        raise InputError(key, "a nonempty matrix", f"of shape {array.shape}")
    return array.matrix()


def _or_null(reader: Callable[[Any, str], Any]) -> Callable[[Any, str], Any]:
    return lambda part, key: None if part is None else reader(part, key)


def _record(kind: Callable[..., Any], keys: tuple[str, ...]) -> Callable[[Any, str], Any]:
    def read(part: Any, key: str) -> Any:
        if not isinstance(part, dict) or set(part) != set(keys):
            got = odd_key(part, keys) if isinstance(part, dict) else describe(part)
            raise InputError(key, f"null, or an object with {', '.join(keys)}", got)
        return kind(**{x: _READERS[x](part[x], x) for x in keys})

    return _or_null(read)


def _tables(tables: Any, key: str) -> tuple[fmpq_mat, ...]:
    if not isinstance(tables, list):
        raise InputError(key, "null, or a list with a matrix for each head", describe(tables))
    return tuple(_matrix(table, key) for table in tables)


def _number(number: Any, key: str) -> fmpq:
    return _row([number], key)[0, 0]


def _row(row: Any, key: str) -> fmpq_mat:
    if not isinstance(row, list):
        raise InputError(key, "a list of numbers", describe(row))
    return _matrix([row], key)


def _mask(mask: Any, key: str) -> Mask:
    if mask is None or mask == "causal":
        return mask
    rows: list[Any] = mask if isinstance(mask, list) else [None]
    if not all(
        isinstance(row, list) and row and all(type(x) is int and x in (0, 1) for x in row)
        for row in rows
    ):
        raise InputError(key, "null, 'causal' or rows of 0 and 1", describe(mask))
    return tuple(tuple(map(bool, row)) for row in rows)


_READERS: dict[str, Callable[[Any, str], Any]] = {
    "heads": _heads, "mask": _mask, "blocks": _blocks, "unit": lambda part, _: part,
    "residual": _flag, "centred": _flag, "epsilon": _number, "cap": _or_null(_number),
    "slopes": _or_null(_row), "sinks": _or_null(_row), "tables": _or_null(_tables),
    "norm": _record(HeadNorm, _NORM), "rotary": _record(Rotary, _ROTARY),
    **dict.fromkeys(("output", "weights", "gate", "table"), _matrix),
    **dict.fromkeys(("bias", "gain", "gate_bias", *_NORM[1:], "frequencies"), _row),
}  # fmt: skip
_ROWS = [key for key, reader in _READERS.items() if reader is _row] + ["slopes", "sinks"]
