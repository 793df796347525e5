"""docs/shared-contexts.md against heads evaluated to 60 digits; planted false statements."""

from __future__ import annotations

import random
from math import factorial
from typing import Any

import pytest
import shared_contexts
from mpmath import mp, mpf
from shared_contexts import chance, orders, refuted_from

CASES = {
    **{"sector": 10000, "near": 10000, "taylor": 500},
    **{"crossings": 10000, "orders": 2000, "branches": 300},
}


@pytest.mark.parametrize("most", [5, pytest.param(10**4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("target", shared_contexts.TARGETS)
def test_random_small_cases(target: str, most: int) -> None:
    """The slow ones: as many as the page says."""
    tried, failures = shared_contexts.attack(target, min(most, CASES[target]))
    assert tried and not failures


def test_orders_are_all_where_vectors_are_few() -> None:
    assert [orders(T, 1) for T in (2, 3, 9)] == [2, 2, 2]
    assert [orders(T, T - 1) for T in (2, 3, 4, 5)] == [2, 6, 24, 120]
    assert orders(4, 2) == 12


def test_chances_at_N_for_two_tokens() -> None:
    """T = N = d + 2: 1 - 2/T, which tends to 1; with three tokens nothing at d = 2."""
    assert [chance(T, T - 2, 2) for T in range(3, 8)] == pytest.approx(
        [1 - 2 / T for T in range(3, 8)]
    )
    assert all(orders(T, T - 2) == factorial(T) - 2 * factorial(T - 1) for T in range(3, 40))
    assert chance(6, 2, 3) > 1


def test_growth_alone_is_bounded_at_such_sizes() -> None:
    """H = 1, n = d, R = M = 1000: below 3d only between d = 10^4 and 10^5."""
    assert refuted_from(10**4, 1, 10**4, 1e3, 1e3) > 3 * 10**4
    assert refuted_from(10**5, 1, 10**5, 1e3, 1e3) < 3 * 10**5


# False statements that the random cases must notice.


def wide(n: int) -> mpf:
    """An angle that holds a pole of some g."""
    return mp.acot(mp.log(n) / (2 * mp.pi))


def few_terms(R: mpf, error: mpf) -> int:
    """A quarter of the Taylor terms."""
    return max(1, int(mp.log(4 * R / error, 2)) // 4)


def far_apart(n: int) -> mpf:
    """Arguments of one interval, with a slope of R/100 in the place of 2R/θ."""
    return mpf(200)


RIGHT = shared_contexts.crossings


def one_order(T: int, d: int) -> int:
    """Orders in one dimension less."""
    return orders(T, d - 1) if d > 1 else 1


def symmetric(rng: random.Random, n: int) -> tuple[list[mpf], list[mpf]]:
    """An even g: δ and its derivatives are dependent."""
    x = mpf(rng.uniform(1, 2))
    return [mpf(-1), *[mpf(9)] * (n - 2), mpf(-1)], [x * (2 * i - n + 1) for i in range(n)]


@pytest.mark.parametrize(
    ("target", "cases", "name", "mistake"),
    [
        ("sector", 40, "sector", wide),
        ("taylor", 8, "terms", few_terms),
        ("near", 40, "sector", far_apart),
        ("crossings", 40, "crossings", lambda labels: RIGHT(labels) + 1),
        ("orders", 20, "orders", one_order),
        ("branches", 2, "two_branches", symmetric),
    ],
)
def test_a_false_statement_is_noticed(
    target: str, cases: int, name: str, mistake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_contexts, name, mistake)
    assert shared_contexts.attack(target, cases)[1]
