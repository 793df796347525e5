"""Interpolation, A(E⁽ᵗ⁾, e⁽ᵗ⁾) = y⁽ᵗ⁾ for all T examples, confirmed by three independent routes.

| route | arithmetic | what it confirms |
| --- | --- | --- |
| `rational.rational` | exact over ℚ, FLINT | the layer's outputs equal the labels |
| `symbolic.symbolic` | exact, SymPy, log 2 and exp | the same for *all* labels, as symbols |
| `multiprecision.multiprecision` | mpmath, true exponential | agreement, to a derived tolerance |

Each route goes from the data and the weights to its verdict alone: it computes its own logits,
softmax and features, and calls neither another route nor the builders' forward pass, so that a slip
in one shows as a disagreement. What they share is on this page: the shapes they ask for and the way
numbers are abbreviated.
"""

from __future__ import annotations

from flint import fmpq_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.layer import Layer


def require_heads(data: Dataset, layer: Layer) -> None:
    """Raise InputError unless there are keys and queries, all d×d_h."""
    if not layer.heads:
        raise InputError("layer", "of one head or more", "without heads")
    for h, head in enumerate(layer.heads):
        require_shape(f"layer.heads[{h}].key", head.key, data.d, layer.head_width)
        require_shape(f"layer.heads[{h}].query", head.query, data.d, layer.head_width)


def require_readout(data: Dataset, layer: Layer) -> tuple[list[fmpq_mat], fmpq_mat]:
    """The H values (d×d_v) and the output (H·d_v)×m.

    Raises InputError where something is missing or a shape does not fit the data.
    """
    require_heads(data, layer)
    values = [head.value for head in layer.heads if head.value is not None]
    if len(values) < len(layer.heads) or layer.output is None:
        raise InputError("layer", "complete: heads with values, and an output", "without them")
    width = int(values[0].ncols())
    for h, value in enumerate(values):
        require_shape(f"layer.heads[{h}].value", value, data.d, width)
    require_shape("layer.output", layer.output, len(values) * width, data.m)
    return values, layer.output


def require_shape(argument: str, matrix: fmpq_mat, rows: int, columns: int) -> None:
    """Raise InputError unless the matrix is rows×columns."""
    if (matrix.nrows(), matrix.ncols()) != (rows, columns):
        raise InputError(argument, f"{rows}×{columns}", f"{matrix.nrows()}×{matrix.ncols()}")
