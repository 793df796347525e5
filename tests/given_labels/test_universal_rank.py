"""Theorem U of docs/given-labels.md: the rank of Z on degenerate data; a wrong formula fails."""

from __future__ import annotations

import random

import pytest
import universal_rank
from support.given_oracle import dataset
from universal_rank import Case, attack, attack_given_queries, drawn_rank, formula, spans

from attncert.verify.tightness.columns import columns


def test_the_formula_is_the_rank_on_contexts_of_every_kind() -> None:
    counts, failures = attack(200)
    assert not failures and counts["formula below that of all examples, and below T"] > 20
    assert all(counts[kind] > 10 for kind in (*universal_rank.KINDS, *universal_rank.QUERIES))


def test_the_least_over_all_sets_is_found_by_one_elimination() -> None:
    below = 0
    for number in range(200):
        case = universal_rank.draw_case(random.Random(f"least {number}"))
        found, T = columns(dataset(case.examples), case.heads), len(case.examples)
        assert found.least and found.rank == formula(case)
        below += 0 < len(found.members) < T and found.rank < T
    assert below > 10  # where neither all examples nor none decide it


def test_given_queries_on_random_contexts() -> None:
    counts, failures = attack_given_queries(100)
    assert not failures and counts["Hd below T"] > 30


@pytest.mark.parametrize("wrong", ["all examples alone", "without b", "b for each head"])
def test_a_wrong_formula_is_noticed(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def all_alone(case: Case) -> int:
        a, b = spans([context for context, _ in case.examples])
        return min(len(case.examples), case.heads * a + b)

    def changed(contexts: list[list[list[int]]]) -> tuple[int, int]:
        a, b = spans(contexts)
        return (a, 0) if wrong == "without b" else (a + b, 0)

    if wrong == "all examples alone":
        monkeypatch.setattr(universal_rank, "formula", all_alone)
    else:
        monkeypatch.setattr(universal_rank, "spans", changed)
    assert attack(60)[1]


def test_multiples_of_one_query_escape_what_the_query_itself_does_not() -> None:
    """diag(t, 1, 1): rank Z ≤ 2H with one query for all (docs/tightness.md, 7.3)."""
    rng = random.Random(1)
    contexts = [[[t, 0, 0], [0, 1, 0], [0, 0, 1]] for t in range(1, 8)]
    one = [(context, [1, 2, 3]) for context in contexts]
    scaled = [(E, [r * x for x in e]) for E, e in one for r in [rng.randint(1, 2**20)]]
    assert formula(Case((), tuple((x,) for x in scaled), 2, 1)) == 6
    assert drawn_rank(rng, one, 2, 1) == 4
    assert drawn_rank(rng, scaled, 2, 1) == 6
