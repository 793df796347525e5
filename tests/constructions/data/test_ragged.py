"""Contexts of different numbers of tokens: the repeated ones are the same layer, or one line."""

from __future__ import annotations

from fractions import Fraction

import pytest

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.ragged import evened
from attncert.constructions.errors import InputError

CONTEXTS = [[[1, 0], [0, 1], [2, 1]], [[3, 1]], [[0, 1], ["1/2", 2]]]
QUERIES = [[1, 2], [0, 1], [1, 1]]


def feature(rows: list[list[Fraction]], u: list[int]) -> list[Fraction]:
    """Attention with softmax in base 2 at the logits rows·u, u integral on these rows."""
    logits = [sum(2 * x * y for x, y in zip(row, u, strict=True)) for row in rows]
    powers = [Fraction(2) ** int(k) for k in logits]
    return [sum(w * row[j] for w, row in zip(powers, rows, strict=True)) / sum(powers)
            for j in range(len(u))]  # fmt: skip


def test_the_features_are_those_of_the_contexts_given() -> None:
    data = Dataset.of(CONTEXTS, QUERIES, [1, 2, 3])
    assert data.n == 6 and data.T == 3
    for given, repeated in zip(CONTEXTS, data.contexts.fractions(), strict=True):
        rows = [[Fraction(x) for x in row] for row in given]
        for u in ([0, 0], [1, -2], [3, 1]):
            assert feature(rows, u) == feature(repeated, u)


@pytest.mark.parametrize("same", [
    [[1, 0], [0, 1]], [[[1, 0]], [[0, 1]]], [[[1, 0]], []], [[1, 0], [0]], [], [1, [2]], "x",
])  # fmt: skip
def test_what_is_not_ragged_in_tokens_is_left_alone(same: object) -> None:
    assert evened(same) is same


def test_too_many_tokens_are_refused_in_one_line() -> None:
    with pytest.raises(InputError, match=r"^contexts: must be of token counts .* not of 64, 81 t"):
        Dataset.of([[[1, 0]] * 64, [[0, 1]] * 81], QUERIES[:2], [1, 2])
    many = [[[0] * 9]] * 999 + [[[0] * 9] * 4093]
    with pytest.raises(InputError, match=r"33,554,432 numbers"):
        evened(many)


def test_rows_of_different_widths_are_still_located() -> None:
    with pytest.raises(InputError, match=r"^contexts\[1\]\[0\]: must be a list of 2"):
        Dataset.of([[[1, 0], [0, 1]], [[1], [2]], [[1, 2]]], QUERIES, [1, 2, 3])
