"""From the projections of a layer, as libraries store them, to exact weights head by head.

Stored: W (out, in), so that x goes to Wx + b; GPT-2's Conv1D stores the transpose. Rows of query,
key and value lie head by head, d_h for each. With G key and value heads for H query heads (grouped
queries) head h takes number ⌊hG/H⌋. A fused weight has the rows of query, then key, then value.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from flint import fmpq_mat

from attncert.constructions.arrays import AnyArray
from attncert.constructions.data.exact_array import ExactArray
from attncert.constructions.errors import InputError, require_positive
from attncert.constructions.layer import Head, Layer
from attncert.constructions.weights.naming import Place
from attncert.constructions.weights.stored import StoredLayer, kinds

_PARTS = ("query", "key", "value")


def of_projections(
    place: Place, arrays: Mapping[str, AnyArray], heads: int | None, name: str = "layer"
) -> StoredLayer:
    """arrays: those of the layer at this place, by full name. heads: H. Raises InputError."""
    if heads is None:
        raise InputError(
            "--heads", f"given for weights of the format {place.naming.format}", "left out"
        )
    require_positive(**{"--heads": heads})
    naming, at = place.naming, place.prefix
    output = _matrix(arrays[at + naming.output[0]], at + naming.output[0])
    if naming.conv and _stored_turned(arrays, place):
        arrays = {key: x.T if x.ndim == 2 else x for key, x in arrays.items()}
        output = output.T
    m, inner = output.shape
    if inner % heads:
        must = f"a divisor of {inner}, the width of all heads together"
        raise InputError("--heads", must, heads)
    width = inner // heads
    parts = _parts(arrays, place, heads, width)
    d = parts["query"][0].shape[1]
    biases = {
        part: None if bias is None else ExactArray.of(bias, part)
        for part, (_, bias) in parts.items()
    }
    offset = arrays.get(at + naming.output[1])
    if offset is not None and offset.shape != (m,):
        raise InputError(at + naming.output[1], f"of shape {(m,)}", offset.shape)
    biased = offset is not None or any(bias is not None for bias in biases.values())
    exact = {part: ExactArray.of(weight, part) for part, (weight, _) in parts.items()}
    made = []
    for h in range(heads):
        by_part = []
        for part in ("key", "query", "value"):
            own = h * (len(exact[part]) // width) // heads  # itself, or its group's
            rows = slice(own * width, (own + 1) * width)
            matrix = exact[part][rows].matrix().transpose()  # d×d_h
            if biased:
                row = None if part == "key" or biases[part] is None else biases[part]
                matrix = _above(matrix, None if row is None else row[rows], d, width)
            by_part.append(matrix)
        made.append(Head(*by_part))
    layer = Layer(tuple(made), ExactArray.of(output, "output").matrix().transpose())
    return StoredLayer(
        layer,
        kinds(arrays),
        name,
        scale="sqrt-d",
        biased=biased,
        offset=None if offset is None else ExactArray.of(offset[None], "output").matrix(),
        format=naming.format,
        prefix=place.shown,
        note=naming.note,
    )


def _stored_turned(arrays: Mapping[str, AnyArray], place: Place) -> bool:
    """Whether a fused weight is (in, 3·in) and not (3·in, in)."""
    name = place.prefix + place.naming.inputs[0][0]
    rows, columns = _matrix(arrays[name], name).shape
    return rows < columns


def _parts(
    arrays: Mapping[str, AnyArray], place: Place, heads: int, width: int
) -> dict[str, tuple[AnyArray, AnyArray | None]]:
    """Weight (rows, d) and bias (rows,) or None of query, key and value. Raises InputError."""
    names = [(place.prefix + w, place.prefix + b) for w, b in place.naming.inputs]
    weights = [_matrix(arrays[weight], weight) for weight, _ in names]
    biases = [arrays.get(bias) for _, bias in names]
    for (_, name), weight, bias in zip(names, weights, biases, strict=True):
        if bias is not None and bias.shape != weight.shape[:1]:
            raise InputError(name, f"of shape {weight.shape[:1]}", bias.shape)
    inner = heads * width
    if len(weights) == 1:
        (weight,), (bias,) = weights, biases
        others, rest = divmod(len(weight) - inner, 2)
        if others <= 0 or rest:
            must = f"of {inner} rows for the queries, and as many for keys as for values"
            raise InputError(names[0][0], must, f"{len(weight)} rows")
        cuts = [inner, inner + others]
        weights = np.split(weight, cuts)
        biases = [None] * 3 if bias is None else list(np.split(bias, cuts))
        names *= 3
    d = weights[0].shape[1]
    for (name, _), weight, part in zip(names, weights, _PARTS, strict=True):
        rows = len(weight)
        fits = rows == inner if part == "query" else rows == len(weights[1])
        groups, left = divmod(rows, width)
        if not fits or left or not groups or heads % groups or weight.shape[1] != d:
            must = f"of shape (G·{width}, {d}), with {heads} heads a multiple of G"
            if part == "query":
                must = f"of shape {(inner, d)}, for {heads} heads of width {width}"
            raise InputError(f"{name} ({part})", must, weight.shape)
    return dict(zip(_PARTS, zip(weights, biases, strict=True), strict=True))


def _matrix(array: AnyArray, name: str) -> AnyArray:
    if array.ndim != 2 or 0 in array.shape:
        raise InputError(name, "a matrix, no size 0", f"of shape {array.shape}")
    return array


def _above(matrix: fmpq_mat, row: ExactArray | None, d: int, width: int) -> fmpq_mat:
    """(d+1)×width: the bias, or 0, as a row below."""
    below = [0] * width if row is None else row.reshape((1, width)).matrix().entries()
    return fmpq_mat(d + 1, width, [*matrix.entries(), *below])
