"""Conversion of the checker's tables to a data set of NumPy arrays."""

from __future__ import annotations

from typing import Any

from attncert.constructions.data.conversion import narrow
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.exact_array import ExactArray
from attncert.constructions.data.order import Order
from attncert.verify.checker import Limits
from attncert.verify.checker.reading import Table, dims


def dataset(
    cert: dict[str, Any], limits: Limits, contexts: Table, queries: Table, labels: Table
) -> Dataset:
    """The data set. Contexts of different lengths are padded. Tokens that are the same object
    become one row, and their order is kept."""
    T, d, m = dims(cert, "examples width labels")
    shared = len(contexts.rows) < T
    pairs = [(E, range(len(E))) if shared else in_order(E) for E in contexts.rows]
    tables, order = zip(*pairs, strict=True)
    lengths = tuple(map(len, tables))
    count, n = len(tables), max(lengths)
    limits.hold(40.0 * count * n * d + 8.0 * sum(map(len, order)))
    full = contexts._replace(rows=[E + E[:1] * (n - len(E)) for E in tables])
    parts = exact(full, count, n, d), exact(queries, T, d), exact(labels, T, m)
    return Dataset(
        *parts,
        counts=lengths if len(set(lengths)) > 1 else None,
        order=Order.of(order) if lengths != tuple(map(len, order)) else None,
    )


def in_order(context: list[Any]) -> tuple[list[Any], list[int]]:
    """The distinct tokens (as objects) in order of first occurrence, and each token's index."""
    once = {id(token): token for token in context}
    number = {key: row for row, key in enumerate(once)}
    return [*once.values()], [number[id(token)] for token in context]


def exact(table: Table, *shape: int) -> ExactArray:
    nested = table.rows
    for _ in shape[1:]:
        nested = [x for row in nested for x in row]
    return ExactArray(narrow(nested, shape), table.unit)
