"""Small data sets with one planted dependency, among the queries or between rows of a context."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.exact_array import ExactArray

Combination = Mapping[int, Fraction | int]


def scaled(data: Dataset, contexts: Fraction, queries: Fraction) -> Dataset:
    """All contexts multiplied by one number and all queries by another; the labels do not
    change."""
    tables = [[[contexts * x for x in row] for row in E] for E in data.contexts.fractions()]
    rows = [[queries * x for x in row] for row in data.queries.fractions()]
    return Dataset.of(tables, rows, data.labels)


def with_queries(queries: Sequence[Sequence[Any]]) -> Dataset:
    """These queries; the tokens of the shared context are the unit vectors, and all labels are
    0."""
    d = len(queries[0])
    eye = [[int(i == j) for j in range(d)] for i in range(d)]
    return Dataset.of(eye, queries, [0] * len(queries))


def query_lists(
    entry: st.SearchStrategy[int], most: int = 6, width: int = 4
) -> st.SearchStrategy[list[list[int]]]:
    """At most `most` queries of a common width of at most `width`."""
    return st.integers(1, width).flatmap(
        lambda d: st.lists(st.lists(entry, min_size=d, max_size=d), min_size=1, max_size=most)
    )


@dataclass(frozen=True)
class Dependent:
    """A dependency between the rows of context number `context`, or between queries if it is
    None."""

    data: Dataset
    context: int | None


def dependent_query(data: Dataset, target: int, combination: Combination) -> Dependent:
    """Query `target` replaced by Σ combination[i]·query_i: {} plants a zero query, {s: 1} a
    repeated one, {s: -2} a parallel one, and more terms a dependent group."""
    rows = _combined(data.queries.fractions(), target, combination)
    return Dependent(replace(data, queries=ExactArray.of(rows)), None)


def dependent_context(
    data: Dataset, context: int, target: int, combination: Combination
) -> Dependent:
    """Row `target` of that context replaced by Σ combination[i]·row_i: A2 is false."""
    tables = data.contexts.fractions()
    tables[context] = _combined(tables[context], target, combination)
    return Dependent(replace(data, contexts=ExactArray.of(tables)), context)


def _combined(
    rows: list[list[Fraction]], target: int, combination: Combination
) -> list[list[Fraction]]:
    columns = range(len(rows[0]))
    row = [sum((c * rows[i][j] for i, c in combination.items()), Fraction(0)) for j in columns]
    return [*rows[:target], row, *rows[target + 1 :]]
