"""The partition certificate: for a given grouping, and the largest subset that can be grouped."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.oracles import (
    SAFE_PRIME,
    features_mod,
    kruskal_rank,
    meets_partition_condition,
    rank,
    rank_mod,
    some_grouping,
)

from attncert.constructions import paper, width_one
from attncert.constructions.construction import BuiltLayer
from attncert.constructions.data.dataset import Dataset
from attncert.verify.claims.evidence import Level
from attncert.verify.claims.trace import ProofTrace
from attncert.verify.limits.partition.bound import Sizes, upper_bound
from attncert.verify.limits.partition.claims import BestPartition, best_partition

# e_1, e_2, e_1 + e_2 are dependent: A1 is false for n = 3. In this order (e_1, e_2, e_1+e_2) would
# be the first group; in another order the condition holds.
DEPENDENT = [[1, 0, 0, 0], [0, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]

# Groups of 5 and 4 can hold only eight of these nine queries; no flat of small rank explains why.
HARD = [
    [0, 1, -1, 1, 1],
    [-1, 0, 0, 0, 0],
    [0, -1, 1, -1, 0],
    [1, 1, 0, 0, 0],
    [-1, 0, 0, 0, -1],
    [1, 1, 0, 0, 1],
    [1, 0, -1, 1, 0],
    [0, 1, 0, 0, -1],
    [0, 1, -1, 0, 0],
]


def with_queries(queries: Any, n: int) -> Dataset:
    context = np.eye(len(queries[0]), dtype=int)[:n]
    return Dataset.of(context, queries, [0] * len(queries))


def most_placed(queries: Any, sizes: Sizes) -> int:
    """Try all subsets and all their groupings."""
    for count in range(len(queries), 0, -1):
        for subset in itertools.combinations(queries, count):
            if some_grouping(subset, sizes.first, sizes.further, sizes.heads):
                return count
    return 0


def placed(best: BestPartition) -> tuple[int, ...]:
    return tuple(sorted(t for group in best.groups for t in group))


def maximum(best: BestPartition) -> Any:
    return next(claim for claim in best.claims if claim.id == "partition.maximum")


def level(best: BestPartition, claim_id: str) -> Level:
    return ProofTrace(best.claims).standing(claim_id)


@st.composite
def cases(draw: st.DrawFn, most: int = 6) -> tuple[list[list[int]], Sizes]:
    d = draw(st.integers(1, 4))
    entry = st.sampled_from([0, 0, 0, 1, 1, -1, 2])
    queries = draw(st.lists(st.lists(entry, min_size=d, max_size=d), min_size=1, max_size=most))
    first = draw(st.integers(1, d))
    return queries, Sizes(first, draw(st.integers(0, first - 1)), draw(st.integers(1, 4)))


# A1 is false, yet memorization is proved.


@pytest.mark.parametrize("build", [paper.build, width_one.build])
def test_memorization_is_proved_where_a1_is_false(build: Callable[..., BuiltLayer]) -> None:
    assert kruskal_rank(DEPENDENT) == 2  # A1 requires 3
    rng = random.Random(4)
    contexts = [[[rng.randint(-5, 5) for _ in range(4)] for _ in range(3)] for _ in DEPENDENT]
    data = Dataset.of(contexts, DEPENDENT, [3, 1, 4, 1, 5])
    best = best_partition(data, 3, 2, 2)
    assert placed(best) == (0, 1, 2, 3, 4)
    assert meets_partition_condition(DEPENDENT, best.groups)
    assert [len(group) for group in best.groups] == [3, 2]
    assert level(best, "partition.memorizes") is Level.PROVED
    layer = build(data, heads=2).layer
    assert rank_mod(features_mod(data, layer), SAFE_PRIME) == data.T  # so rank Z = T over ℚ


# The largest part.


@pytest.mark.slow
@settings(max_examples=120, deadline=None)
@given(cases(), st.integers(0, 3))
@example(([[0, 0]], Sizes(1, 0, 2)), 0)
@example(([[1], [2], [-1]], Sizes(1, 0, 3)), 0)
def test_the_largest_part_against_enumeration(
    case: tuple[list[list[int]], Sizes], seed: int
) -> None:
    queries, sizes = case
    data = with_queries(queries, min(sizes.first, len(queries[0])))
    best = best_partition(data, sizes.first, sizes.further, sizes.heads, seed)
    wanted = most_placed(queries, sizes)
    claim = maximum(best)
    assert meets_partition_condition(queries, best.groups)
    assert len(best.groups) <= sizes.heads
    assert all(len(g) <= (sizes.further if h else sizes.first) for h, g in enumerate(best.groups))
    assert len(placed(best)) <= wanted <= claim.numbers["at most"]
    if claim.level is Level.PROVED:
        assert len(placed(best)) == wanted
    assert claim.witness["left out"] == [t for t in range(data.T) if t not in placed(best)]
    json.dumps([c.as_dict() for c in best.claims], allow_nan=False)


def test_no_case_is_left_open_that_small() -> None:
    """The test above would accept a search that never decides anything."""
    rng = random.Random(0)
    levels = []
    for _ in range(60):
        d = rng.randint(2, 5)
        queries = [
            [rng.choice([0, 0, 1, -1, 2]) for _ in range(d)] for _ in range(rng.randint(8, 16))
        ]
        n = rng.randint(2, d)
        best = best_partition(with_queries(queries, n), n, n - 1, rng.randint(1, 5))
        levels.append(maximum(best).level)
    assert levels == [Level.PROVED] * 60


@settings(max_examples=80, deadline=None)
@given(cases())
def test_the_upper_bound_is_one(case: tuple[list[list[int]], Sizes]) -> None:
    queries, sizes = case
    data = with_queries(queries, 1)
    parts = upper_bound(data, range(data.T), sizes)
    assert sorted(t for part in parts for t in part.examples) == list(range(data.T))
    assert all(rank([queries[t] for t in part.examples]) == part.rank for part in parts)
    assert sum(part.most for part in parts) >= most_placed(queries, sizes)


def test_what_the_bound_does_not_explain_is_left_open() -> None:
    best = best_partition(with_queries(HARD, 5), 5, 4, 2)
    assert len(placed(best)) == 8
    assert maximum(best).level is Level.UNDECIDED and maximum(best).numbers["at most"] == 9
