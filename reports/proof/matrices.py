"""The weights of a small layer, as SymPy prints exact matrices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sympy import Eq, MatrixSymbol
from sympy.printing.pretty.pretty import PrettyPrinter
from sympy.printing.pretty.pretty_symbology import pretty_use_unicode
from sympy.printing.pretty.stringpict import prettyForm, stringPict

from attncert.constructions.layer import Layer

MOST_NUMBERS = 64  # in all weights of a layer that is written out
MOST_LETTERS = 100  # in a line
_GAP = "     "


def matrices(layer: Layer | None) -> str:
    """W_K, W_Q, W_V side by side, a head below the other, and W_O; "" where they are too large.

    >>> print(matrices(Layer.of_weights([([[1], [0]], [["1/2"], [-3]])])))
    head 1
                        ⎡ log(2)  ⎤
          ⎡1⎤           ⎢ ──────  ⎥
    W_K = ⎢ ⎥     W_Q = ⎢   2     ⎥
          ⎣0⎦           ⎢         ⎥
                        ⎣-3⋅log(2)⎦
    """
    if layer is None or _numbers(layer) > MOST_NUMBERS or _bits(layer) > 4 * MOST_LETTERS:
        return ""
    weights = layer.to_sympy()
    blocks = []
    for number in range(len(layer.heads)):
        named = {name: weights[name][number] for name in list(weights)[:3] if name != "W_O"}
        blocks.append(f"head {number + 1}\n{_equations(named)}")
    if "W_O" in weights:
        blocks.append(f"all heads\n{_equations({'W_O': weights['W_O']})}")
    text = "\n\n".join(blocks)
    return text if max(map(len, text.splitlines())) <= MOST_LETTERS else ""


def _numbers(layer: Layer) -> int:
    return sum(int(m.nrows() * m.ncols()) for m in layer.matrices)


def _bits(layer: Layer) -> int:
    """Of the longest numerator or denominator."""
    numbers = [x for m in layer.matrices for x in m.entries()]
    return max((int(part).bit_length() for x in numbers for part in (x.p, x.q)), default=0)


def _equations(matrices: Mapping[str, Any]) -> str:
    """NAME = matrix, in one row."""
    before = pretty_use_unicode(True)  # else SymPy goes by what stdout was when it was imported
    try:
        row: list[Any] = []
        for name, matrix in matrices.items():
            equation = Eq(MatrixSymbol(name, *matrix.shape), matrix, evaluate=False)
            row += [_GAP, PrettyPrinter()._print(equation)]
        lines = prettyForm(*stringPict.next(*row[1:])).render(wrap_line=False).splitlines()
    finally:
        pretty_use_unicode(before)
    return "\n".join(line.rstrip() for line in lines)
