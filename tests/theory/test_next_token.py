"""Tests docs/next-token.md on layers whose contexts are written out."""

from __future__ import annotations

import random
from collections.abc import Iterator

import next_token
import pytest
from next_token import examples_of, forest_rank, skew
from support.given_oracle import (
    PRIME,
    columns,
    draw_matrix,
    generic_rank,
    product,
    rank_mod,
)
from support.shares import random_cases

CASES = {
    **{"lemma": 8000, "forests": 4000, "leaves": 4000, "positions": 2000, "labels": 2000},
    **{"groups": 2000, "classes": 8000, "forms": 6000, "first-symbol": 8000, "flats": 1000},
}


@pytest.mark.parametrize("most", [5, random_cases(100)])
@pytest.mark.parametrize("target", next_token.TARGETS)
def test_random_small_cases(target: str, most: int) -> None:
    """With ATTNCERT_CASES=10000, the slow test runs the number of cases that the page states."""
    tried, failures = next_token.attack(target, min(most, CASES[target]))
    assert tried and not failures


@pytest.mark.parametrize("d", range(1, 6))
def test_the_skew_directions_are_counted(d: int) -> None:
    """Linear algebra modulo a prime counts the skew {K'Qᵀ + KQ'ᵀ} that are 0 on L vectors."""
    rng = random.Random(d)
    for w in range(1, d + 2):
        K, Q = draw_matrix(rng, d, w), draw_matrix(rng, d, w)
        basis = [product(x, columns(Q)) for x in units(d, w)]
        basis += [product(K, columns(x)) for x in units(d, w)]
        tangents = rank_mod([flat(x) for x in basis])
        for L in range(d + 2):
            prefix = draw_matrix(rng, L, d)
            conditions = [
                [*flat([[x[i][j] + x[j][i] for j in range(d)] for i in range(d)]),
                 *(flat(product(x, columns(prefix))) if L else [])]
                for x in basis
            ]  # fmt: skip
            assert tangents - rank_mod(conditions) == skew(d, w, L)


def units(rows: int, cols: int) -> Iterator[list[list[int]]]:
    for k in range(rows * cols):
        yield [[int(i * cols + j == k) for j in range(cols)] for i in range(rows)]


def flat(table: list[list[int]]) -> list[int]:
    return [x % PRIME for row in table for x in row]


@pytest.mark.parametrize(
    ("forest", "rank"),
    [
        ([-1], 1),  # one token: its own label, whatever the weights
        ([-1] * 5, 3),  # single tokens: a linear map of them
        ([-1, 0], 2),
        ([-1, *[0] * 20], 11),  # leaves on one root miss the one skew matrix that is 0 on it
        (list(range(-1, 20)), 12),
    ],
)
def test_the_smallest_forests(forest: list[int], rank: int) -> None:
    """For d = w = 3 and H = 1, N is 12."""
    rng = random.Random(2)
    examples = examples_of(forest, draw_matrix(rng, len(forest), 3))
    assert forest_rank(forest, 3, 1, 3) == rank
    assert generic_rank(rng, examples, 1, 3, 1, 1) == rank
