"""A layer's outputs in mpmath's interval arithmetic: a second library, independent of Arb.

Logits are exact rational multiples of ln 2; ln 2, the exponentials and everything after them are
intervals, rounded outwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

from flint import arb, arb_mat, fmpq, fmpq_mat
from mpmath.ctx_iv import MPIntervalContext

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Layer

MOST_TERMS = 20_000  # maximum number of products, T·H·n·d; they take mpmath a second or two


def affordable(data: Dataset, layer: Layer) -> bool:
    return bool(data.T * len(layer.heads) * data.n * data.d <= MOST_TERMS)


def outputs(data: Dataset, layer: Layer, bits: int) -> arb_mat:
    """T×m balls, each of which contains mpmath's interval at `bits` bits.

    >>> data = Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, 1]], [5, 7])
    >>> from attncert.constructions.layer import Head
    >>> column = fmpq_mat(2, 1, [1, 0])
    >>> layer = Layer((Head(column, column, column),), fmpq_mat(1, 1, [3]))
    >>> print(outputs(data, layer, 64).str(6, radius=False))  # 3·2/(2 + 1), 3·8/(8 + 1)
    [2.00000]
    [2.66667]
    """
    iv = MPIntervalContext()
    iv.prec = bits
    ln2, rows = iv.log(2), []
    readouts = [_intervals(iv, matrix) for matrix in _products(layer)]
    queries = data.query_matrix.tolist()
    for t in range(data.T):
        context = data.context(t)
        tokens, total = _intervals(iv, context), [iv.mpf(0)] * data.m
        query = fmpq_mat(1, data.d, queries[t]).transpose()
        for head, readout in zip(layer.heads, readouts, strict=True):
            logits = (context * head.key * (head.query.transpose() * query)).entries()
            top = max(logits)
            powers = [iv.exp(_interval(iv, x - top) * ln2) for x in logits]
            sums = [_dot(powers, column) for column in zip(*tokens, strict=True)]
            made = [_dot(sums, column) / sum(powers) for column in zip(*readout, strict=True)]
            total = [x + y for x, y in zip(total, made, strict=True)]
        rows.append([_ball(x) for x in total])
    return arb_mat(rows)


def _products(layer: Layer) -> list[fmpq_mat]:
    """For each head, its value matrix times its rows of the output matrix."""
    values, output = layer.readout
    rows, products = iter(output.tolist()), []
    for value in values:
        products.append(value * fmpq_mat(list(islice(rows, int(value.ncols())))))
    return products


def _intervals(iv: Any, matrix: fmpq_mat) -> list[list[Any]]:
    return [[_interval(iv, x) for x in row] for row in matrix.tolist()]


def _interval(iv: Any, x: fmpq) -> Any:
    return iv.mpf(int(x.p)) / int(x.q)


def _dot(x: Sequence[Any], y: Sequence[Any]) -> Any:
    return sum(a * b for a, b in zip(x, y, strict=True))


def _ball(interval: Any) -> arb:
    low, high = (
        arb((-int(mantissa) if sign else int(mantissa), int(exponent)))
        for sign, mantissa, exponent, _ in interval._mpi_
    )
    return low.union(high)
