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

from flint import arb, ctx, fmpq

from constructions.dataset import Dataset
from constructions.errors import InputError
from constructions.layer import Layer

EXACT_BITS = 600  # a longer number is given by its leading digits and its size


def require_readout(data: Dataset, layer: Layer) -> None:
    """Raise InputError unless the layer has values and an output and its shapes fit the data."""
    if not layer.heads:
        raise InputError("layer", "of one head or more", "a layer without heads")
    value_width = layer.value_width
    if layer.output is None or value_width is None:
        raise InputError("layer", "complete: values and an output matrix", "a layer without them")
    width = layer.head_width
    for h, head in enumerate(layer.heads):
        for name, matrix, columns in (
            ("key", head.key, width),
            ("query", head.query, width),
            ("value", head.value, value_width),
        ):
            shape = None if matrix is None else (matrix.nrows(), matrix.ncols())
            if shape != (data.d, columns):
                raise InputError(f"layer.heads[{h}].{name}", f"{data.d}×{columns}", shape)
    shape, wanted = (layer.output.nrows(), layer.output.ncols()), len(layer.heads) * value_width
    if shape != (wanted, data.m):
        raise InputError("layer.output", f"{wanted}×{data.m}", shape)


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
