"""Tests docs/given-labels.md exactly on small cases, sharing no code with the builders."""

from __future__ import annotations

import random

import pytest
import statements
from support.given_oracle import (
    Example,
    Span,
    bound,
    conjectured_rank,
    draw_head,
    draw_matrix,
    feature_rank,
    generic_rank,
    group_count,
    jacobian_rank,
    law,
    matroid_rank,
    outputs,
    pair_jacobian,
    rank_mod,
    real_outputs,
    zero_groups,
)  # fmt: skip
from support.shares import share

CONTEXTS = {
    "rank n": [[1, 0, 2, 1], [0, 1, 1, 0], [2, 1, 0, 1]],
    "repeated row": [[1, 0, 2, 1], [1, 0, 2, 1], [0, 1, 1, 0]],
    "parallelogram": [[1, 1, 0, 0], [2, 1, 0, 1], [1, 2, 1, 0], [2, 2, 1, 1]],
    "constant": [[1, 2, 0, 1]] * 3,
}


def queries(rng: random.Random, T: int, d: int = 4) -> list[list[int]]:
    return draw_matrix(rng, T, d, 2**40)


def test_the_law_over_groups_of_contexts_needs_its_subsets() -> None:
    """Twenty examples share a context that allows 13; others use a scaled, constant or new one."""
    rng = random.Random(2)
    small, other = CONTEXTS["repeated row"], CONTEXTS["rank n"]
    groups = [
        [(small, e) for e in queries(rng, 20)],
        [([[2 * x for x in row] for row in small], e) for e in queries(rng, 2)],
        [(other, e) for e in queries(rng, 3)],
        [(CONTEXTS["constant"], e) for e in queries(rng, 2)],
    ]
    examples = [x for group in groups for x in group]
    expected = bound(groups, 2, 1, 1, 1)
    assert generic_rank(rng, examples, 2, 1, 1, 1) == expected
    whole = law(Span.of(examples), 2, 1, 1, 1)
    assert expected < min(len(examples), whole)
    for _ in range(20):
        weak = [draw_head(rng, 4, 1, 1, 1, 1) for _ in range(2)]
        assert jacobian_rank(examples, weak) <= expected


def test_the_simple_formula_fails_where_the_conjecture_says_so() -> None:
    """At n=2, H=1, d=5, d_v=4, m=2, w=2, T=13 the rank is 23, not 26; the other case needs (L')."""
    rng = random.Random(8)
    for (n, H, d, d_v, m, w, T), simple, rank in [
        ((2, 1, 5, 4, 2, 2, 13), 26, 23),
        ((2, 2, 4, 7, 5, 4, 13), 65, 64),
    ]:
        s = Span(d, 0, d)
        examples = [(draw_matrix(rng, n, d), e) for e in queries(rng, T, d)]
        assert min(T * m, law(s, H, w, d_v, m)) == simple
        assert generic_rank(rng, examples, H, w, d_v, m) == rank
        assert conjectured_rank(s, T, H, w, d_v, m, n) == rank


def test_a_parallelogram_loses_directions_in_groups_but_not_in_pairs() -> None:
    rng = random.Random(10)
    context = CONTEXTS["parallelogram"]
    examples = [(context, e) for e in queries(rng, 30)]
    for sizes, lost in (((2, 2), 0), ((3,), 1)):
        full = sum(group_count(k, 1, 2, 4) for k in sizes) + 1
        assert jacobian_rank(examples, zero_groups(rng, sizes, 4, 1)) <= full
        assert (jacobian_rank(examples, zero_groups(rng, sizes, 4, 1)) < full) == bool(lost)


def test_opposite_queries_and_dependent_sets_bound_the_pairs() -> None:
    """For n = 2, e and -e count once; two pairs can hold four queries in a plane, but not a
    fifth."""
    rng = random.Random(14)
    E = [[1, 0, 2], [0, 1, 1]]
    key, steering = draw_matrix(rng, 1, 3)[0], draw_matrix(rng, 2, 3)
    assert rank_mod(pair_jacobian([(E, [1, 0, 0]), (E, [-1, 0, 0])], key, steering)) == 1
    plane = [[1, 0, 0], [0, 1, 0], [1, 1, 0], [1, -1, 0], [1, 2, 0]]
    examples = [(draw_matrix(rng, 2, 3), e) for e in [*plane, [0, 0, 1]]]
    J = pair_jacobian(examples, key, steering)
    assert rank_mod(J) == matroid_rank([e for _, e in examples], 2) == 5


def test_multiples_of_one_query_escape_what_the_query_itself_does_not() -> None:
    """With contexts diag(t, 1, 1) and one query for all, rank Z ≤ 2H (docs/tightness.md, 7.3)."""
    rng = random.Random(1)
    one = [([[t, 0, 0], [0, 1, 0], [0, 0, 1]], [1, 2, 3]) for t in range(1, 8)]
    scaled = [(E, [r * x for x in e]) for E, e in one for r in [rng.randint(1, 2**20)]]
    heads = [draw_head(rng, 3, 1, 1, 1) for _ in range(2)]
    assert bound([[x] for x in scaled], 2, 0, 1, 1) == 6
    assert (feature_rank(one, heads), feature_rank(scaled, heads)) == (4, 6)


@pytest.mark.parametrize("H", [1, 2, 3])
def test_one_example_with_query_zero_counts_by_the_mean_of_its_rows(H: int) -> None:
    rng = random.Random(16)
    for context, rank in (([[1], [-1]], 0), ([[1], [2]], 1)):
        assert generic_rank(rng, [(context, [0])], H, 1, 1, 1) == rank
        assert generic_rank(rng, [(context, [1])], H, 1, 1, 1) == 1


def test_a_coordinate_without_heads_of_its_own_lacks_b() -> None:
    """Theorem 9 (4): for values of width one, the features v_h·z_h have rank H and not H + b."""
    rng, H = random.Random(17), 3
    context = [[1, 0, 2, 1], [0, 1, 1, 0]]
    examples = [(context, e) for e in queries(rng, 9)]
    heads = [draw_head(rng, 4, 1, 1, 1) for _ in range(H)]
    alone = [[row[0] for row in outputs(examples, [head])] for head in heads]
    a, b = Span.of(examples).a, Span.of(examples).b
    assert (a, b, rank_mod(alone)) == (1, 1, H)


def test_one_head_cannot_meet_two_signs() -> None:
    """Contexts {x, 2x} and {x, 3x} give outputs of the same sign, so (1, -1) needs two heads."""
    x = [1, 2]
    examples: list[Example] = [
        ([x, [2, 4]], [1, 0]),
        ([x, [3, 6]], [0, 1]),
    ]
    rng = random.Random(15)
    for _ in range(50):
        head = draw_head(rng, 2, 1, 1, 1, 3)
        a, b = real_outputs(examples, [head])
        assert a * b >= 0
    assert rank_mod(pair_jacobian(examples, [1, 0], [[1, 3]])) == 2


@pytest.mark.parametrize("target", share(statements.TARGETS, 3))
def test_random_small_cases(target: str) -> None:
    tried, failures = statements.attack(target, {"pairs-shared": 12, "labels": 3}.get(target, 6))
    assert tried and not failures
