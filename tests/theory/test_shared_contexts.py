"""Tests docs/shared-contexts.md on heads evaluated to 60 digits."""

from __future__ import annotations

from math import factorial

import pytest
import shared_contexts
from shared_contexts import chance, orders, refuted_from
from support.shares import random_cases, share

CASES = {
    **{"sector": 10000, "near": 10000, "taylor": 500},
    **{"crossings": 10000, "orders": 2000, "branches": 300},
}


@pytest.mark.parametrize("most", [5, random_cases(100)])
@pytest.mark.parametrize("target", share(shared_contexts.TARGETS, 2))
def test_random_small_cases(target: str, most: int) -> None:
    """With ATTNCERT_CASES=10000, the slow test runs the number of cases that the page states."""
    tried, failures = shared_contexts.attack(target, min(most, CASES[target]))
    assert tried and not failures


def test_orders_are_all_where_vectors_are_few() -> None:
    assert [orders(T, 1) for T in (2, 3, 9)] == [2, 2, 2]
    assert [orders(T, T - 1) for T in (2, 3, 4, 5)] == [2, 6, 24, 120]
    assert orders(4, 2) == 12


def test_chances_at_N_for_two_tokens() -> None:
    """At T = N = d + 2 the bound is 1 - 2/T; for three tokens at d = 2 it is trivial."""
    assert [chance(T, T - 2, 2) for T in range(3, 8)] == pytest.approx(
        [1 - 2 / T for T in range(3, 8)]
    )
    assert all(orders(T, T - 2) == factorial(T) - 2 * factorial(T - 1) for T in range(3, 40))
    assert chance(6, 2, 3) > 1


@pytest.mark.slow
def test_growth_alone_is_bounded_at_such_sizes() -> None:
    """For H = 1, n = d, R = M = 1000 the bound falls below 3d only between d = 10^4 and 10^5."""
    assert refuted_from(10**4, 1, 10**4, 1e3, 1e3) > 3 * 10**4
    assert refuted_from(10**5, 1, 10**5, 1e3, 1e3) < 3 * 10**5
