"""The attncert format: arrays as this toolkit exports them, and certificates.

    query, key   (H, d, d_h)    or (d, d_h): one head
    value        (H, d, d_v)    or (d, d_v)
    output       (H, d_v, m)    or (H·d_v, m)

Other names are W_Q, W_K, W_V, W_O. There are no biases and no scale. In JSON, a layer is a network
of one block, as in a certificate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attncert.constructions.data.conversion import OF_WEIGHTS
from attncert.constructions.data.exact_array import ExactArray
from attncert.constructions.errors import InputError
from attncert.constructions.layer import Head, Layer
from attncert.constructions.network.blocks import Attention
from attncert.constructions.network.network import Network
from attncert.constructions.weights.stored import StoredLayer, kinds

_NAMES = {"W_Q": "query", "W_K": "key", "W_V": "value", "W_O": "output"}
_PARTS = tuple(_NAMES.values())
NAMES = frozenset((*_NAMES, *_PARTS))
_ARRAYS = "made of query, key, value and output (or W_Q, W_K, W_V, W_O)"


def of_network(network: Network, name: str) -> StoredLayer | None:
    """The layer of a network of one such block; None for any other network."""
    if [type(block) for block in network.blocks] != [Attention]:
        return None
    (block,) = network.blocks
    assert isinstance(block, Attention)
    if (block.of, block.rule, block.mask, block.residual) != ("query", "softmax", None, False):
        return None
    layer = Layer(block.heads, block.output)
    if len({(head.width, *map(_shape, (head.query, head.value))) for head in layer.heads}) > 1:
        return None
    return StoredLayer(layer, "rational", name, unit="e" if block.unit == "1" else "ln2")


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
            raise InputError(part, "nonempty, of shape (H, d, width) or (d, width)", array.shape)
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


def _shape(matrix: Any) -> tuple[int, int]:
    return int(matrix.nrows()), int(matrix.ncols())
