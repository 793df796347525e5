"""Independent answers for the tests: plain Python integers and Fractions, enumeration, no FLINT.

They are deliberately slow and obvious. Forward passes in Fractions are in small_layers; the
functions here decide whether the hypotheses hold, and whether a witness is valid.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Layer

Rows = Sequence[Sequence[Fraction | int]]

# A safe prime below 2^62 with primitive root 2; neither builders nor verify/ use it for features.
SAFE_PRIME = 4611686018427377339


def rank(rows: Rows) -> int:
    """The rank over ℚ, by Gaussian elimination in Fractions."""
    table = [[Fraction(x) for x in row] for row in rows]
    return _rank(table, lambda x: 1 / x, lambda x: x)


def rank_mod(rows: Sequence[Sequence[int]], p: int) -> int:
    """The rank over F_p, in Python integers."""
    table = [[x % p for x in row] for row in rows]
    return _rank(table, lambda x: pow(x, -1, p), lambda x: x % p)


def _rank(
    left: list[list[Any]], inverse: Callable[[Any], Any], reduced: Callable[[Any], Any]
) -> int:
    found = 0
    while left and left[0]:
        pivot = next((row for row in left if row[0]), None)
        if pivot is None:
            left = [row[1:] for row in left]
            continue
        found += 1
        left.remove(pivot)
        scale = inverse(pivot[0])
        line = [x * scale for x in pivot[1:]]
        left = [
            [reduced(x - row[0] * y) for x, y in zip(row[1:], line, strict=True)] for row in left
        ]
    return found


def kruskal_rank(rows: Rows) -> int:
    """The largest k for which every k of the rows are independent, by enumeration."""
    for k in range(1, len(rows) + 1):
        if any(rank(subset) < k for subset in itertools.combinations(rows, k)):
            return k - 1
    return len(rows)


def meets_partition_condition(queries: Rows, groups: Iterable[Sequence[int]]) -> bool:
    """Whether each group is independent and spans no query of an earlier group."""
    earlier: list[int] = []
    for group in groups:
        rows = [queries[t] for t in group]
        if rank(rows) < len(rows):
            return False
        if any(rank([*rows, queries[s]]) == len(rows) for s in earlier):
            return False
        earlier += group
    return True


def some_grouping(queries: Rows, first: int, further: int, heads: int) -> bool:
    """Whether *any* ordered partition meets the condition. It tries all, for T up to about 7.

    The first group has at most `first` examples, each later one at most `further`, and there are at
    most `heads` groups. Whether the rest can be completed depends only on which examples are
    placed, so results are cached.
    """

    @cache
    def independent(group: frozenset[int]) -> bool:
        return rank([queries[t] for t in sorted(group)]) == len(group)

    @cache
    def completes(placed: frozenset[int], left: int) -> bool:
        rest = [t for t in range(len(queries)) if t not in placed]
        if not rest:
            return True
        if left == 0:
            return False
        for size in range(1, min(further if placed else first, len(rest)) + 1):
            for group in map(frozenset, itertools.combinations(rest, size)):
                if (
                    independent(group)
                    and all(independent(group | {s}) for s in placed)
                    and completes(placed | group, left - 1)
                ):
                    return True
        return False

    return completes(frozenset(), heads)


def hypotheses_hold(data: Dataset, head_width: int, heads: int | None) -> bool:
    """Whether A2, the capacity bound and, for some grouping, the partition condition hold.

    heads: None if any number is allowed.
    """
    if data.n > data.d or any(rank(context) < data.n for context in data.contexts.fractions()):
        return False
    r = min(data.n, head_width)
    if heads is not None and heads * (r - 1) + 1 < data.T:
        return False
    return some_grouping(data.queries.fractions(), r, r - 1, data.T if heads is None else heads)


def is_relation(rows: Rows, witness: Mapping[str, Any]) -> bool:
    """Whether Σ coefficients[i] · rows[examples[i]] = 0 and no coefficient is 0."""
    examples, coefficients = witness["examples"], [Fraction(c) for c in witness["coefficients"]]
    columns = zip(*(rows[t] for t in examples), strict=True)
    return (
        len(set(examples)) == len(examples) == len(coefficients) > 0
        and all(coefficients)
        and all(sum(c * x for c, x in zip(coefficients, column, strict=True)) == 0
                for column in columns)
    )  # fmt: skip


def features(
    data: Dataset, layer: Layer, mixed: Callable[[list[int], Rows], list[Any]]
) -> list[list[Any]]:
    """Z row by row: `mixed`, applied to each head's logits, which are integers, and to the
    context."""
    contexts, rows = data.contexts.fractions(), list[list[Any]]()
    for t, query in enumerate(data.queries.fractions()):
        context = contexts[0 if len(contexts) == 1 else t]
        rows.append([])
        for head in layer.heads:
            asked = [_dot(column, query) for column in _columns(head.query)]
            keys = [[_dot(column, token) for column in _columns(head.key)] for token in context]
            logits = [_dot(key, asked) for key in keys]
            assert all(k.denominator == 1 for k in logits)
            rows[-1] += mixed([int(k) for k in logits], context)
    return rows


def features_mod(data: Dataset, layer: Layer, p: int = SAFE_PRIME) -> list[list[int]]:
    """Z mod p (T rows of H·d), in Python integers; logits are exact, in Fractions."""

    def mixed(logits: list[int], context: Rows) -> list[int]:
        powers = [pow(2, k % (p - 1), p) for k in logits]
        inverse = pow(sum(powers), -1, p)
        residues = [[x.numerator * pow(x.denominator, -1, p) for x in row] for row in context]
        columns = zip(*residues, strict=True)
        return [sum(map(operator.mul, powers, column)) * inverse % p for column in columns]

    return features(data, layer, mixed)


def _columns(matrix: Any) -> list[list[Fraction]]:
    return [
        [Fraction(int(x.p), int(x.q)) for x in column] for column in matrix.transpose().tolist()
    ]


def _dot(x: Sequence[Fraction], y: Sequence[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(x, y, strict=True)), Fraction(0))


def repeated(data: Dataset) -> Dataset:
    """Contexts of one length that are equivalent for every head: all tokens of a context are
    repeated equally often."""
    n = math.lcm(*(data.tokens(t) for t in range(data.T)))
    tables = [data.rows(t).fractions() for t in range(data.T)]
    tables = [[row for row in table for _ in range(n // len(table))] for table in tables]
    labels = data.labels.fractions() if data.labelled else None
    return Dataset.of(tables, data.queries.fractions(), labels)
