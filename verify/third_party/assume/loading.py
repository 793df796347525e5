"""The input of `attncert assume`: a file of queries and contexts."""

from __future__ import annotations

from typing import BinaryIO

import numpy as np

from attncert.constructions.arrays import AnyArray
from attncert.constructions.data.archives import read_arrays
from attncert.constructions.data.digits import digits
from attncert.constructions.data.loading import bundled, parse_json, read_source
from attncert.constructions.errors import InputError, odd_key
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.rank.residues import as_table
from attncert.verify.third_party.assume.inputs import LayerInputs

_FILE = "an .npz or JSON file of queries and contexts, or digits"
_KEYS = ("queries", "contexts", "kept")


def load_inputs(source: str) -> LayerInputs:
    """Read a file of `queries` (N, d) and `contexts` (N, n, d), or bundled data. An .npz may hold
    contexts for only some inputs, (C, n, d), and the indices of these inputs, from 0 and in
    increasing order, as `kept` (C,). Raises InputError."""
    if bundled(source):
        return LayerInputs.of(digits())
    return read_source(source, {"npz": _from_npz, "json": _from_json}, _FILE)


def _from_json(file: BinaryIO, name: str, source: str) -> LayerInputs:
    return LayerInputs.of(parse_json(file, name, source))


def _from_npz(file: BinaryIO, name: str, source: str) -> LayerInputs:
    """The inputs in an .npz. Floats keep their format, since their rounding matters."""

    def choose(keys: list[str]) -> tuple[str, ...]:
        ours = [key for key in keys if key in _KEYS]
        wanted = _KEYS if "kept" in ours else _KEYS[:2]
        if sorted(ours) != sorted(wanted):
            must = "made of queries and contexts (attncert kruskal reads vectors without contexts)"
            raise InputError(source, must, odd_key(ours, wanted))
        return wanted

    def check(shapes: list[tuple[int, ...]]) -> None:
        queries, contexts, *kept = shapes
        if len(queries) != 2 or 0 in queries:
            raise InputError("queries", "nonempty, of shape (N, d)", queries)
        count, width = queries
        if kept and (len(kept[0]) != 1 or kept[0][0] > count):
            raise InputError("kept", f"of shape (C,), with C at most {count}", kept[0])
        count = kept[0][0] if kept else count
        if len(contexts) != 3 or contexts[::2] != (count, width) or contexts[1] == 0:
            raise InputError("contexts", f"of shape ({count}, n, {width})", contexts)

    arrays = read_arrays(file, source, choose, check)
    queries, contexts = arrays["queries"], arrays["contexts"]
    numbers = _numbers(arrays["kept"], len(queries)) if "kept" in arrays else range(len(contexts))
    return LayerInputs(
        Vectors.of(queries, name),
        contexts.shape[1],
        tuple(numbers),
        lambda: ((t, as_table(x, "contexts")) for t, x in zip(numbers, contexts, strict=True)),
    )


def _numbers(kept: AnyArray, count: int) -> list[int]:
    """The numbers of the inputs whose contexts are given. Raises InputError."""
    numbers = kept.tolist()
    if kept.dtype.kind not in "iu" or (np.diff(kept.astype(object)) <= 0).any():
        raise InputError("kept", "increasing whole numbers", "others")
    if numbers and not 0 <= numbers[0] <= numbers[-1] < count:
        raise InputError("kept", f"numbers from 0 to {count - 1}", f"{numbers[0]} to {numbers[-1]}")
    return list(numbers)
