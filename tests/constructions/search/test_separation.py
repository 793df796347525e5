"""Selectors and separators separate exactly, whatever the scale of the data."""

from __future__ import annotations

import numpy as np
import pytest
from support.shares import share

from attncert.constructions.search.separation import Pair, apart, separating_pairs, separators


def pairs_for(
    contexts: list[list[list[int]]], queries: list[list[int]], earlier: list[int], count: int = 4
) -> list[Pair]:
    wide = any(abs(x) >= 2**63 for E in contexts for row in E for x in row) or any(
        abs(x) >= 2**63 for row in queries for x in row
    )
    dtype = object if wide else np.int64
    others, rng = list(range(len(queries))), np.random.default_rng(0)
    E, e = np.array(contexts, dtype=dtype), np.array(queries, dtype=dtype)
    return separating_pairs(separators(E, earlier, rng), E, e, earlier, others, count, rng)


def assert_separates(
    pair: Pair, contexts: list[list[list[int]]], queries: list[list[int]], earlier: list[int]
) -> None:
    u, v = [int(x) for x in pair.u.tolist()], [int(x) for x in pair.v.tolist()]
    for s in earlier:
        assert sum(a * b for a, b in zip(queries[s], v, strict=True)) != 0
        context = contexts[0 if len(contexts) == 1 else s]
        values = sorted(sum(a * b for a, b in zip(row, u, strict=True)) for row in context)
        if len(values) > 1:
            assert values[0] < values[1] and values[-2] < values[-1]


@pytest.mark.parametrize("exponent", [20, 55, 70, 1100])
def test_rows_that_differ_far_behind_the_leading_bits(exponent: int) -> None:
    """(2^k, 0, 1), (2^k + 1, 0, 0), (2^k, 1, 0): in floats, all three first coordinates are
    equal."""
    big = 2**exponent
    contexts = [[[big, 0, 1], [big + 1, 0, 0], [big, 1, 0]]]
    queries = [[big, 1], [big + 1, 1]]
    for pair in pairs_for(contexts, queries, [0, 1]):
        assert_separates(pair, contexts, queries, [0, 1])


def test_exact_cancellation_of_large_numbers_is_not_mistaken_for_a_gap() -> None:
    """(2^53 + 1) + 1 = (2^53 + 2) + 0, but not in float64: u = (1, 1) is short but does not
    separate. For the queries, v = (1, -1) is just as bad: (2^54 + 3) - (2^54 + 3) is 0."""
    contexts = [[[2**53 + 1, 1], [2**53 + 2, 0]]]
    queries = [[2**54 + 3, 2**54 + 3], [1, 2]]
    for pair in pairs_for(contexts, queries, [0, 1], count=1000):
        assert_separates(pair, contexts, queries, [0, 1])


def test_an_impossible_task_is_an_error_not_a_loop() -> None:
    """A zero query has v·e = 0 for every v: the caller violated the precondition."""
    with pytest.raises(RuntimeError, match="precondition"):
        pairs_for([[[0], [1]]], [[0, 0], [1, 0]], [0, 1])


def test_repeated_rows_stay_together_and_all_others_come_apart() -> None:
    contexts = np.array([[[1, 0], [1, 0], [0, 1]], [[1, 1], [2, 0], [1, 1]], [[3, 3]] * 3])
    us = apart(contexts, np.random.default_rng(0))
    for u in us.tolist():
        for rows in contexts.tolist():
            entries = {tuple(row): row[0] * u[0] + row[1] * u[1] for row in rows}
            assert len(set(entries.values())) == len(entries)
    big = contexts.astype(object) * 10**30
    assert len(apart(big, np.random.default_rng(0))) and len(
        apart(big[2:], np.random.default_rng(0))
    )


@pytest.mark.parametrize("n", share([60, 72], 2))
def test_unit_vectors_come_apart_however_many(n: int) -> None:
    """Separating n unit vectors takes at least n - 1 distinct nonzero coefficients. For n ≥ 55 they
    exceed the range of float64, and for n ≥ 67 more terms are needed than there are boxes."""
    units = np.eye(n, dtype=np.int64)[None]
    for u in separators(units, [0], np.random.default_rng(0), [0]).tolist():
        assert len(set(u)) == n
