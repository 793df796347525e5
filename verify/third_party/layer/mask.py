"""Which rows of its context each query sees (`attncert layer --mask`)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import BinaryIO

import numpy as np

from attncert.constructions.arrays import AnyArray, BoolArray, FloatArray
from attncert.constructions.data.archives import read_arrays
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.loading import read_source
from attncert.constructions.data.sequences import Sequences
from attncert.constructions.errors import InputError
from attncert.constructions.foreign import printable

_TRUE = {"mask": True, "attn_mask": False, "key_padding_mask": False}  # whether 1 marks a seen row
_NAMED = 6  # maximum number of arrays that an error message names


@dataclass(frozen=True)
class Recorded:
    """Outputs (T, m) recorded from the layer itself. unit: their arithmetic's unit roundoff."""

    outputs: FloatArray
    unit: float


def visible_rows(data: Dataset, mask: BoolArray) -> Dataset:
    """The data with contexts reduced to the rows that each query sees. mask: (T, n), True for the
    rows seen. Raises InputError if shapes do not agree or a query sees nothing.

    >>> data = Dataset.of([[1], [2], [3]], [[1], [1]])
    >>> [visible_rows(data, np.array([[0, 1, 1], [1, 0, 0]])).rows(t).strings() for t in (0, 1)]
    [[['2'], ['3']], [['1']]]
    """
    if mask.shape != (data.T, data.n):
        raise InputError("mask", f"of shape {(data.T, data.n)}", mask.shape)
    rows = [np.flatnonzero(row[: data.tokens(t)]).tolist() for t, row in enumerate(mask)]
    if [] in rows:
        raise InputError("mask", "one that leaves each query a row", f"none for {rows.index([])}")
    counts = tuple(map(len, rows))
    if counts == tuple(map(data.tokens, range(data.T))):
        return data
    filled = np.array([[*some, *some[:1] * (max(counts) - len(some))] for some in rows])
    contexts = data.contexts[0 if data.shared else np.arange(data.T)[:, None], filled]
    return replace(data, contexts=contexts, counts=counts if len(set(counts)) > 1 else None)


def causal_mask(data: Dataset) -> BoolArray:
    """The mask (T, n) for queries that are tokens of their contexts and see no later tokens.

    In token sequences, the query is the last token. If the tokens of a shared context are the
    queries in their order, query t is token t. Otherwise a query is the one token equal to it.
    Raises InputError if no token equals the query, or if several do.

    >>> causal_mask(Dataset.of([[1], [2], [1]], [[1], [2], [1]])).astype(int).tolist()
    [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> causal_mask(Dataset.of([[1], [2], [1]], [[1]]))
    Traceback (most recent call last):
    attncert.InputError: mask: must be used with queries that equal one token of their context, \
not causal with query 0, which equals 2 tokens: give a mask that says which
    """
    places = _places(data)
    return np.arange(data.n) <= np.array(places)[:, None]


def _places(data: Dataset) -> list[int]:
    """The index of each query in its context."""
    if isinstance(data.origin, Sequences):
        return [data.tokens(t) - 1 for t in range(data.T)]
    queries = data.queries.fractions()
    if data.shared and data.n == data.T and queries == data.rows(0).fractions():
        return list(range(data.T))
    places = list[int]()
    for t, query in enumerate(queries):
        equal = [i for i, row in enumerate(data.rows(t).fractions()) if row == query]
        if len(equal) != 1:
            count = f"{len(equal)} tokens: give a mask that says which" if equal else "none"
            must = "used with queries that equal one token of their context"
            raise InputError("mask", must, f"causal with query {t}, which equals {count}")
        places += equal
    return places


def read_mask(path: str, data: Dataset) -> tuple[BoolArray, Recorded | None]:
    """The mask in a file, of 0 and 1 or of booleans, of shape (T, n) or (n,).

    The file is an .npz with `mask`, 1 or true for the rows seen, or instead with `attn_mask` or
    `key_padding_mask` as in torch.nn.MultiheadAttention, true for hidden rows. Returns the mask,
    True for the rows seen, and the recorded outputs if `record` saved the file. Raises InputError.
    """
    arrays = read_source(path, {"json": _archive}, "an .npz file with a mask")  # with any suffix
    key = next(name for name in arrays if name in _TRUE)
    array = arrays[key]
    if array.dtype.kind not in "biu" or not np.isin(array, (0, 1)).all():
        must = "an array of 0 and 1, or of booleans"
        raise InputError("mask", must, f"{path}: {key} of {array.dtype} and other numbers")
    if array.shape == (data.n,):
        array = np.broadcast_to(array, (data.T, data.n))
    return array.astype(bool) == _TRUE[key], _recorded(arrays, data)


def _recorded(arrays: dict[str, AnyArray], data: Dataset) -> Recorded | None:
    if "outputs" not in arrays:
        return None
    outputs, unit = arrays["outputs"], arrays.get("unit", np.float64(0))
    if outputs.shape != (data.T, data.m):
        raise InputError("outputs", f"of the shape {(data.T, data.m)}", outputs.shape)
    if not np.isfinite(outputs).all():
        raise InputError("outputs", "finite numbers", "nan or infinite")
    if unit.shape != () or not 0 < unit < 1:
        must = "a number between 0 and 1, the unit roundoff of the outputs"
        raise InputError("unit", must, unit.shape or unit.item())
    return Recorded(outputs, float(unit))


def _archive(file: BinaryIO, name: str, source: str) -> dict[str, AnyArray]:
    def choose(keys: list[str]) -> list[str]:
        masks = [key for key in keys if key in _TRUE]
        if len(masks) != 1:
            names = ", ".join(printable(repr(key)) for key in keys[:_NAMED]) or "nothing"
            raise InputError("mask", f"a file with one of {', '.join(_TRUE)}", f"with {names}")
        return [*masks, *(key for key in keys if key in ("outputs", "unit"))]

    return read_arrays(file, source, choose, limit=2**26)
