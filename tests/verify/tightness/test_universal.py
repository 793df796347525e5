"""Statements about every choice of weights, held against weights; and R_H from both sides."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from support.oracles import SAFE_PRIME, features_mod, rank_mod

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.generators import family, random, signed_pairs
from attncert.verify.claims.evidence import Level
from attncert.verify.tightness import one_head
from attncert.verify.tightness import universal as module
from attncert.verify.tightness.by_heads import profile_claims, rank_profile
from attncert.verify.tightness.relations.probes import (
    RankedLayer,
    best_rank,
    random_layer,
)
from attncert.verify.tightness.universal import bound_from_above, universal

EYE = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]

IMPOSSIBLE = {
    "equal inputs": (Dataset.of(EYE, [[1, 2, 0]] * 2, [1, 2]), 3, 1, "a relation between rows"),
    "e, -e, f, -f": (signed_pairs(), 5, 3, "a relation between rows"),
    "too few columns": (family(5, 2, 2, seed=4), 2, 4, "columns"),
    "a small flat": (family(6, 3, 4, shared=True, seed=5), 2, 5, "columns"),
    "three tokens of which two differ": (
        Dataset.of([[0, 0, 0], [0, 0, 0], [1, 0, 0]], EYE, [1, 2, 3]), 2, 2, "columns",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_no_weights_exceed_the_bound(name: str) -> None:
    data, heads, rank, reason = IMPOSSIBLE[name]
    bound = bound_from_above(data, heads)
    assert bound.rank == rank and reason in bound.reason
    claim = universal(data, heads)
    assert claim.level is Level.REFUTED and claim.witness == bound.witness
    assert claim.numbers["no weights exceed rank"] == rank


@pytest.mark.parametrize("n", [1, 2, 3])
def test_where_contexts_are_shared_the_bound_is_the_largest_rank(n: int) -> None:
    """Against the table of docs/tightness.md, section 4; random weights reach it."""
    for seed in range(12):
        queries = random(6, n, 3, bound=1, seed=seed).queries.fractions()
        data = Dataset.of([[int(i == j) for j in range(3)] for i in range(n)], queries, [0] * 6)
        for heads in (1, 2, 4):
            largest = min(heads * (n - 1) + 1, told_apart(set(map(tuple, queries)), n))
            assert bound_from_above(data, heads).rank == largest
            layer = best_rank(data, heads, largest).layer
            assert rank_mod(features_mod(data, layer), SAFE_PRIME) == largest


def told_apart(queries: set[tuple[Fraction, ...]], n: int) -> int:
    """The largest rank with any number of heads over one context of rank n."""
    if n == 1:
        return 1
    if n > 2:
        return len(queries)
    opposite = {tuple(-x for x in e) for e in queries}
    zero_or_pair = bool(queries & opposite)
    lines = len({max(e, tuple(-x for x in e)) for e in queries if any(e)})
    return lines + zero_or_pair


def test_what_neither_shows_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "best_rank", unlucky)
    claim = universal(family(5, 3, 4, seed=1), 2)
    assert claim.level is Level.UNDECIDED and claim.numbers["rank"] == 4


def unlucky(data: Dataset, heads: int, enough: int, **options: int) -> RankedLayer:
    """The best layer, said to be one worse."""
    found = best_rank(data, heads, enough, **options)
    return replace(found, rank=found.rank - 1)


def diagonal(T: int) -> Dataset:
    """diag(t, 1, 1) and one query: rank Z is at most 2H (docs/tightness.md, 7.3)."""
    return Dataset.of([np.diag([t, 1, 1]) for t in range(1, T + 1)], [[1, 2, 3]] * T, [0] * T)


@pytest.mark.parametrize(
    ("data", "ranks"),
    [
        (random(T=12, n=3, d=5, seed=1), (5, 10, 12)),
        (family(9, 3, 5, shared=True, seed=1), (3, 5, 7, 9)),
        (family(9, 3, 5, contexts="permuted", seed=1), (3, 5, 7, 9)),
        (signed_pairs(), (2, 3)),
        (Dataset.of([[1, 1], [1, 1]], [[1, 0], [0, 1]], [0, 1]), (1,)),
        (Dataset.of([[0, 0]], [[1, 0]], [1]), (0,)),
    ],
)
def test_every_number_of_heads_is_decided(data: Dataset, ranks: tuple[int, ...]) -> None:
    found = rank_profile(data)
    assert found.below == found.above == ranks and found.decided and found.reached
    *_, exact = profile_claims(data, found)
    assert exact.level is Level.ARGUED


def test_an_identity_of_one_head_bounds_them_all() -> None:
    """R_1 = 2 for all weights, so R_H = min(2H, 7)."""
    found = rank_profile(diagonal(7))
    assert found.below == found.above == (2, 4, 6, 7) and found.decided
    assert found.fewest(7) == (4, 4)
    eye, ones = np.eye(3, dtype=int), np.ones((3, 3), dtype=int)
    other = rank_profile(Dataset.of([eye, ones - eye, 2 * eye], [[1, 2, 3]] * 3, [0] * 3))
    assert other.below == other.above == (2, 3) and other.decided


def test_one_head_exceeds_what_is_no_identity() -> None:
    """Small data: where the identity fails, some weights have a larger rank; where it holds, none
    that are drawn."""
    rng, known = np.random.default_rng(4), set()
    for seed in range(24):
        contexts, queries = rng.integers(-1, 2, (4, 2, 3)), rng.integers(0, 2, (4, 3))
        if seed % 3 == 1:
            contexts = np.array([np.diag([t, 1, 1]) for t in rng.integers(1, 4, 4)])
            queries[:] = [1, 2, 1]
        elif seed % 3 == 2:
            contexts = contexts[:, :, :1] * np.array([1, 2, 1])
        data = Dataset.of(contexts, queries, [0] * 4)
        most = best_rank(data, 1, 3, width=2, draws=6, seed=seed).rank
        z = features_mod(data, random_layer(data, 1, 1, 30, rng), SAFE_PRIME)
        for r in (1, 2):
            for rows, columns in product(combinations(range(4), r), combinations(range(3), r)):
                minor = [[z[t][j] for j in columns] for t in rows]
                if rank_mod(minor, SAFE_PRIME) == r and one_head.affordable(data, r):
                    holds = one_head.never_exceeds(data, rows, columns)
                    known.add((r, holds))
                    assert (most <= r) == holds
    assert known == {(1, True), (1, False), (2, True), (2, False)}


def test_a_zero_that_no_bound_explains_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_head, "MOST_TERMS", 0)
    found = rank_profile(diagonal(7))
    assert found.below == (2, 4, 6, 7) and found.above == (3, 6, 7, 7) and found.limit == 7
    assert not found.decided and found.reached  # A2 holds: Theorem 6
    *_, exact = profile_claims(diagonal(7), found)
    assert exact.level is Level.UNDECIDED and exact.witness == {"open for H in": "1, 2, 3"}
    assert found.fewest(7) == (3, 4)
