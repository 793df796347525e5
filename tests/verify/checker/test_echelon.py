"""Rows stored as long integers are independent modulo p exactly when FLINT says so."""

from __future__ import annotations

from flint import nmod_mat
from hypothesis import given
from hypothesis import strategies as st

from attncert.verify.checker.full_rank import Echelon, independent

PRIMES = (3, 5, 11, 2097143, 2**31 - 1, 2**61 - 1)


@st.composite
def matrices(draw: st.DrawFn) -> tuple[int, list[list[int]]]:
    """A prime, and rows with many entries that are 0 or extreme."""
    p = draw(st.sampled_from(PRIMES))
    entries = st.sampled_from([0, 0, 1, p - 1]) | st.integers(0, p - 1)
    width = draw(st.integers(1, 7))
    return p, draw(st.lists(st.lists(entries, min_size=width, max_size=width), min_size=1))


@given(matrices())
def test_a_row_joins_if_it_raises_the_rank(case: tuple[int, list[list[int]]]) -> None:
    p, rows = case
    echelon, rank = Echelon(p, len(rows)), 0
    for count, row in enumerate(rows, 1):
        before, rank = rank, nmod_mat([[x % p for x in y] for y in rows[:count]], p).rank()
        assert echelon.joins(row) == (rank > before)
    assert len(echelon.pivots) == rank


def test_slots_hold_as_many_multiples_as_there_are_rows() -> None:
    """Every factor and every entry is p - 1, which gives the largest possible sums."""
    for p in PRIMES:
        size = 60
        echelon = Echelon(p, size + 1)
        rows = [
            [int(i == j) or (p - 1) * (j == size) for j in range(size + 1)] for i in range(size)
        ]
        assert all(map(echelon.joins, rows))
        assert not echelon.joins([1] * size + [-size % p])


@given(matrices())
def test_a_context_loses_no_rank_with_its_dependent_columns(
    case: tuple[int, list[list[int]]],
) -> None:
    p, columns = case
    kept = independent(columns, p)
    assert len(kept) == nmod_mat([[x % p for x in y] for y in columns], p).rank()
