"""One contract for all arithmetics: what each says about a matrix of known rank."""

from __future__ import annotations

import pytest
from support.rank_cases import CASES, Case, balls

from attncert.constructions.errors import InputError
from attncert.constructions.exact.primes import PRIMES_FLOAT64
from attncert.verify.rank.ball import smallest_singular_value
from attncert.verify.rank.floating import numerical_rank
from attncert.verify.rank.modular import modular_rank
from attncert.verify.rank.rational import rank
from attncert.verify.rank.residues import as_table, residues
from attncert.verify.rank.whole_layer.streaming import Elimination

each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


@each_case
def test_modular_rank_is_a_lower_bound_and_reached(case: Case) -> None:
    found = [modular_rank(case.matrix, p) for p in PRIMES_FLOAT64]
    assert all(r.rank <= case.rank for r in found)
    assert max(r.rank for r in found) == case.rank
    for r in found:
        assert len(r.rows) == len(set(r.rows)) == len(r.columns) == len(set(r.columns)) == r.rank


@each_case
def test_row_blocks_find_the_modular_rank(case: Case) -> None:
    """At every cut: the rank of the rows so far, as one elimination of the whole finds it."""
    for p in PRIMES_FLOAT64:
        table = residues(as_table(case.matrix), p)
        elimination = Elimination(table.shape[1], p)
        for start in range(0, len(table), 7):
            elimination.add(table[start : start + 7])
        assert elimination.rank == modular_rank(case.matrix, p).rank


@each_case
def test_rational_rank_is_the_rank_with_relations_that_prove_it(case: Case) -> None:
    found = rank(case.matrix)
    assert found.rank == case.rank == len(found.rows) == len(found.columns)
    if found.rank < min(case.shape):
        assert found.rank + len(found.relations) == case.shape[0]
    assert all(relation.holds(case.matrix) for relation in found.relations)


@each_case
def test_ball_arithmetic_certifies_full_row_rank_exactly_when_it_holds(case: Case) -> None:
    if case.rank:
        sigma = smallest_singular_value(balls(case.matrix), 8192)
        below_floats = case.name in ("1x1 tiny float", "huge, off by one")
        assert (sigma.lower > 0) == (case.rank == case.shape[0] and not below_floats)


@each_case
def test_numerical_rank_agrees_where_floats_can_see_it(case: Case) -> None:
    if "huge" in case.name:
        with pytest.raises(InputError, match="range of float64"):
            numerical_rank(case.matrix)
        return
    found = numerical_rank(case.matrix)
    if case.floats_see_it:
        assert found.rank == case.rank
    else:
        assert found.rank < case.rank  # the known error, kept as a fact
