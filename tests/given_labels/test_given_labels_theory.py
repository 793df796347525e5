"""docs/given-labels.md against code that shares nothing with the builders: small cases, exact."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Any

import mpmath
import pytest
from given_labels_zeros import find
from support.shares import share

import attncert
from attncert.verify.audit.attack.given import built
from attncert.verify.audit.attack.given import cases as given_cases
from attncert.verify.audit.attack.given.oracle import (
    PRIME,
    Example,
    Head,
    Matrix,
    Span,
    apply,
    bound,
    columns,
    conjectured_rank,
    coordinate_bound,
    dot,
    draw_head,
    draw_matrix,
    generic_rank,
    group_count,
    jacobian,
    jacobian_rank,
    kruskal_rank,
    law,
    matroid_rank,
    outputs,
    pair_jacobian,
    rank_mod,
    zero_groups,
)
from attncert.verify.audit.attack.given.search import TARGETS, attack_statement

SHARED = [[1, 0, 2, 1], [0, 1, 1, 0], [2, 1, 0, 1]]
CONTEXTS = {
    "rank n": SHARED,
    "affinely independent, rank n - 1": [[0, 0, 0, 0], [1, 0, 2, 1], [0, 1, 1, 0]],
    "repeated row": [[1, 0, 2, 1], [1, 0, 2, 1], [0, 1, 1, 0]],
    "parallelogram": [[1, 1, 0, 0], [2, 1, 0, 1], [1, 2, 1, 0], [2, 2, 1, 1]],
    "collinear": [[0, 1, 0, 0], [1, 1, 1, 0], [2, 1, 2, 0], [4, 1, 4, 0]],
    "constant": [[1, 2, 0, 1]] * 3,
    "zero": [[0, 0, 0, 0]] * 2,
    "one row": [[1, 0, 0, 3]],
    "more than d rows": [[i, i * i, i**3, (-1) ** i] for i in range(6)],
}


def queries(rng: random.Random, T: int, d: int = 4) -> list[list[int]]:
    return draw_matrix(rng, T, d, 2**40)


def real_outputs(examples: list[Example], heads: list[Head]) -> list[mpmath.mpf]:
    """By real arithmetic, label coordinates one after the other; softmax in base 2."""
    total = []
    for context, query in examples:
        y = [mpmath.mpf(0)] * len(heads[0].outputs[0])
        for head in heads:
            logits = apply(context, apply(head.keys, apply(columns(head.queries), query)))
            powers = [mpmath.power(2, k) for k in logits]
            z = [dot(powers, c) / sum(powers) for c in columns(context)]
            hidden = apply(columns(head.values), z)
            y = [a + b for a, b in zip(y, apply(columns(head.outputs), hidden), strict=True)]
        total += y
    return total


def test_the_oracle_differentiates_the_layer() -> None:
    examples: list[Example] = [([[1, 0], [0, 1], [1, 2]], [1, 2])]
    head = Head([[1, 0], [0, 1]], [[1, -1], [0, 1]], [[1, 2], [3, 1]], [[1, 2], [-1, 1]])
    with mpmath.workdps(60):
        y, step = real_outputs(examples, [head]), mpmath.mpf(10) ** -30
        modular = [x for row in outputs(examples, [head]) for x in row]
        names = ("keys", "queries", "values", "outputs")
        column = 0
        for name in names:
            table = [list(row) for row in getattr(head, name)]
            for i, row in enumerate(table):
                for j in range(len(row)):
                    moved = [list(r) for r in table]
                    moved[i][j] += step  # type: ignore[call-overload]
                    changed = Head(**{**vars(head), name: moved})
                    slopes = [
                        (b - a) / step
                        for a, b in zip(y, real_outputs(examples, [changed]), strict=True)
                    ]
                    if name in names[:2]:
                        slopes = [s / mpmath.log(2) for s in slopes]
                    for found, s in zip(jacobian(examples, [head]), slopes, strict=True):
                        assert same_rational(found[column], s)
                    column += 1
        assert all(same_rational(a, b) for a, b in zip(modular, y, strict=True))


def same_rational(residue: int, x: mpmath.mpf) -> bool:
    """Is the one small fraction with this residue mod PRIME near x? (By Euclid's algorithm.)"""
    (r0, r1), (t0, t1) = (PRIME, residue), (0, 1)
    while r1 >= 2**31:
        q = r0 // r1
        (r0, r1), (t0, t1) = (r1, r0 - q * r1), (t1, t0 - q * t1)
    assert 0 < abs(t1) < 2**28  # else the fraction is not small: draw smaller numbers
    return abs(mpmath.mpf(r1) / t1 - x) < mpmath.mpf(10) ** -20


@pytest.mark.parametrize("name", CONTEXTS)
@pytest.mark.parametrize("H, w", [(1, 1), (2, 1), (2, 3), (3, 6)])
def test_shared_contexts_of_every_kind_reach_the_law(name: str, H: int, w: int) -> None:
    rng = random.Random(f"{name} {H} {w}")
    context = CONTEXTS[name]
    N = law(Span(Span.of([(context, [1])]).a, Span.of([(context, [1])]).b, 4), H, w, 1, 1)
    examples = [(context, e) for e in queries(rng, N + 2)]
    assert generic_rank(rng, examples, H, w, 1, 1) == N
    assert N == 0 or generic_rank(rng, examples[:N], H, w, 1, 1) == N


def test_the_law_over_groups_of_contexts_needs_its_subsets() -> None:
    """Twenty examples on a context worth 13, three on another, a scaled copy, a constant one."""
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


def test_queries_in_a_subspace_count_with_its_dimension() -> None:
    rng = random.Random(3)
    basis = queries(rng, 2)
    mixed = [[dot(c, x) for x in columns(basis)] for c in draw_matrix(rng, 30, 2, 2**20)]
    groups = [[(SHARED, e) for e in mixed]]
    assert Span.of(groups[0]) == Span(2, 1, 2)
    assert generic_rank(rng, groups[0], 2, 3, 1, 1) == bound(groups, 2, 3, 1, 1) == 2 * (4 + 2) + 1


@pytest.mark.parametrize("d, n, H, w", [(1, 2, 3, 1), (2, 2, 1, 1), (3, 5, 2, 2), (3, 2, 2, 5)])
def test_distinct_contexts_of_any_size_reach_the_law(d: int, n: int, H: int, w: int) -> None:
    rng = random.Random(4)
    N = H * (min(w, d) * (2 * d - min(w, d)) + d)
    examples = [
        (draw_matrix(rng, rng.randint(2, n), d), draw_matrix(rng, 1, d)[0]) for _ in range(N + 1)
    ]
    assert generic_rank(rng, examples, H, w, 1, 1) == N
    assert generic_rank(rng, examples[:N], H, w, 1, 1) == N


def test_one_row_each_is_linear_algebra() -> None:
    rng = random.Random(5)
    examples = [(draw_matrix(rng, 1, 3), e) for e in queries(rng, 5, 3)]
    assert generic_rank(rng, examples, 4, 2, 1, 1) == 3


@pytest.mark.parametrize("d_v, H, m", [(1, 2, 2), (2, 2, 2), (3, 4, 2), (3, 3, 3), (1, 3, 3)])
def test_several_label_coordinates_are_exact_where_proved(d_v: int, H: int, m: int) -> None:
    rng = random.Random(6)
    groups = [
        [(CONTEXTS[name], e) for e in queries(rng, T)]
        for name, T in (("rank n", 4), ("repeated row", 13), ("constant", 2))
    ]
    examples = [x for group in groups for x in group]
    reached = generic_rank(rng, examples, H, 1, d_v, m)
    assert reached == bound(groups, H, 1, d_v, m) == coordinate_bound(groups, H, 1, d_v, m)


@pytest.mark.parametrize("d_v", [1, 2, 3, 4])
def test_the_count_for_several_coordinates_is_reached_by_many_examples(d_v: int) -> None:
    rng = random.Random(7)
    for name in ("rank n", "collinear", "constant", "more than d rows"):
        s = Span.of([(CONTEXTS[name], [1])])
        N = law(Span(s.a, s.b, 4), 2, 2, d_v, 3)
        examples = [(CONTEXTS[name], e) for e in queries(rng, N // 2 + 4)]
        assert generic_rank(rng, examples, 2, 2, d_v, 3) == N


def test_the_simple_formula_fails_where_the_conjecture_says_so() -> None:
    """n=2, H=1, d=5, d_v=4, m=2, w=2, T=13: 23, not 26; and a case that only (L') explains."""
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


@pytest.mark.parametrize("sizes", [(2,), (2, 1), (5,), (3, 2)])
@pytest.mark.parametrize("w", share([1, 2, 4], 3))
def test_groups_that_share_a_matrix(sizes: tuple[int, ...], w: int) -> None:
    rng = random.Random(9)
    heads = zero_groups(rng, sizes, 4, w)
    distinct = sum(group_count(k, w, 4, 4) for k in sizes)
    shared = sum(group_count(k, w, 2, 4) for k in sizes) + 1
    for T, examples in [
        (distinct, [(draw_matrix(rng, 2, 4), e) for e in queries(rng, distinct + 1)]),
        (shared, [(SHARED, e) for e in queries(rng, shared + 1)]),
    ]:
        assert not any(any(row) for row in outputs(examples, heads))
        assert jacobian_rank(examples, heads) == jacobian_rank(examples[:T], heads) == T


def test_a_parallelogram_loses_directions_in_groups_but_not_in_pairs() -> None:
    rng = random.Random(10)
    context = CONTEXTS["parallelogram"]
    examples = [(context, e) for e in queries(rng, 30)]
    for sizes, lost in (((2, 2), 0), ((3,), 1)):
        full = sum(group_count(k, 1, 2, 4) for k in sizes) + 1
        assert jacobian_rank(examples, zero_groups(rng, sizes, 4, 1)) <= full
        assert (jacobian_rank(examples, zero_groups(rng, sizes, 4, 1)) < full) == bool(lost)


def test_figures_of_the_page() -> None:
    H, d = 12, 768
    assert H * (3 * d - 1) == law(Span(d, 0, d), H, 1, 1, 1) == 27636
    assert group_count(12, 1, d, d) == 17598
    assert 6 * group_count(2, 1, d, d) == 13818
    assert group_count(2, 1, d, d) == 3 * d - 1
    n = 197  # shared, rank n: a pair counts 2n + d - 3, and 1 for all
    assert group_count(2, 1, n - 1, d) == 2 * n + d - 3


def test_halving_stops_before_N_and_no_zero_is_nondegenerate_there() -> None:
    """Two pairs of heads, N + 1 examples: rank of two heads, not of four."""
    rng = random.Random(11)
    examples = [(draw_matrix(rng, 3, 3), e) for e in queries(rng, 33, 3)]
    assert jacobian_rank(examples, zero_groups(rng, (2, 2), 3, 1)) == 2 * 8
    assert jacobian_rank(examples, zero_groups(rng, (4,), 3, 1)) == group_count(4, 1, 3, 3) < 32
    assert generic_rank(rng, examples, 4, 1, 1, 1) == 32


QUERIES = [[1, 0], [0, 1], [1, 1], [1, -1], [2, 1], [1, 2], [1, 3]]
FLAT: list[Matrix] = [[[1, 1], [2, 2]], [[0, 0], [1, 0], [1, 0]], [[-1, 2], [3, 1]]]


@pytest.mark.parametrize("contexts", [FLAT, FLAT[:1]], ids=["mixed", "shared, two rows"])
@pytest.mark.parametrize("H", [1, 2, 3, 6, 7])
def test_pairs_reach_floor_half_H_times_kappa(contexts: list[Matrix], H: int) -> None:
    rng = random.Random(12)
    p, T = H // 2, min((H // 2) * 2 + H % 2, len(QUERIES))
    examples = [(contexts[t % len(contexts)], QUERIES[t]) for t in range(T)]
    assert T == 1 or kruskal_rank([e for _, e in examples]) == 2
    extra = draw_head(rng, 2, 1, 1, 1) if H % 2 else None
    J = pair_jacobian(examples, draw_matrix(rng, 1, 2)[0], draw_matrix(rng, p, 2), extra)
    assert rank_mod(J) == T


def test_the_odd_head_places_n_more_under_independent_rows() -> None:
    rng = random.Random(13)
    E = [[1, 0, 1], [0, 1, 2]]
    examples: list[Example] = [(E, [1, t, t * t]) for t in range(5)]
    J = pair_jacobian(examples, [1, 5, 7], draw_matrix(rng, 1, 3), draw_head(rng, 3, 1, 1, 1))
    assert rank_mod(J) == 3 + 2


def test_opposite_queries_and_dependent_sets_bound_the_pairs() -> None:
    """e and -e count once for n = 2; four queries in a plane fill two pairs, a fifth does not."""
    rng = random.Random(14)
    E = [[1, 0, 2], [0, 1, 1]]
    key, steering = draw_matrix(rng, 1, 3)[0], draw_matrix(rng, 2, 3)
    assert rank_mod(pair_jacobian([(E, [1, 0, 0]), (E, [-1, 0, 0])], key, steering)) == 1
    plane = [[1, 0, 0], [0, 1, 0], [1, 1, 0], [1, -1, 0], [1, 2, 0]]
    examples = [(draw_matrix(rng, 2, 3), e) for e in [*plane, [0, 0, 1]]]
    J = pair_jacobian(examples, key, steering)
    assert rank_mod(J) == matroid_rank([e for _, e in examples], 2) == 5


def test_one_head_cannot_meet_two_signs() -> None:
    """Contexts {x, 2x} and {x, 3x}: outputs of one sign, so two heads are needed for (1, -1)."""
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


def test_a_zero_beyond_the_pairs_is_proved() -> None:
    """n=3, d=4, H=2: pairs reach 11 of N = 22; a box around found weights holds a zero for 14."""
    found = find(3, 4, 2, 14, 5)
    assert found is not None and found[1] < 1e-30


@pytest.mark.parametrize("target", TARGETS)
def test_random_small_cases(target: str) -> None:
    found = attack_statement(target, cases=6)
    assert found.tried and not found.failures


def test_a_wrong_law_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        given_cases, "bound", lambda *a: bound(*a) + (len(a[0]) == 1 and len(a[0][0]) > 20)
    )
    assert attack_statement("law", cases=30).failures


def test_a_bound_one_too_high_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is built is attacked, too."""
    right = built.data_capacity

    def wrong(*arguments: Any) -> Any:
        made = right(*arguments)
        least = replace(made.uppers[0], bound=made.uppers[0].bound + 1)
        return replace(made, uppers=(least, *made.uppers[1:]))

    assert not attack_statement("capacity", cases=3).failures
    monkeypatch.setattr(built, "data_capacity", wrong)
    assert {part for _, part in attack_statement("capacity", cases=3).failures} >= {"bound"}


def test_a_zero_that_is_none_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A layer whose heads do not cancel, called proved."""
    right = built.label_all

    def wrong(*arguments: Any) -> Any:
        made = right(*arguments)
        if made.zero is None:
            return made
        first, *others = made.zero.layer.heads
        heads = (replace(first, value=2 * first.value), *others)
        layer = replace(made.zero.layer, heads=heads)
        return replace(made, zero=replace(made.zero, layer=layer))

    monkeypatch.setattr(built, "label_all", wrong)
    assert attack_statement("pairs-built", cases=3).failures


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert attncert.main(["attack", "--target", "law", "--cases", "2"]) == 0
    assert capsys.readouterr().out.startswith("0 failures in cases 0 to 1 of law: equality 2")
    assert attncert.main(["attack", "--target", "groups", "--cases", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["failures"] == []
    for wrong in (["--target", "laws"], ["--target", "law", "--construction", "paper"]):
        assert attncert.main(["attack", *wrong]) == 2
