"""The weights of a small layer, as SymPy prints exact matrices."""

from __future__ import annotations

from typing import Any

from sympy import Eq, MatrixSymbol, pretty

from attncert.constructions.layer import Layer

MOST_NUMBERS = 64  # in all weights of a layer that is written out
MOST_LETTERS = 100  # in a line


def matrices(layer: Layer | None) -> str:
    """W_K, W_Q, W_V of every head and W_O, one below the other; "" where they are too large.

    >>> print(matrices(Layer.of_weights([([[1], [0]], [["1/2"], [-3]])])))
    head 1
          ⎡1⎤
    W_K = ⎢ ⎥
          ⎣0⎦
    <BLANKLINE>
          ⎡ log(2)  ⎤
          ⎢ ──────  ⎥
    W_Q = ⎢   2     ⎥
          ⎢         ⎥
          ⎣-3⋅log(2)⎦
    """
    if layer is None or _numbers(layer) > MOST_NUMBERS:
        return ""
    weights = layer.to_sympy()
    blocks: list[str] = []
    for number in range(len(layer.heads)):
        named = [(name, weights[name][number]) for name in ("W_K", "W_Q", "W_V") if name in weights]
        blocks.append(f"head {number + 1}\n" + "\n\n".join(_equation(*pair) for pair in named))
    if "W_O" in weights:
        blocks.append("all heads\n" + _equation("W_O", weights["W_O"]))
    text = "\n\n".join(blocks)
    return text if max(map(len, text.splitlines())) <= MOST_LETTERS else ""


def _numbers(layer: Layer) -> int:
    parts = [m for head in layer.heads for m in (head.key, head.query, head.value)]
    return sum(int(m.nrows() * m.ncols()) for m in (*parts, layer.output) if m is not None)


def _equation(name: str, matrix: Any) -> str:
    equation = Eq(MatrixSymbol(name, *matrix.shape), matrix, evaluate=False)
    lines: list[str] = pretty(equation, use_unicode=True, wrap_line=False).splitlines()
    return "\n".join(line.rstrip() for line in lines)
