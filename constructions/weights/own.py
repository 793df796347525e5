"""The attncert format: arrays as this toolkit exports them, and certificates.

    query, key   (H, d, d_h)    or (d, d_h): one head
    value        (H, d, d_v)    or (d, d_v)
    output       (H, d_v, m)    or (H·d_v, m)

Other names are W_Q, W_K, W_V, W_O. JSON holds nested lists, or one object for each head in "heads"
(perhaps with all outputs in "output"). A certificate is read as the layer in it. There are no
biases and no scale."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from attncert.constructions.data.conversion import OF_WEIGHTS, describe
from attncert.constructions.data.exact_array import ExactArray
from attncert.constructions.errors import InputError
from attncert.constructions.layer import LAYER_BLOCK, Head, Layer
from attncert.constructions.weights.stored import StoredLayer, kinds

_NAMES = {"W_Q": "query", "W_K": "key", "W_V": "value", "W_O": "output"}
_PARTS = tuple(_NAMES.values())
NAMES = frozenset((*_NAMES, *_PARTS))
_ARRAYS = "made of query, key, value and output (or W_Q, W_K, W_V, W_O)"


def of_json(document: Any, name: str, source: str) -> StoredLayer:
    """The layer in a JSON value, such as a certificate. Raises InputError."""
    weights = of_arrays(_json(document, source), name, source)
    return replace(weights, unit=_unit(document))


def of_arrays(arrays: Mapping[str, Any], name: str = "layer", source: str = "layer") -> StoredLayer:
    """The layer of these arrays, named and shaped as above. Raises InputError.

    >>> import numpy as np
    >>> one = np.ones((3, 2), dtype=np.float16)
    >>> weights = of_arrays({"query": one, "key": one, "value": one, "output": one[:2]})
    >>> weights.dtype, weights.layer.head_width, weights.layer.value_width
    ('float16', 2, 2)
    """
    named = {_NAMES.get(key, key): array for key, array in arrays.items()}
    if sorted(named) != sorted(_PARTS) or len(named) != len(arrays):
        raise InputError(source, _ARRAYS, f"of {', '.join(map(repr, sorted(arrays))) or 'nothing'}")
    exact = {part: ExactArray.of(named[part], part, OF_WEIGHTS) for part in _PARTS}
    heads = []
    for part in ("query", "key", "value"):
        array = exact[part]
        if len(array.shape) not in (2, 3) or 0 in array.shape:
            raise InputError(part, "of shape (H, d, width) or (d, width), no size 0", array.shape)
        exact[part] = array.reshape(array.shape if len(array.shape) == 3 else (1, *array.shape))
        heads.append(exact[part].shape[0])
    H, d, width = exact["query"].shape
    values = exact["value"].shape[2]
    for part, shape in (("key", (H, d, width)), ("value", (H, d, values))):
        if exact[part].shape != shape:
            raise InputError(part, f"of shape {shape}, to fit query", exact[part].shape)
    output = exact["output"]
    if output.shape[:-1] not in ((H, values), (H * values,)) or 0 in output.shape:
        must = f"of shape ({H}, {values}, m) or ({H * values}, m)"
        raise InputError("output", must, output.shape)
    layer = Layer(
        tuple(
            Head(*(exact[part][h].matrix() for part in ("key", "query", "value"))) for h in range(H)
        ),
        output.reshape((H * values, output.shape[-1])).matrix(),
    )
    return StoredLayer(layer, kinds(named), name)


def _json(document: Any, source: str) -> dict[str, Any]:
    """Nested lists by name, from one of the three forms."""
    if isinstance(document, dict) and _of_certificate(document):
        document = _of_certificate(document)
    if not isinstance(document, dict):
        raise InputError(source, f"an object {_ARRAYS}", describe(document))
    others = ("logit_unit", "heads")
    arrays = {key: entry for key, entry in document.items() if key not in others}
    heads = document.get("heads")
    if heads is None:
        return arrays
    if not isinstance(heads, list) or not all(isinstance(head, dict) for head in heads):
        raise InputError("heads", "a list of objects", describe(heads))
    for head in heads:
        if sorted(head) != sorted(heads[0]):
            raise InputError("heads", "objects with the same keys", json.dumps(sorted(head)))
    for key in heads[0] if heads else ():
        arrays[key] = [head[key] for head in heads]
    return arrays


def _of_certificate(document: dict[str, Any]) -> dict[str, Any] | None:
    """The layer of a certificate: the one block of its network."""
    network = document.get("network")
    if isinstance(network, list) and len(network) == 1 and isinstance(network[0], dict):
        block = dict(network[0])
        if {key: block.pop(key, "") for key in LAYER_BLOCK} == LAYER_BLOCK:
            return block
    return None


def is_network(document: Any) -> bool:
    """Whether this is a network.json, or a certificate of a network, that is not one layer."""
    blocks = isinstance(document, dict) and document.get("network")
    return isinstance(blocks, list) and _of_certificate(document) is None


def _unit(document: dict[str, Any]) -> str:
    unit = (_of_certificate(document) or document).get("logit_unit", "e")
    if unit not in ("e", "1", "ln2", "ln 2"):
        raise InputError("logit_unit", '"e" or "ln 2"', describe(unit))
    return "e" if unit in ("e", "1") else "ln2"  # "1" in certificates of interpolation-near
