"""From the projections of a layer, as libraries store them, to exact weights head by head.

Stored: W (out, in), so that x goes to Wx + b; GPT-2's Conv1D stores the transpose. Rows of query,
key and value lie head by head, d_h for each. With G key and value heads for H query heads (grouped
queries) head h takes number ⌊hG/H⌋. A fused weight has the rows of query, then key, then value.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

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
    exact = {key: ExactArray.of(x, key) for key, x in arrays.items()}
    if naming.conv and _stored_turned(exact, place):
        exact = {key: ExactArray(x.stored.T, x.denominator) for key, x in exact.items()}
    output = _matrix(exact[at + naming.output[0]], at + naming.output[0])
    m, inner = output.shape
    if inner % heads:
        must = f"a divisor of {inner}, the width of all heads together"
        raise InputError("--heads", must, heads)
    width = inner // heads
    parts = _parts(exact, place, heads, width)
    d = parts["query"][0].shape[1]
    offset = exact.get(at + naming.output[1])
    if offset is not None and offset.shape != (m,):
        raise InputError(at + naming.output[1], f"of shape {(m,)}", offset.shape)
    biased = offset is not None or any(bias is not None for _, bias in parts.values())
    made = []
    for h in range(heads):
        by_part = []
        for part in ("key", "query", "value"):
            weight, bias = parts[part]
            own = h * (len(weight) // width) // heads  # itself, or its group's
            rows = slice(own * width, (own + 1) * width)
            matrix = weight[rows].matrix().transpose()  # d×d_h
            if biased:
                row = None if part == "key" else bias
                matrix = _above(matrix, None if row is None else row[rows], d, width)
            by_part.append(matrix)
        made.append(Head(*by_part))
    layer = Layer(tuple(made), output.matrix().transpose())
    return StoredLayer(
        layer,
        kinds(arrays),
        name,
        scale="sqrt-d",
        biased=biased,
        offset=None if offset is None else offset.reshape((1, m)).matrix(),
        format=naming.format,
        prefix=place.shown,
        note=naming.note,
    )


def _stored_turned(arrays: Mapping[str, ExactArray], place: Place) -> bool:
    """Whether a fused weight is (in, 3·in) and not (3·in, in)."""
    name = place.prefix + place.naming.inputs[0][0]
    rows, columns = _matrix(arrays[name], name).shape
    return rows < columns


def _parts(
    arrays: Mapping[str, ExactArray], place: Place, heads: int, width: int
) -> dict[str, tuple[ExactArray, ExactArray | None]]:
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
        ends = (0, inner, inner + others, inner + 2 * others)
        cuts = [slice(*pair) for pair in pairwise(ends)]
        weights = [weight[cut] for cut in cuts]
        biases = [None if bias is None else bias[cut] for cut in cuts]
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


def _matrix(array: ExactArray, name: str) -> ExactArray:
    if len(array.shape) != 2 or 0 in array.shape:
        raise InputError(name, "a matrix, no size 0", f"of shape {array.shape}")
    return array


def _above(matrix: fmpq_mat, row: ExactArray | None, d: int, width: int) -> fmpq_mat:
    """(d+1)×width: the bias, or 0, as a row below."""
    below = [0] * width if row is None else row.reshape((1, width)).matrix().entries()
    return fmpq_mat(d + 1, width, [*matrix.entries(), *below])
