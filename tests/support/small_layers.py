"""Small layers that interpolate by construction, made in plain Fractions; and two oracles.

Independent of the builders and of the routes that are tested with them: random small heads,
Gaussian elimination on their features, and forward passes of a few lines, in Fractions and in
mpmath.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
from flint import fmpq, fmpq_mat
from support import oracles
from support.oracles import rank
from support.small_certificates import solution

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Head, Layer

Matrix = list[list[Fraction]]


@dataclass(frozen=True)
class Planted:
    """A layer with A(E, e) = y on `data`, and R with Z R = I from which its values were made."""

    data: Dataset
    layer: Layer
    right_inverse: fmpq_mat


@dataclass(frozen=True)
class Shape:
    T: int
    H: int
    n: int
    d: int
    head_width: int = 2
    m: int = 1
    padding: int = 0  # d_v - m
    shared: bool = False
    denominator: int = 1  # of contexts and queries


SHAPES = {
    "one example": Shape(1, 1, 1, 2),
    "one token": Shape(2, 2, 1, 2),
    "distinct": Shape(5, 2, 3, 4),
    "shared": Shape(5, 2, 3, 3, shared=True),
    "width one": Shape(5, 3, 2, 3, head_width=1),
    "padded, labels of 2": Shape(4, 2, 2, 3, m=2, padding=2),
    "rational": Shape(4, 2, 3, 3, denominator=6),
}


def planted(shape: Shape, seed: int = 0) -> Planted:
    """The first random draw whose features have rank T."""
    return next(p for p in draws(shape, seed) if p is not None)


def draws(shape: Shape, seed: int) -> Iterator[Planted | None]:
    """One random draw after another; None if the features have rank below T."""
    rng = random.Random(seed)
    while True:
        yield _draw(shape, rng)


def _draw(shape: Shape, rng: random.Random) -> Planted | None:
    q = shape.denominator

    def whole(rows: int, columns: int, size: int) -> list[list[int]]:
        return [[rng.randint(-size, size) for _ in range(columns)] for _ in range(rows)]

    def over_q(rows: int, columns: int, size: int) -> Matrix:
        return [[Fraction(x, q) for x in row] for row in whole(rows, columns, size)]

    contexts: Any = [over_q(shape.n, shape.d, 3) for _ in range(1 if shape.shared else shape.T)]
    labels = [[Fraction(x, 7) for x in row] for row in whole(shape.T, shape.m, 20)]
    data = Dataset.of(contexts, over_q(shape.T, shape.d, 3), labels)
    scaled = fmpq(q)  # keys and queries absorb the data's denominators, so that logits are integers
    heads = [
        Head(
            fmpq_mat(whole(shape.d, shape.head_width, 1)) * scaled,
            fmpq_mat(whole(shape.d, shape.head_width, 1)) * scaled,
        )
        for _ in range(shape.H)
    ]
    z = features(data, Layer(tuple(heads)))
    if rank(z) < shape.T:
        return None
    inverse = solution(z, [[Fraction(i == t) for i in range(shape.T)] for t in range(shape.T)])
    v = [
        [
            sum((r * y[c] for r, y in zip(row, labels, strict=True)), Fraction(0))
            for c in range(shape.m)
        ]
        for row in inverse
    ]
    d_v = shape.m + shape.padding
    output = [[Fraction(i == j) for j in range(shape.m)] for _ in heads for i in range(d_v)]
    padded = [row + [Fraction(0)] * shape.padding for row in v]
    if shape.padding:  # one more value column, added to the first label, so that padding matters
        for h in range(shape.H):
            padded[h * shape.d][shape.m] = Fraction(3)
            padded[h * shape.d][0] -= Fraction(3, 5)
            output[h * d_v + shape.m][0] = Fraction(1, 5)
    with_values = tuple(
        replace(head, value=flint(padded[h * shape.d : (h + 1) * shape.d]))
        for h, head in enumerate(heads)
    )
    return Planted(data, Layer(with_values, flint(output)), flint(inverse))


def features(data: Dataset, layer: Layer) -> Matrix:
    """Z in Fractions; logits have to be integers."""

    def mixed(logits: list[int], context: Any) -> list[Fraction]:
        powers = [Fraction(2) ** k for k in logits]
        return times([[p / sum(powers) for p in powers]], context)[0]

    return oracles.features(data, layer, mixed)


def readout(layer: Layer) -> Matrix:
    """V, (H·d)×m in Fractions."""
    output = fractions(layer.output)
    width = len(output) // len(layer.heads)
    return [
        row
        for h, head in enumerate(layer.heads)
        for row in times(fractions(head.value), output[h * width : (h + 1) * width])
    ]


def outputs(data: Dataset, layer: Layer) -> Matrix:
    """A(E, e) for all examples, T×m, in Fractions."""
    return times(features(data, layer), readout(layer))


def real_outputs(data: Dataset, weights: dict[str, np.ndarray], bits: int) -> list[list[Any]]:
    """A(E, e) with a softmax in base e, in mpmath with `bits` bits."""
    with mpmath.workprec(bits):
        real = mpmath.matrix
        outputs = []
        for t in range(data.T):
            context = real(_mp(data.contexts.fractions()[0 if data.shared else t]))
            query = real(_mp([data.queries.fractions()[t]])).T
            blocks: list[Any] = []
            for key, q, value in zip(weights["W_K"], weights["W_Q"], weights["W_V"], strict=True):
                logits = context * real(key.tolist()) * (real(q.tolist()).T * query)
                powers = [mpmath.exp(x) for x in logits]
                attended = context.T * real([p / sum(powers) for p in powers])
                blocks += list(real(value.tolist()).T * attended)
            outputs.append(list(real(weights["W_O"].tolist()).T * real(blocks)))
        return outputs


def times(a: Matrix, b: Matrix) -> Matrix:
    return [[dot(row, list(line)) for line in zip(*b, strict=True)] for row in a]


def column(vector: fmpq_mat | None) -> list[Fraction]:
    """The entries of a matrix of one column."""
    assert vector is not None and vector.ncols() == 1
    return [row[0] for row in fractions(vector)]


def dot(x: list[Fraction], y: list[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(x, y, strict=True)), Fraction(0))


def fractions(matrix: fmpq_mat | None) -> Matrix:
    assert matrix is not None
    return [[Fraction(int(x.p), int(x.q)) for x in row] for row in matrix.tolist()]


def flint(matrix: Matrix) -> fmpq_mat:
    return fmpq_mat([[fmpq(x.numerator, x.denominator) for x in row] for row in matrix])


def _mp(matrix: Matrix) -> list[list[Any]]:
    return [[mpmath.mpf(x.numerator) / x.denominator for x in row] for row in matrix]
