"""The weights of a small layer, as SymPy prints exact matrices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from flint import fmpq_mat

from attncert.constructions.layer import Layer

MOST_NUMBERS = 64  # in all weights of a layer that is written out
MOST_LETTERS = 100  # in a line


def matrices(layer: Layer | None) -> str:
    """W_K, W_Q / ln 2 and W_V of each head, and W_O; "" where they are too large.

    >>> print(matrices(Layer.of_weights([([[1], [0]], [["1/2"], [-3]])])))
    head 1
          ⎡1⎤
    W_K = ⎢ ⎥
          ⎣0⎦
                 ⎡1/2⎤
    W_Q / ln 2 = ⎢   ⎥
                 ⎣-3 ⎦
    """
    if (
        layer is None
        or _numbers(layer) > MOST_NUMBERS
        or longest(layer.matrices) > 4 * MOST_LETTERS
    ):
        return ""
    lines: list[str] = []
    for number, head in enumerate(layer.heads, start=1):
        named = {"W_K": head.key, "W_Q / ln 2": head.query, "W_V": head.value}
        lines += ["", f"head {number}", *_equations(named)]
    if layer.output is not None:
        lines += ["", "all heads", *_equations({"W_O": layer.output})]
    return "\n".join(lines[1:]) if max(map(len, lines)) <= MOST_LETTERS else ""


def _numbers(layer: Layer) -> int:
    return sum(int(m.nrows() * m.ncols()) for m in layer.matrices)


def longest(matrices: Iterable[fmpq_mat]) -> int:
    """Bits of the longest numerator or denominator; 0 where there are no matrices."""
    different = {id(m): m for m in matrices}.values()  # idle heads share theirs
    return max((int(x.height_bits()) for m in different for x in m.entries()), default=0)


def _equations(matrices: Mapping[str, fmpq_mat | None]) -> Iterator[str]:
    """The lines of NAME = matrix, one equation below the other."""
    from sympy import Eq, Matrix, MatrixSymbol, Rational, pretty

    for name, exact in matrices.items():
        if exact is not None:
            matrix = Matrix([[Rational(int(x.p), int(x.q)) for x in row] for row in exact.tolist()])
            equation = Eq(MatrixSymbol(name, *matrix.shape), matrix, evaluate=False)
            text = pretty(equation, use_unicode=True, wrap_line=False)
            yield from (line.rstrip() for line in text.splitlines())
