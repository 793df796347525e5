"""The weights of a small layer, as SymPy prints exact matrices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flint import fmpq_mat

from attncert.constructions.layer import Layer

MOST_NUMBERS = 64  # in all weights of a layer that is written out
MOST_LETTERS = 100  # in a line
_GAP = "     "


def matrices(layer: Layer | None) -> str:
    """W_K, W_Q / ln 2, W_V side by side, a head below the other, and W_O; "" where they are too
    large.

    >>> print(matrices(Layer.of_weights([([[1], [0]], [["1/2"], [-3]])])))
    head 1
          ⎡1⎤                  ⎡1/2⎤
    W_K = ⎢ ⎥     W_Q / ln 2 = ⎢   ⎥
          ⎣0⎦                  ⎣-3 ⎦
    """
    if layer is None or _numbers(layer) > MOST_NUMBERS or _bits(layer) > 4 * MOST_LETTERS:
        return ""
    blocks = []
    for number, head in enumerate(layer.heads, start=1):
        named = {"W_K": head.key, "W_Q / ln 2": head.query, "W_V": head.value}
        blocks.append(f"head {number}\n{_equations(named)}")
    if layer.output is not None:
        blocks.append(f"all heads\n{_equations({'W_O': layer.output})}")
    text = "\n\n".join(blocks)
    return text if max(map(len, text.splitlines())) <= MOST_LETTERS else ""


def _numbers(layer: Layer) -> int:
    return sum(int(m.nrows() * m.ncols()) for m in layer.matrices)


def _bits(layer: Layer) -> int:
    """Of the longest numerator or denominator."""
    numbers = [x for m in layer.matrices for x in m.entries()]
    return max((int(part).bit_length() for x in numbers for part in (x.p, x.q)), default=0)


def _equations(matrices: Mapping[str, fmpq_mat | None]) -> str:
    """NAME = matrix, in one row. Of numbers alone: products would have SymPy load its units."""
    from sympy import Eq, Matrix, MatrixSymbol, Rational
    from sympy.printing.pretty.pretty import PrettyPrinter
    from sympy.printing.pretty.pretty_symbology import pretty_use_unicode
    from sympy.printing.pretty.stringpict import prettyForm, stringPict

    before = pretty_use_unicode(True)  # else SymPy goes by what stdout was when it was imported
    try:
        row: list[Any] = []
        for name, exact in matrices.items():
            if exact is None:
                continue
            matrix = Matrix([[Rational(int(x.p), int(x.q)) for x in row] for row in exact.tolist()])
            equation = Eq(MatrixSymbol(name, *matrix.shape), matrix, evaluate=False)
            row += [_GAP, PrettyPrinter()._print(equation)]
        lines = prettyForm(*stringPict.next(*row[1:])).render(wrap_line=False).splitlines()
    finally:
        pretty_use_unicode(before)
    return "\n".join(line.rstrip() for line in lines)
