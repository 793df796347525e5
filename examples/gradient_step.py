"""Linear attention performs one step of gradient descent (von Oswald et al. 2023, Proposition 1).

The token for a point is (x_i, y_i). The loss of W on N points is L(W) = Σ |W x_i - y_i|² / 2N, and
W_1 = W_0 - η L'(W_0) = W_0 + η/N Σ (y_i - W_0 x_i) x_iᵀ. So a step changes the prediction at x by

    (W_1 - W_0) x = η/N Σ (y_i - W_0 x_i)(x_i·x):

the values y_i - W_0 x_i, weighted by the product of the key x_i and the query η/N x. A skip
connection adds this to the 0 in the query (x, 0), and a readout adds W_0 x.

    python examples/gradient_step.py [FOLDER]
"""

from __future__ import annotations

import json
import random
import sys
from fractions import Fraction
from pathlib import Path

from flint import fmpq, fmpq_mat

from attncert import Dataset, check
from attncert.constructions.layer import Head
from attncert.constructions.network.blocks import Attention
from attncert.constructions.network.network import Network, readout
from attncert.verify.outputs.within import certificate

D, M, N, TASKS = 3, 2, 5, 40  # widths of x and y, points per data set, number of data sets
Matrix = list[list[Fraction]]


def network(W: Matrix, rate: Fraction) -> Network:
    """W: W_0 (M×D). rate: η."""
    width, start = D + M, fmpq_mat([[fmpq(x.numerator, x.denominator) for x in row] for row in W])
    of_x = fmpq_mat(width, D, [int(i == j) for i in range(width) for j in range(D)])
    of_y = fmpq_mat(width, M, [int(i == D + j) for i in range(width) for j in range(M)])
    scale = fmpq(rate.numerator, rate.denominator * N)
    head = Head(key=of_x, query=of_x * scale, value=of_y - of_x * start.transpose())
    step = Attention((head,), of_y.transpose(), rule="linear", unit=None, residual=True)
    return Network((step, readout(of_y + of_x * start.transpose())))


def data_sets(W: Matrix, rate: Fraction, seed: int) -> Dataset:
    """Random rational data sets; the label is what W_1 predicts, by the formula for the step."""
    draw = random.Random(seed)
    contexts, queries, labels = [], [], []
    for _ in range(TASKS):
        points = [(_numbers(draw, D), _numbers(draw, M)) for _ in range(N)]
        x = _numbers(draw, D)
        contexts.append([[*a, *b] for a, b in points])
        queries.append([*x, *[0] * M])
        labels.append(_times(_after_step(W, rate, points), x))
    return Dataset.of(contexts, queries, labels, "gradient-step")


def _after_step(W: Matrix, rate: Fraction, points: list[tuple[list, list]]) -> Matrix:
    errors = [[p - q for p, q in zip(_times(W, x), y, strict=True)] for x, y in points]
    slopes = [[sum(error[k] * x[j] for error, (x, _) in zip(errors, points, strict=True)) / N
               for j in range(D)] for k in range(M)]  # fmt: skip
    return [
        [w - rate * s for w, s in zip(*rows, strict=True)] for rows in zip(W, slopes, strict=True)
    ]


def _times(W: Matrix, x: list[Fraction]) -> list[Fraction]:
    return [sum((a * b for a, b in zip(row, x, strict=True)), Fraction(0)) for row in W]


def _numbers(draw: random.Random, count: int) -> list[Fraction]:
    return [Fraction(draw.randint(-9, 9), draw.randint(1, 5)) for _ in range(count)]


def main(folder: str = ".") -> None:
    draw = random.Random(0)
    W, rate = [_numbers(draw, D) for _ in range(M)], Fraction(1, 7)
    data, by = data_sets(W, rate, 1), {"version": "1", "command": "gradient_step.py", "seed": 1}
    file = certificate(data, network(W, rate), construction="gradient-step", produced_by=by)
    path = Path(folder, "gradient-step.json")
    path.write_text(json.dumps(file))
    verdict = check(path)
    print(f"One step of gradient descent by linear attention, {TASKS} data sets: {verdict.status}.")
    print(f"{path}: {verdict.message}")


if __name__ == "__main__":
    main(*sys.argv[1:])
