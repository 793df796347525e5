"""The partition condition is decided exactly: a grouping is found, or a relation refutes it."""

from __future__ import annotations

import time
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.oracles import (
    SAFE_PRIME,
    is_relation,
    meets_partition_condition,
    some_grouping,
)
from support.planted import query_lists, with_queries

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import HypothesisFails
from attncert.constructions.exact.primes import PRIMES_21
from attncert.constructions.search.grouping import excludes_every_grouping, find, violation


def plain(relation: dict[str, Any], data: Dataset) -> bool:
    return is_relation(data.queries.fractions(), relation)


ENTRIES = st.sampled_from([0, 0, 0, 1, 1, -1, 2])


def test_rational_and_huge_queries() -> None:
    """The relation has huge coefficients with a large common denominator."""
    a, b = [Fraction(10**30, 7), Fraction(1, 3)], [Fraction(1, 10**25), Fraction(5)]
    c = [3 * x - 2 * y for x, y in zip(a, b, strict=True)]
    data = with_queries([a, b, c])
    found = violation(data, [(0, 1, 2)])
    assert found is not None and plain(found, data)
    assert [int(x) for x in found["coefficients"]] in ([3, -2, -1], [-3, 2, 1])
    assert violation(data, [(0, 1), (2,)]) is None


@pytest.mark.parametrize("p", [*PRIMES_21, SAFE_PRIME, 2147483579])
def test_independent_over_the_rationals_but_not_modulo_a_prime(p: int) -> None:
    """(1, 0) and (1, p) are equal mod p; (0, 1) is their difference divided by p, and so in their
    span."""
    data = with_queries([[0, 1, 0], [1, 0, 0], [1, p, 0], [0, 0, 1]])
    assert violation(data, [(0, 1), (3,), (2,)]) is None
    found = violation(data, [(0, 3), (1, 2)])
    assert found is not None and found["kind"] == "earlier query in span" and plain(found, data)
    groups = find(data, 3, 2, 2, 0)
    assert meets_partition_condition(data.queries.fractions(), groups)


def attempt(
    data: Dataset, first: int, further: int, heads: int
) -> list[tuple[int, ...]] | HypothesisFails:
    try:
        return find(data, first, further, heads, seed=0)
    except HypothesisFails as failure:
        return failure


@settings(max_examples=200, deadline=None)
@given(query_lists(ENTRIES), st.integers(2, 4), st.integers(1, 5))
@example([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]], 3, 2)
@example([[0, 1]], 2, 1)
@example([[1, 1], [-2, -2]], 2, 2)
@example([[3], [-3]], 2, 5)
def test_a_grouping_is_found_if_there_is_one(
    queries: list[list[int]], first: int, heads: int
) -> None:
    data = with_queries(queries)
    exists = some_grouping(queries, first, first - 1, heads)
    answer = attempt(data, first, first - 1, heads)
    if isinstance(answer, HypothesisFails):
        assert not exists  # even if the search does not decide it
        assert answer.hypothesis == "some-partition"
        if not answer.witness:  # there are too many examples
            assert first + (heads - 1) * (first - 1) < data.T and answer.decided
            return
        assert plain(answer.witness, data)
        if answer.witness["kind"] == "zero query":
            assert not any(queries[answer.witness["examples"][0]])
        if answer.witness["kind"] == "parallel queries":
            assert len(answer.witness["examples"]) == 2
        return
    assert exists
    assert sorted(t for group in answer for t in group) == list(range(data.T))
    assert len(answer) <= heads and len(answer[0]) <= first
    assert all(1 <= len(group) <= first - 1 for group in answer[1:])
    assert meets_partition_condition(queries, answer)


@pytest.mark.parametrize("T", [9, 14])
def test_every_three_coplanar(T: int) -> None:
    """Any two queries (1, t, 0, 0) span the plane: later groups have one query each."""
    data = with_queries([[1, t, 0, 0] for t in range(T)])
    groups = find(data, 4, 3, T - 1, 0)
    assert [len(g) for g in groups] == [2] + [1] * (T - 2)


def test_the_search_says_when_it_gave_up() -> None:
    """Two planes of 6 queries each: later groups hold one query from each, and 4 + 2 + 2 + 2 < 12.
    The sizes alone do not exclude a grouping, since 4 + 3 + 3 + 3 > 12."""
    planes = [[1, t, 0, 0] for t in range(6)] + [[0, 0, 1, t] for t in range(6)]
    answer = attempt(with_queries(planes), 4, 3, 4)
    assert isinstance(answer, HypothesisFails)
    assert not answer.decided and "not all orders were" in answer.reason
    assert len(find(with_queries(planes), 4, 3, 5, 0)) == 5


@pytest.mark.slow
def test_many_queries_in_two_planes_take_no_time() -> None:
    planes = [[1, k, 0, 0] for k in range(400)] + [[0, 0, 1, k] for k in range(400)]
    data = Dataset.of([[1, 0, 0, 0], [0, 1, 1, 0], [0, 0, 1, 2]], planes)
    start = time.process_time()
    groups = find(data, 3, 2, 800, 0)
    assert violation(data, groups) is None and len(groups) == 400
    assert time.process_time() - start < 20  # 0.4 s on an idle core; minutes if done one at a time


def test_queries_of_one_hash_cost_no_more_than_others() -> None:
    """Python's hash of k(2^61 - 1) is 0: 20,000 plain tuples of these would take half a minute."""
    one_hash = [[1, k * (2**61 - 1)] for k in range(20_000)]
    data = Dataset.of([[1, 0], [0, 1]], one_hash, [0] * len(one_hash))
    start = time.process_time()
    assert excludes_every_grouping(data) is None
    assert time.process_time() - start < 15
