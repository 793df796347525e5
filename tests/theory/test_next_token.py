"""docs/next-token.md against layers whose contexts are written out; planted false statements."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import next_token
import pytest
from next_token import Class, examples_of, forest_rank, skew
from support.given_oracle import (
    PRIME,
    columns,
    draw_matrix,
    generic_rank,
    product,
    rank_mod,
)

CASES = {
    **{"lemma": 8000, "forests": 4000, "leaves": 4000, "positions": 2000, "labels": 2000},
    **{"groups": 2000, "classes": 8000, "forms": 6000, "first-symbol": 8000, "flats": 1000},
}


@pytest.mark.parametrize("most", [5, pytest.param(10**4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("target", next_token.TARGETS)
def test_random_small_cases(target: str, most: int) -> None:
    """The slow ones: as many as the page says."""
    tried, failures = next_token.attack(target, min(most, CASES[target]))
    assert tried and not failures


@pytest.mark.parametrize("d", range(1, 6))
def test_the_skew_directions_are_counted(d: int) -> None:
    """Skew elements of {K'Qᵀ + KQ'ᵀ} that are 0 on L vectors, by linear algebra modulo a prime."""
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
    """d = w = 3 and H = 1: N = 12."""
    rng = random.Random(2)
    examples = examples_of(forest, draw_matrix(rng, len(forest), 3))
    assert forest_rank(forest, 3, 1, 3) == rank
    assert generic_rank(rng, examples, 1, 3, 1, 1) == rank


# False statements that the random cases must notice.


def no_skew(*_: int) -> int:
    """Lemma A and Theorem C as if the last token saw every direction."""
    return 0


def any_skew(right: Callable[..., int]) -> Callable[..., int]:
    """Lemma A without Δx_i = 0."""
    return lambda d, w, L: right(d, w, 0)


def without_roots(forest: list[int], d: int, H: int, w: int) -> int:
    """Theorem C without the bound by roots."""
    return min(len(forest), H * (next_token.tangents(d, w) + d))


def one_more(right: Callable[..., int]) -> Callable[..., int]:
    return lambda *x: right(*x) + 1


def spanning(H: int) -> int:
    """Theorem F for counts that span, in the place of degree 2H."""
    return 1


def unreduced(*counts: int) -> int:
    """Proportional counts told apart."""
    return 1


def first_anywhere(rng: random.Random, V: int, length: int) -> list[list[int]]:
    """Theorem V with no symbol of its own at the start."""
    return [rng.choices(range(V), k=length) for _ in range(3)]


def thin_flats(rng: random.Random, classes: list[Class], many: int) -> Iterator[Class]:
    """The bound by flats with a line for each last symbol."""
    yield from {last: (counts, last) for counts, last in classes}.values()


MISTAKES: list[tuple[str, int, str, Any]] = [
    ("lemma", 30, "skew", no_skew),
    ("lemma", 30, "skew", any_skew(skew)),
    ("leaves", 10, "skew", no_skew),
    ("forests", 40, "forest_rank", without_roots),
    ("forests", 30, "feature_law", one_more(next_token.feature_law)),
    ("positions", 30, "tangents", one_more(next_token.tangents)),
    ("labels", 10, "tangents", one_more(next_token.tangents)),
    ("groups", 6, "group_count", one_more(next_token.group_count)),
    ("classes", 20, "gcd", unreduced),
    ("forms", 40, "degree_needed", spanning),
    ("forms", 10, "vocabulary_law", lambda *x: 0),
    ("first-symbol", 40, "most_of_one_symbol", lambda H: H + 1),
    ("first-symbol", 20, "texts_with_first", first_anywhere),
    ("flats", 12, "in_flats", thin_flats),
]


@pytest.mark.parametrize(("target", "cases", "name", "mistake"), MISTAKES)
def test_a_false_statement_is_noticed(
    target: str, cases: int, name: str, mistake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(next_token, name, mistake)
    assert next_token.attack(target, cases)[1]
