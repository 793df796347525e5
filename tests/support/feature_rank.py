"""Rank of Z from the weights of a layer and the data alone, in pure Python: an oracle."""

from __future__ import annotations

from typing import Any

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Layer

# Safe: (P - 1)/2 is prime too, and P ≡ 3 (mod 8), so 2 has order P - 1: exponents do not collide.
PRIME = 4611686018427377339


def feature_rank(layer: Layer, data: Dataset, prime: int = PRIME) -> int:
    """Rank of Z mod `prime`, from the weights of the layer and the data alone. Pure Python.

    Raises ValueError where a logit is not an integer, ZeroDivisionError where a softmax sum is 0.
    """
    contexts = data.contexts.stored.tolist()
    queries = data.queries.stored.tolist()
    scale = data.contexts.denominator * data.queries.denominator
    rows: list[list[int]] = [[] for _ in queries]
    for head in layer.heads:
        keys, key_scale = _columns(head.key)
        asks, ask_scale = _columns(head.query)
        bottom = scale * key_scale * ask_scale
        for t, query in enumerate(queries):
            context = contexts[0 if data.shared else t]
            asked = [_dot(ask, query) for ask in asks]
            direction = [_dot(asked, row) for row in zip(*keys, strict=True)]
            logits = []
            for token in context:
                whole, rest = divmod(_dot(direction, token), bottom)
                if rest:
                    raise ValueError("a logit is not an integer")
                logits.append(whole)
            powers = [pow(2, k % (prime - 1), prime) for k in logits]
            inverse = pow(sum(powers), -1, prime)
            rows[t] += [
                _dot(powers, column) * inverse % prime for column in zip(*context, strict=True)
            ]
    return _rank(rows, prime)


def _columns(matrix: Any) -> tuple[list[list[int]], int]:
    """Integer columns over one denominator."""
    whole, denominator = matrix.transpose().numer_denom()
    return [[int(x) for x in row] for row in whole.tolist()], int(denominator)


def _dot(a: Any, b: Any) -> int:
    return sum(x * y for x, y in zip(a, b, strict=True))


def _rank(rows: list[list[int]], prime: int) -> int:
    """Rank mod prime, by elimination."""
    rows = [row[:] for row in rows]
    rank = 0
    for column in range(len(rows[0])):
        pivot = next((i for i in range(rank, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        top = rows[rank]
        inverse = pow(top[column], -1, prime)
        for i in range(rank + 1, len(rows)):
            factor = rows[i][column] * inverse % prime
            if factor:
                rows[i] = [(x - factor * y) % prime for x, y in zip(rows[i], top, strict=True)]
        rank += 1
        if rank == len(rows):
            break
    return rank
