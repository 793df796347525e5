"""Data rounded to a grid, with ties to even. Short numbers keep interpolation exact."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.exact_array import ExactArray


def rounded(data: Dataset, grid: Fraction) -> tuple[Dataset, Fraction]:
    """Contexts and queries as the nearest multiples of `grid` (ties to the even multiple), and the
    largest change in any number.

    Labels are unchanged: they enter only the readout, where long numbers cost little.

    >>> data = Dataset.of([[0.3, 1], [0, -0.25]], [[0.75, 2.6]], [0.1])
    >>> short, change = rounded(data, Fraction(1, 2))
    >>> short.contexts.fractions(), short.queries.fractions(), change
    ([[[Fraction(1, 2), Fraction(1, 1)], [Fraction(0, 1), Fraction(0, 1)]]], \
[[Fraction(1, 1), Fraction(5, 2)]], Fraction(1, 4))
    """
    contexts, moved = _on_grid(data.contexts, grid)
    queries, more = _on_grid(data.queries, grid)
    return replace(data, contexts=contexts, queries=queries), max(moved, more)


def _on_grid(array: ExactArray, grid: Fraction) -> tuple[ExactArray, Fraction]:
    """The rounded array, and the largest change."""
    exact = [Fraction(int(x), array.denominator) for x in array.numerators.ravel().tolist()]
    near = [round(x / grid) * grid for x in exact]  # Python rounds a Fraction half to even
    most = max(abs(x - y) for x, y in zip(exact, near, strict=True))
    return ExactArray.of(near).reshape(array.shape), most
