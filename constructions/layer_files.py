"""Third-party attention weights from files: .npz, .safetensors or JSON, taken exactly.

Arrays, in the convention of `constructions/layer.py` (tokens are rows: logits are E K Qᵀ e):

    query, key   (H, d, d_h)    or (d, d_h): one head
    value        (H, d, d_v)    or (d, d_v)
    output       (H, d_v, m)    or (H·d_v, m), head by head

under these names or W_Q, W_K, W_V, W_O, as `Layer.to_numpy` exports them. JSON holds the same as
nested lists (numbers as in data sets: integers, floats, "p/q"), or one object per head in "heads"
with its own query, key, value and output (or all outputs in "output", as certificates have it). A
certificate counts as its own layer. `groups`, where a file has it, says which examples each head is
for: in JSON a list of examples for each head, else an integer array (T,), the head (from 0) of each
example. A float is the dyadic rational that it stores: nothing is
rounded. Libraries often store weights transposed, (width out, width in): turn them first.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

import numpy as np
from flint import fmpq, fmpz

from attncert.constructions.arrays import AnyArray
from attncert.constructions.brief import in_brief
from attncert.constructions.data import loading
from attncert.constructions.data.archives import read_arrays
from attncert.constructions.data.conversion import MAX_AXES, MAX_DIGITS, NUMBER, describe
from attncert.constructions.data.exact_array import ExactArray
from attncert.constructions.errors import InputError
from attncert.constructions.foreign import safe_name
from attncert.constructions.layer import Head, Layer

MAX_BYTES = 2**26  # of a file of weights, and of its arrays
MAX_BITS = 2**21  # of the denominators in common: the checker reads 500,000 digits

_NAMES = {"W_Q": "query", "W_K": "key", "W_V": "value", "W_O": "output"}
_PARTS = tuple(_NAMES.values())
_FILE = "an .npz, .safetensors or JSON file of weights"
_ARRAYS = "made of query, key, value and output (or W_Q, W_K, W_V, W_O)"


@dataclass(frozen=True)
class StoredLayer:
    """layer: exact. dtype: how its numbers were stored, e.g. "float16". name: of the file,
    made safe by `foreign.safe_name`.
    unit, groups: as the file says: of the logits ("e", or "ln2" in our own JSON), and which
    examples each head is for (None: it does not say)."""

    layer: Layer
    dtype: str
    name: str = "layer"
    unit: str = "e"
    groups: tuple[tuple[int, ...], ...] | None = None

    def __repr__(self) -> str:
        return in_brief(self, self.name, layer=self.layer, dtype=self.dtype, unit=self.unit)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", safe_name(self.name, "layer"))


def load_layer(source: str | os.PathLike[str]) -> StoredLayer:
    """The layer in a file, or on standard input ("-"). Raises InputError, and nothing else, for
    any other file."""
    readers: loading.Readers[StoredLayer] = {
        "npz": _from_npz,
        "safetensors": _from_safetensors,
        "json": _from_json,
    }
    return loading.read_source(source, readers, _FILE)


def _content(file: BinaryIO, shown: str) -> bytes:
    content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise InputError(shown, f"of at most {MAX_BYTES} bytes", "larger")
    return content


def _from_json(file: BinaryIO, name: str, shown: str) -> StoredLayer:
    value = loading.json_value(_content(file, shown), shown)
    stored = stored_layer(_json(value, shown), name, shown)
    return replace(stored, unit=_unit(value), groups=_groups(value))


def _from_npz(file: BinaryIO, name: str, shown: str) -> StoredLayer:
    arrays = read_arrays(file, shown, lambda keys: keys, limit=MAX_BYTES)
    return _of_arrays(arrays, name, shown)


def _of_arrays(arrays: dict[str, AnyArray], name: str, shown: str) -> StoredLayer:
    numbered = arrays.pop("groups", None)
    stored = stored_layer(arrays, name, shown)
    return replace(stored, groups=_by_head(numbered, len(stored.layer.heads)))


def stored_layer(
    arrays: Mapping[str, Any], name: str = "layer", source: str = "layer"
) -> StoredLayer:
    """The layer of these arrays, named and shaped as above. Raises InputError.

    >>> one = np.ones((3, 2), dtype=np.float16)
    >>> stored = stored_layer({"query": one, "key": one, "value": one, "output": one[:2]})
    >>> stored.dtype, stored.layer.head_width, stored.layer.value_width
    ('float16', 2, 2)
    """
    named = {_NAMES.get(key, key): value for key, value in arrays.items()}
    if sorted(named) != sorted(_PARTS) or len(named) != len(arrays):
        raise InputError(source, _ARRAYS, f"of {', '.join(map(repr, sorted(arrays))) or 'nothing'}")
    exact = {part: ExactArray.of(_long_numbers(named[part]), part, MAX_BITS) for part in _PARTS}
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
            raise InputError(part, f"of shape {shape}, as query says", exact[part].shape)
    output = exact["output"]
    if output.shape[:-1] not in ((H, values), (H * values,)) or 0 in output.shape:
        must = f"of shape ({H}, {values}, m) or ({H * values}, m)"
        raise InputError("output", must, output.shape)
    kinds = sorted({_kind(named[part]) for part in _PARTS})
    layer = Layer(
        tuple(
            Head(*(exact[part][h].matrix() for part in ("key", "query", "value"))) for h in range(H)
        ),
        output.reshape((H * values, output.shape[-1])).matrix(),
    )
    return StoredLayer(layer, ", ".join(kinds), name)


def _long_numbers(value: Any, depth: int = 0) -> Any:
    """Texts of more digits than data sets may have as rationals: a readout is often so long, and a
    certificate is its own layer."""
    if isinstance(value, (list, tuple)) and depth < MAX_AXES:
        return [_long_numbers(x, depth + 1) for x in value]
    if isinstance(value, str) and len(value) > MAX_DIGITS and NUMBER.fullmatch(value):
        top, _, bottom = value.partition("/")
        return fmpq(fmpz(top), fmpz(bottom or "1"))
    return value


def _kind(array: Any) -> str:
    return str(array.dtype) if isinstance(array, np.ndarray) else "rational"


def _from_safetensors(file: BinaryIO, name: str, shown: str) -> StoredLayer:
    try:
        from safetensors import SafetensorError
        from safetensors.numpy import load
    except ImportError:
        raise InputError(
            shown, "read with safetensors (pip install 'attncert[models]')", "without it"
        ) from None
    try:
        arrays = dict(load(_content(file, shown)))
    except (  # AttributeError: of a dtype that this NumPy does not have
        SafetensorError, AttributeError, KeyError, TypeError, ValueError, MemoryError
    ) as error:  # fmt: skip
        must = "a .safetensors file of float16, float32 or float64"
        raise InputError(shown, must, f"unreadable ({type(error).__name__}: {error})") from None
    return _of_arrays(arrays, name, shown)


def _json(value: Any, shown: str) -> dict[str, Any]:
    """Nested lists by name, from one of the three forms."""
    if isinstance(value, dict) and isinstance(value.get("layer"), dict):
        value = value["layer"]  # a certificate
    if not isinstance(value, dict):
        raise InputError(shown, f"an object {_ARRAYS}", describe(value))
    others = ("logit_unit", "heads", "groups")
    arrays = {key: item for key, item in value.items() if key not in others}
    heads = value.get("heads")
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


def _unit(value: dict[str, Any]) -> str:
    unit = value.get("layer", value).get("logit_unit", "e")
    if unit not in ("e", "1", "ln2", "ln 2"):
        raise InputError("logit_unit", '"e" or "ln 2"', describe(unit))
    return "e" if unit in ("e", "1") else "ln2"  # "1": in certificates of interpolation-near


def _groups(value: dict[str, Any]) -> tuple[tuple[int, ...], ...] | None:
    groups = value.get("groups")
    if groups is None:
        return None
    if not isinstance(groups, list) or not all(isinstance(group, list) for group in groups):
        raise InputError("groups", "lists of examples", describe(groups))
    members = [t for group in groups for t in group]
    if any(type(t) is not int for t in members) or sorted(members) != list(range(len(members))):
        raise InputError("groups", "lists that hold each example once", "others")
    return tuple(map(tuple, groups))


def _by_head(numbers: AnyArray | None, heads: int) -> tuple[tuple[int, ...], ...] | None:
    """The examples of each head, from the head of each example."""
    if numbers is None:
        return None
    whole = numbers.ndim == 1 and numbers.dtype.kind in "iu" and numbers.size
    if not whole or numbers.min() < 0 or numbers.max() >= heads:
        must = f"an integer array (T,), for each example its head, from 0 to {heads - 1}"
        raise InputError("groups", must, f"{numbers.dtype} of shape {numbers.shape}")
    return tuple(tuple(map(int, np.flatnonzero(numbers == h))) for h in range(heads))
