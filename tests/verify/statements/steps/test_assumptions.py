"""The hypotheses of Theorem 1, compared with enumeration in Fractions."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from unittest.mock import patch

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support import exact_data
from support.oracles import is_relation, kruskal_rank, meets_partition_condition, rank
from support.planted import dependent_query, query_lists, with_queries

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.exact.primes import PRIMES_31
from attncert.verify.assumptions import hypotheses
from attncert.verify.assumptions.hypotheses import independent_contexts, kruskal_at_least, partition
from attncert.verify.claims.evidence import Claim, Level


def sound(claim: Claim) -> None:
    """A claim has a JSON form, and it has a witness if and only if it is refuted."""
    assert (claim.witness is not None) == (not claim.level.holds)
    json.dumps(claim.as_dict(), allow_nan=False)


# Assumption 2.


entries = st.sampled_from([0, 0, 1, -1, 2, Fraction(1, 3), 10**20, PRIMES_31[0]])


@settings(max_examples=80, deadline=None)
@given(st.data(), st.integers(1, 3), st.integers(1, 3), st.booleans())
def test_contexts(data: st.DataObject, n: int, d: int, shared: bool) -> None:
    row = st.lists(entries, min_size=d, max_size=d)
    tables = [data.draw(st.lists(row, min_size=n, max_size=n)) for _ in range(1 if shared else 2)]
    E = Dataset.of(tables, [[1] * d] * 2, [0, 1])
    claim = independent_contexts(E)
    ranks = [rank(table) for table in tables]
    assert (claim.level is Level.PROVED) == all(r == n for r in ranks)
    assert claim.level in (Level.PROVED, Level.REFUTED)
    sound(claim)
    if claim.witness is not None:
        t = claim.witness["context"]
        assert t == next(t for t, r in enumerate(ranks) if r < n)
        coefficients = [Fraction(c) for c in claim.witness["coefficients"]]
        assert any(coefficients)
        for column in zip(*tables[t], strict=True):
            assert sum(c * x for c, x in zip(coefficients, column, strict=True)) == 0


@pytest.mark.parametrize("p", PRIMES_31)
def test_independent_only_over_the_rationals(p: int) -> None:
    """(1, 0) and (1, p) are dependent mod p and independent over ℚ; a row p·(1, 1) is 0 mod p."""
    assert independent_contexts(Dataset.of([[1, 0], [1, p]], [[1, 1]], [0])).level is Level.PROVED
    assert independent_contexts(Dataset.of([[1, 0], [p, p]], [[1, 1]], [0])).level is Level.PROVED


# The partition condition.


ENTRIES = st.sampled_from([0, 0, 1, 1, -1, 2, PRIMES_31[0]])


@settings(max_examples=200, deadline=None)
@given(query_lists(ENTRIES), st.integers(1, 3), st.integers(1, 3), st.booleans())
@example([[0, 1, 0], [1, 0, 0], [1, PRIMES_31[0], 0]], 1, 2, False)
@example([[1, 1], [2, 2]], 1, 1, True)
def test_partition_is_decided_exactly(
    queries: list[list[int]], first: int, further: int, compiled: bool
) -> None:
    data, count = with_queries(queries), len(queries)
    cuts = [0, *range(first, count, further), count]
    groups = [tuple(range(a, b)) for a, b in itertools.pairwise(cuts) if a < b]
    with patch.object(hypotheses, "_LARGE", 0 if compiled else hypotheses._LARGE):
        claim = partition(data, groups)
    assert (claim.level is Level.PROVED) == meets_partition_condition(queries, groups)
    sound(claim)
    if claim.witness is not None:
        assert is_relation(queries, claim.witness)
        h = claim.witness["group"] - 1
        before = [t for group in groups[:h] for t in group]
        outside = [t for t in claim.witness["examples"] if t not in groups[h]]
        assert len(outside) <= 1 and all(t in before for t in outside)


@pytest.mark.parametrize("p", PRIMES_31)
def test_a_span_that_only_shows_over_the_rationals(p: int) -> None:
    """e_0 = (q_2 - q_1)/p is in the span of q_1, q_2, which are equal mod p: a vector orthogonal to
    them mod p need not be orthogonal to e_0, so it proves nothing."""
    data = with_queries([[0, 1, 0], [1, 0, 0], [1, p, 0]])
    claim = partition(data, [(0,), (1, 2)])
    assert claim.level is Level.REFUTED
    assert claim.witness is not None
    assert is_relation(data.queries.fractions(), claim.witness)
    assert sorted(claim.witness["examples"]) == [0, 1, 2]


# Assumption 1.


QUERIES = st.lists(st.lists(st.integers(-2, 2), min_size=4, max_size=4), min_size=4, max_size=9)


@settings(max_examples=120, deadline=None)
@given(query_lists(ENTRIES) | QUERIES, st.integers(1, 5), st.sampled_from([0, 20_000]))
def test_assumption_1_is_decided_with_few_and_many_subsets(
    queries: list[list[int]], strength: int, few: int
) -> None:
    """A1 at this strength: every min(strength, T) queries are independent."""
    data, strength = with_queries(queries), min(strength, len(queries))
    with patch.object(hypotheses, "_EXHAUSTIVE", few):
        claim = kruskal_at_least(data, strength, "hypothesis.A1", 0)
    holds = kruskal_rank(queries) >= strength
    assert claim.level in ((Level.PROVED, Level.ENCLOSED) if holds else (Level.REFUTED,))
    sound(claim)
    if claim.witness is not None:
        assert is_relation(queries, claim.witness)
        assert len(claim.witness["examples"]) <= strength


def test_a_dependent_group_that_random_subsets_miss() -> None:
    """One set of 4 among 487,635 is dependent, and it is the first group."""
    data = exact_data.family(60, 4, 5, queries="moment-curve", bound=30, seed=1)
    data = dependent_query(data, 3, {0: 1, 1: 1, 2: 1}).data
    with patch.object(hypotheses, "A1_WORK", 0):
        assert kruskal_at_least(data, 4, "hypothesis.A1", 0).level is Level.SAMPLED
    assert partition(data, [(0, 1, 2, 3)]).level is Level.REFUTED


def test_what_is_out_of_reach_is_sampled_and_names_the_command_that_decides() -> None:
    """C(60, 4) sets take more work than is allowed. The work named in the answer suffices, and half
    of it does not."""
    data = exact_data.family(60, 4, 5, queries="moment-curve", shared=True, seed=1)

    def within(work: float) -> Claim:
        with patch.object(hypotheses, "A1_WORK", work):
            return kruskal_at_least(data, 4, "hypothesis.A1", 0)

    claim = within(0.001)
    assert claim.level is Level.SAMPLED
    needed = claim.numbers["nominal seconds"]
    command = f"attncert kruskal DATA --k 4 --work {needed:g} --examples 60"
    assert claim.numbers["to decide it"] == command
    again = within(needed)
    assert again.level is Level.PROVED and "all 487,635 sets of 4" in again.numbers["found"]
    assert within(0.5 * needed).level is Level.SAMPLED
