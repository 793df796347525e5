"""Exact weights, head by head, from the projections of a layer as libraries store them.

Libraries store W (out, in), so that x goes to Wx + b; GPT-2's Conv1D stores the transpose. Rows of
query, key and value are ordered by head, d_h for each. If keys and values have fewer heads than
queries, each serves several successive query heads (Ainslie et al. 2023), and is repeated here. A
fused weight has the rows of query, then key, then value. Stacked weights, (H, d, d_h) and (H, d_v,
m), are brought to that form first.

torch.nn.MultiheadAttention takes keys and values of different widths (kdim, vdim). A token is then
a key and a value side by side: with queries (e, 0, 0) and tokens (0, k, v), the weights of each
part act on its own columns, and are 0 on the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
    place: Place,
    arrays: Mapping[str, AnyArray],
    heads: int | None,
    name: str = "layer",
    *,
    key_bias: bool = False,
) -> StoredLayer:
    """The layer at this place. key_bias: whether the row below K is b_K, as it must be if softmax
    does not cancel it: with rotation, norms or a cap. Raises InputError."""
    naming, at = place.naming, place.prefix
    exact = {key: ExactArray.of(x, key) for key, x in arrays.items()}
    if naming.stacked:
        heads = _stacked_heads(exact[at + naming.inputs[0][0]], heads, at + naming.inputs[0][0])
        exact = {key: _unstacked(x, key == at + naming.output[0]) for key, x in exact.items()}
    if heads is None:
        raise InputError("heads", f"given for weights of the format {naming.format}", "left out")
    require_positive(heads=heads)
    if naming.conv and _stored_turned(exact, place):
        exact = {key: ExactArray(x.stored.T, x.denominator) for key, x in exact.items()}
    output = _matrix(exact[at + naming.output[0]], at + naming.output[0])
    m, inner = output.shape
    if inner % heads:
        must = f"a divisor of {inner}, the width of all heads together"
        raise InputError("heads", must, heads)
    parts = _parts(exact, place, heads, inner)
    d = parts["query"][0].shape[1]
    offset = exact.get(at + naming.output[1])
    if offset is not None and offset.shape != (m,):
        raise InputError(at + naming.output[1], f"of shape {(m,)}", offset.shape)
    biased = offset is not None or any(bias is not None for _, bias in parts.values())
    layer_heads = []
    for h in range(heads):
        matrices = []
        for part in ("key", "query", "value"):
            weight, bias = parts[part]
            width = len(weight) // heads
            rows = slice(h * width, (h + 1) * width)
            matrix = weight[rows].matrix().transpose()  # d×width
            if biased:
                row = None if part == "key" and not key_bias else bias
                matrix = _above(matrix, None if row is None else row[rows], d, width)
            matrices.append(matrix)
        layer_heads.append(Head(*matrices))
    layer = Layer(tuple(layer_heads), output.matrix().transpose())
    return StoredLayer(
        layer,
        kinds(arrays),
        name,
        scale=naming.scale,
        biased=biased,
        offset=None if offset is None else offset.reshape((1, m)).matrix(),
        format=naming.format,
        prefix=place.label,
    )


def _stacked_heads(query: ExactArray, heads: int | None, name: str) -> int:
    """The number of heads H, taken from the shape of the weights. Raises InputError."""
    if len(query.shape) != 3 or 0 in query.shape:
        raise InputError(name, "nonempty, of shape (H, d, d_h)", query.shape)
    if heads not in (None, query.shape[0]):
        raise InputError("heads", f"{query.shape[0]}, as the file says", heads)
    return query.shape[0]


def _unstacked(array: ExactArray, output: bool) -> ExactArray:
    """A weight (H, d, d_h) as (H·d_h, d), the output's as (m, H·d_v), and a bias as one row."""
    x = array.stored
    if output and x.ndim in (2, 3):
        return ExactArray(x.reshape(-1, x.shape[-1]).T, array.denominator)
    if x.ndim == 3:
        x = x.transpose(0, 2, 1).reshape(-1, x.shape[1])
    return ExactArray(x.ravel() if array.stored.ndim < 3 else x, array.denominator)


def _stored_turned(arrays: Mapping[str, ExactArray], place: Place) -> bool:
    """Whether a fused weight is (in, 3·in) rather than (3·in, in)."""
    name = place.prefix + place.naming.inputs[0][0]
    rows, columns = _matrix(arrays[name], name).shape
    return rows < columns


def _parts(
    arrays: Mapping[str, ExactArray], place: Place, heads: int, inner: int
) -> dict[str, tuple[ExactArray, ExactArray | None]]:
    """The weight (rows, d) and the bias, (rows,) or None, of query, key and value. Raises
    InputError."""
    names = [(place.prefix + w, place.prefix + b) for w, b in place.naming.inputs]
    weights = [_matrix(arrays[weight], weight) for weight, _ in names]
    biases = [arrays.get(bias) for _, bias in names]
    thirds = [slice(start, start + inner) for start in (0, inner, 2 * inner)]
    if place.naming.apart:
        biases = [bias and bias[rows] for bias, rows in zip(biases, thirds, strict=True)]
    for (_, name), weight, bias in zip(names, weights, biases, strict=True):
        if bias is not None and bias.shape != weight.shape[:1]:
            raise InputError(name, f"of shape {weight.shape[:1]}", bias.shape)
    if len(weights) == 1:
        (weight,), (bias,) = weights, biases
        if len(weight) != 3 * inner:
            must = f"of {inner} rows each for queries, keys and values"
            raise InputError(names[0][0], must, f"{len(weight)} rows")
        weights = [weight[rows] for rows in thirds]
        biases = [bias and bias[rows] for rows in thirds]
        names *= 3
    queries = len(weights[0]) if place.naming.stacked else inner
    groups = len(weights[1]) * heads // queries
    if not groups or heads % groups:
        groups = heads
    rows = (queries, queries * groups // heads, inner * groups // heads)
    for (name, _), weight, part, count in zip(names, weights, _PARTS, rows, strict=True):
        shape = (count, weight.shape[1] if place.naming.apart else weights[0].shape[1])
        if weight.shape != shape:
            raise InputError(
                f"{name} ({part})", f"of shape {shape}, for {heads} heads", weight.shape
            )
    if place.naming.apart:
        weights = _side_by_side(weights)
    for i in (1, 2):
        weights[i] = _repeated(weights[i], groups, heads)
        biases[i] = bias if (bias := biases[i]) is None else _repeated(bias, groups, heads)
    return dict(zip(_PARTS, zip(weights, biases, strict=True), strict=True))


def _repeated(array: ExactArray, groups: int, heads: int) -> ExactArray:
    """The rows of each group, repeated for each head that uses them."""
    rows = np.arange(len(array)).reshape(groups, -1)
    return array[np.repeat(rows, heads // groups, axis=0).ravel()]


def _side_by_side(weights: Sequence[ExactArray]) -> list[ExactArray]:
    """Each weight with zeros in the columns of the other weights."""
    widths, wide = [x.shape[1] for x in weights], list[ExactArray]()
    for i, x in enumerate(weights):
        columns = (sum(widths[:i]), sum(widths[i + 1 :]))
        wide.append(ExactArray(np.pad(x.stored, ((0, 0), columns)), x.denominator))
    return wide


def _matrix(array: ExactArray, name: str) -> ExactArray:
    if len(array.shape) != 2 or 0 in array.shape:
        raise InputError(name, "a nonempty matrix", f"of shape {array.shape}")
    return array


def _above(matrix: fmpq_mat, row: ExactArray | None, d: int, width: int) -> fmpq_mat:
    """The matrix with the bias, or 0, as a row below: (d+1)×width."""
    below = [0] * width if row is None else row.reshape((1, width)).matrix().entries()
    return fmpq_mat(d + 1, width, [*matrix.entries(), *below])
