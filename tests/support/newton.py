"""An oracle: Newton's method from the weights of a certificate to 200 digits, by mpmath.

No code is shared with the makers or checkers of certificates: outputs come straight from the
definition of attention, with the true exponential, and derivatives from differences.
"""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import mpmath

from attncert.constructions.data.dataset import Dataset

Certificate = dict[str, Any]
DIGITS = 200


def data_set(T: int, n: int, d: int, m: int = 1, *, shared: bool = False, seed: int = 0) -> Dataset:
    """Data of small fractions; tokens, queries and labels are independent."""
    draw = random.Random(seed)

    def table(*sizes: int) -> Any:
        if not sizes:
            return Fraction(draw.randint(-9, 9), draw.choice((2, 3, 4)))
        return [table(*sizes[1:]) for _ in range(sizes[0])]

    return Dataset.of(table(*(() if shared else (T,)), n, d), table(T, d), table(T, m))


def distance(certificate: Certificate) -> tuple[mpmath.mpf, mpmath.mpf]:
    """How far Newton's method moves the unknowns until the outputs are the labels to 200 digits
    (maximum norm), and the largest error after that."""
    with mpmath.workdps(DIGITS + 60):
        start = [number(x) for x in flat_weights(certificate)]
        unknowns = certificate["near"]["unknowns"]
        labels = [number(y) for row in certificate["data"]["labels"] for y in row]
        weights, step = list(start), mpmath.mpf(10) ** -(DIGITS // 2 + 30)
        for _ in range(12):
            errors = difference(outputs(certificate, weights), labels)
            if max(map(abs, errors)) < mpmath.mpf(10) ** -DIGITS:
                break
            columns = []
            for k in unknowns:
                moved = list(weights)
                moved[k] += step
                column = difference(outputs(certificate, moved), outputs(certificate, weights))
                columns.append([x / step for x in column])
            jacobian = mpmath.matrix(columns).T
            change = mpmath.lu_solve(jacobian, mpmath.matrix(errors))
            for k, x in zip(unknowns, change, strict=True):
                weights[k] -= x
        return max(map(abs, difference(weights, start))), max(map(abs, errors))


def number(text: str) -> mpmath.mpf:
    x = Fraction(text)
    return mpmath.mpf(x.numerator) / x.denominator


def difference(x: list[Any], y: list[Any]) -> list[Any]:
    return [a - b for a, b in zip(x, y, strict=True)]


def flat_weights(certificate: Certificate) -> list[str]:
    """The weights in order: key, query, value row by row and head by head, then output."""
    [layer] = certificate["network"]
    parts = [head[name] for head in layer["heads"] for name in PARTS]
    return [x for matrix in [*parts, layer["output"]] for row in matrix for x in row]


PARTS = ("key", "query", "value")


def outputs(certificate: Certificate, weights: list[Any]) -> list[Any]:
    """The outputs by example and label, straight from the definition of attention."""
    dims, data, rest = certificate["dims"], certificate["data"], list(weights)
    d, widths = dims["width"], (dims["head_width"], dims["head_width"], dims["value_width"])
    heads = [[_take(rest, d, width) for width in widths] for _ in range(dims["heads"])]
    output = _take(rest, dims["heads"] * dims["value_width"], dims["labels"])
    found = []
    for t, e_text in enumerate(data["queries"]):
        e = [number(x) for x in e_text]
        contexts = data["contexts"]
        E = [[number(x) for x in row] for row in contexts[t if len(contexts) > 1 else 0]]
        concat = []
        for key, query, value in heads:
            asked = [sum(e[i] * query[i][b] for i in range(d)) for b in range(widths[0])]
            towards = [sum(key[i][b] * asked[b] for b in range(widths[0])) for i in range(d)]
            powers = [
                mpmath.exp(sum(x * w for x, w in zip(row, towards, strict=True))) for row in E
            ]
            mixed = [
                sum(p * row[i] for p, row in zip(powers, E, strict=True)) / sum(powers)
                for i in range(d)
            ]
            concat += [sum(mixed[i] * value[i][b] for i in range(d)) for b in range(widths[2])]
        for j in range(dims["labels"]):
            found.append(sum(x * output[i][j] for i, x in enumerate(concat)))
    return found


def _take(rest: list[Any], rows: int, columns: int) -> list[list[Any]]:
    taken = [[rest.pop(0) for _ in range(columns)] for _ in range(rows)]
    return taken
