"""Networks in JSON: the key `network` of a certificate, and a user's own network.json.

Both hold the blocks in order with the keys and words of docs/certificate.md. A user's numbers may
be integers, floats (taken exactly) and "p/q", as in data sets.
"""

from __future__ import annotations

import os
from typing import Any, BinaryIO

from flint import fmpq_mat

from attncert.constructions.data.conversion import describe
from attncert.constructions.data.exact_array import ExactArray
from attncert.constructions.data.loading import MAX_JSON_BYTES, json_value, read_source
from attncert.constructions.errors import InputError
from attncert.constructions.layer import Head
from attncert.constructions.network.blocks import Attention, Block, FeedForward, Mask
from attncert.constructions.network.network import Network
from attncert.constructions.numerals import numeral

MAX_BITS = 2**21  # of the denominators in common: the checker reads 500,000 digits
_FILE = 'a JSON file {"network": blocks}, or a certificate with a network'
_KEYS = {
    "attention": ("of", "rule", "logit_unit", "heads", "output", "mask", "residual"),
    "feed-forward": ("of", "activation", "weights", "bias", "residual"),
}


def as_json(network: Network) -> list[dict[str, Any]]:
    """The blocks, as a certificate holds them.

    >>> relu = FeedForward(fmpq_mat(1, 1, [2]), fmpq_mat(1, 1), activation="relu")
    >>> as_json(Network((relu,)))  # doctest: +NORMALIZE_WHITESPACE
    [{'kind': 'feed-forward', 'of': 'query', 'activation': 'relu', 'weights': [['2']],
      'bias': ['0'], 'residual': False}]
    """
    return [_attention(x) if isinstance(x, Attention) else _feed_forward(x) for x in network.blocks]


def loaded(source: str | os.PathLike[str]) -> Network:
    """The network in a JSON file {"network": blocks}, or of a certificate. Raises InputError."""
    return read_source(source, {"json": _parsed}, _FILE)


def _parsed(file: BinaryIO, name: str, source: str) -> Network:
    value = json_value(file.read(MAX_JSON_BYTES + 1), source)
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
    attncert.InputError: block 1: kind: must be 'attention' or 'feed-forward', not 'convolution'
    """
    if not isinstance(blocks, list):
        raise InputError("network", "a list of blocks", describe(blocks))
    return Network(tuple(_block(block, f"block {k}") for k, block in enumerate(blocks, 1)))


def _attention(block: Attention) -> dict[str, Any]:
    heads = [
        {"key": _strings(head.key), "query": _strings(head.query), "value": _strings(head.value)}
        for head in block.heads
    ]
    mask = [list(map(int, row)) for row in block.mask] if isinstance(block.mask, tuple) else None
    return {
        "kind": "attention", "of": block.of, "rule": block.rule, "logit_unit": block.unit,
        "heads": heads, "output": _strings(block.output), "mask": mask or block.mask,
        "residual": block.residual,
    }  # fmt: skip


def _feed_forward(block: FeedForward) -> dict[str, Any]:
    return {
        "kind": "feed-forward", "of": block.of, "activation": block.activation,
        "weights": _strings(block.weights), "bias": _strings(block.bias)[0],
        "residual": block.residual,
    }  # fmt: skip


def _strings(matrix: Any) -> list[list[str]]:
    return [[numeral(x) for x in row] for row in matrix.tolist()]


def _block(block: Any, where: str) -> Block:
    try:
        kind = block.get("kind") if isinstance(block, dict) else None
        if kind not in _KEYS:
            raise InputError("kind", "'attention' or 'feed-forward'", repr(kind))
        if set(block) != {"kind", *_KEYS[kind]}:
            named = ", ".join(_KEYS[kind])
            raise InputError("keys", f"kind, {named}", ", ".join(map(str, block)))
        if type(block["residual"]) is not bool:
            raise InputError("residual", "true or false", describe(block["residual"]))
        return _attention_of(block) if kind == "attention" else _feed_forward_of(block)
    except InputError as error:
        raise InputError(f"{where}: {error.argument}", error.must, error.got) from None


def _attention_of(block: dict[str, Any]) -> Attention:
    heads = block["heads"]
    names = {"key", "query", "value"}
    if not isinstance(heads, list) or not all(
        isinstance(head, dict) and set(head) == names for head in heads
    ):
        raise InputError("heads", "a list of objects with key, query and value", describe(heads))
    return Attention(
        heads=tuple(
            Head(*(_matrix(head[name], name) for name in ("key", "query", "value")))
            for head in heads
        ),
        output=_matrix(block["output"], "output"),
        of=block["of"],
        rule=block["rule"],
        unit=block["logit_unit"],
        mask=_mask(block["mask"]),
        residual=block["residual"],
    )


def _feed_forward_of(block: dict[str, Any]) -> FeedForward:
    if not isinstance(block["bias"], list):
        raise InputError("bias", "a list of numbers", describe(block["bias"]))
    return FeedForward(
        weights=_matrix(block["weights"], "weights"),
        bias=_matrix([block["bias"]], "bias"),
        of=block["of"],
        activation=block["activation"],
        residual=block["residual"],
    )


def _matrix(rows: Any, name: str) -> fmpq_mat:
    array = ExactArray.of(rows, name, MAX_BITS)
    if len(array.shape) != 2 or 0 in array.shape:
        raise InputError(name, "a matrix, no size 0", f"of shape {array.shape}")
    return array.matrix()


def _mask(mask: Any) -> Mask:
    if mask is None or mask == "causal":
        return mask
    rows: list[Any] = mask if isinstance(mask, list) else [None]
    if not all(
        isinstance(row, list) and row and all(type(x) is int and x in (0, 1) for x in row)
        for row in rows
    ):
        raise InputError("mask", "null, 'causal' or rows of 0 and 1", describe(mask))
    return tuple(tuple(map(bool, row)) for row in rows)
