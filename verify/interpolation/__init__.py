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

from fractions import Fraction

from flint import arb, ctx, fmpq, fmpq_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.layer import Layer

EXACT_BITS = 600  # a longer number is given by its leading digits and its size


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


def short(numerator: int, denominator: int) -> str:
    """An exact rational "p/q" where that is short, else its leading digits and its bits.

    Takes any integers, FLINT's and GMP's too.

    >>> short(-2, 6)
    '-1/3'
    >>> short(1, 2**4000)
    '7.59e-1205 (exact: 4001 bits)'
    """
    number = fmpq(int(numerator), int(denominator))
    bits = max(number.p.height_bits(), number.q.height_bits())
    if bits <= EXACT_BITS:
        return str(Fraction(int(number.p), int(number.q)))
    with ctx.workprec(64):
        leading = arb(number).str(3, radius=False)
    return f"{leading} (exact: {bits} bits)"


def require_shape(argument: str, matrix: fmpq_mat, rows: int, columns: int) -> None:
    """Raise InputError unless the matrix is rows×columns."""
    if (matrix.nrows(), matrix.ncols()) != (rows, columns):
        raise InputError(argument, f"{rows}×{columns}", f"{matrix.nrows()}×{matrix.ncols()}")
