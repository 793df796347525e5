"""Data sets with one dependency planted: among the queries, or between the rows of one context."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.exact_array import ExactArray

Combination = Mapping[int, Fraction | int]


@dataclass(frozen=True)
class Dependent:
    """The dependency is between the rows of context number `context`, or the queries if None."""

    data: Dataset
    context: int | None


def dependent_query(data: Dataset, target: int, combination: Combination) -> Dependent:
    """Query `target` replaced by Σ combination[i]·query_i: {} plants a zero query, {s: 1} a
    repeated one, {s: -2} a parallel one, more a dependent group."""
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
