"""Exact ranks, relations and null vectors, with planted relations, FLINT and SymPy as oracles."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from support.rank_cases import CASES, Case, exact_rank, holds

from attncert.constructions.exact.primes import PRIMES_FLOAT64
from attncert.verify.rank.rational import Relation, find_relation, integer_matrix, rank
from attncert.verify.rank.rational import relations as all_relations
from attncert.verify.rank.residues import as_table

each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
LADDER = math.prod(PRIMES_FLOAT64)
entries = st.integers(-3, 3)
matrices = st.integers(1, 7).flatmap(
    lambda n: st.lists(st.lists(entries, min_size=n, max_size=n), min_size=1, max_size=7)
)


@each_case
def test_relations_are_a_basis_of_the_left_kernel(case: Case) -> None:
    found = all_relations(case.matrix)
    assert len(found) == case.shape[0] - case.rank
    assert all(holds(relation, case.matrix) for relation in found)
    full = [[dict(zip(r.indices, r.coefficients, strict=True)).get(i, 0) for i in
             range(case.shape[0])] for r in found]  # fmt: skip
    assert exact_rank(full) == len(found)


@settings(max_examples=60, deadline=None)
@given(matrices)
def test_against_sympy(rows: list[list[int]]) -> None:
    found = rank(rows)
    matrix = sympy.Matrix(rows)
    assert found.rank == matrix.rank()
    minor = matrix.extract(list(found.rows), list(found.columns))
    assert found.rank == 0 or minor.det() != 0
    relation = find_relation(rows)
    assert (relation is None) == (matrix.rank() == len(rows))
    assert relation is None or holds(relation, rows)


@pytest.mark.parametrize("size", [2, 3, 5, 12])
def test_a_planted_small_relation_is_found_among_many_vectors(size: int) -> None:
    rng = np.random.default_rng(size)
    table = rng.integers(-(2**20), 2**20, (150, 90)).astype(np.float32)
    members = np.sort(rng.permutation(150)[:size])
    weights = rng.choice([-2, -1, 1, 2], size)
    weights[0] = 1
    table[members[0]] = -(weights[1:].astype(np.float64) @ table[members[1:]].astype(np.float64))
    others = np.setdiff1d(np.arange(150), members)[: 80 - size]
    rows = rng.permutation(np.r_[members, others]).tolist()
    assert find_relation(table, rows) == Relation.of(members.tolist(), weights.tolist())
    assert find_relation(table, others.tolist()) is None


@pytest.mark.parametrize(
    ("matrix", "true_rank"),
    [
        ([[LADDER, 0], [0, 1]], 2),
        ([[LADDER]], 1),
        ([[1, 1], [1, 1 + LADDER]], 2),
        ([[LADDER, 2 * LADDER], [3 * LADDER, 6 * LADDER]], 1),
        ([[1, 2, 3], [1, 2 + LADDER, 3], [2, 4 + LADDER, 6]], 2),
    ],
)
def test_matrices_that_mislead_every_prime_are_still_right(
    matrix: list[list[int]], true_rank: int
) -> None:
    found = rank(matrix)
    assert found.rank == true_rank
    assert found.rank + len(all_relations(matrix)) == len(matrix)
    relation = find_relation(matrix)
    assert (relation is None) == (true_rank == len(matrix))
    assert relation is None or holds(relation, matrix)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=4))
def test_integer_matrix_is_the_table_times_a_power_of_two(row: list[float]) -> None:
    whole = [int(x) for x in integer_matrix(as_table([row])).entries()]
    ratios = {Fraction(w) / Fraction(x) for w, x in zip(whole, row, strict=True) if x}
    assert len(ratios) <= 1
    assert all((w == 0) == (x == 0) for w, x in zip(whole, row, strict=True))
    for ratio in ratios:
        assert ratio > 0 and 1 in (ratio.numerator, ratio.denominator)
        assert (ratio.numerator * ratio.denominator).bit_count() == 1
