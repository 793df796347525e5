"""Integer solutions of R x = b, and shortening: the products R x never move."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from support.oracles import rank

from attncert.constructions.data.exact_array import narrow
from attncert.constructions.exact import integers
from attncert.constructions.search.steering import Reducer, Solver, short_kernel

entries = st.one_of(st.integers(-6, 6), st.sampled_from([2**40, -(2**63), 10**25]))


def matrix(rows: list[list[int]]) -> np.ndarray:
    return narrow([x for row in rows for x in row], (len(rows), len(rows[0])))


def matrices(rows: int, columns: int) -> st.SearchStrategy[list[list[int]]]:
    row = st.lists(entries, min_size=columns, max_size=columns)
    return st.lists(row, min_size=rows, max_size=rows)


shapes = st.integers(1, 4).flatmap(lambda k: st.tuples(st.integers(1, k), st.just(k)))
full_rank = shapes.flatmap(lambda s: matrices(*s)).filter(lambda rows: rank(rows) == len(rows))


def vector(entries: list[int]) -> np.ndarray:
    return narrow(entries, (len(entries),))


def times(a: np.ndarray, x: np.ndarray) -> list[int]:
    return [
        sum(int(p) * int(q) for p, q in zip(row, x.tolist(), strict=True)) for row in a.tolist()
    ]


@settings(max_examples=60, deadline=None)
@given(full_rank, st.data())
@example([[2, 0], [0, 4]], None)
def test_what_an_integer_vector_reaches_is_solved(
    rows: list[list[int]], data: st.DataObject | None
) -> None:
    R = matrix(rows)
    solver = Solver.of(R)
    k, r = R.shape[1], len(rows)
    x = [1] * k if data is None else data.draw(st.lists(entries, min_size=k, max_size=k))
    b = vector(times(R, vector(x)))
    assert solver.factor(b) == 1
    assert times(R, solver.solve(b)) == b.tolist()
    assert solver.kernel.shape == (k, k - r) and solver.reach.shape == (r, r)
    assert not any(any(times(R, column)) for column in solver.kernel.T)
    for column in solver.reach.T:
        assert solver.factor(column) == 1


@settings(max_examples=60, deadline=None)
@given(full_rank, st.data())
def test_the_factor_is_the_least(rows: list[list[int]], data: st.DataObject) -> None:
    """f·b is reached; f/q·b is not, for any prime q that divides f."""
    R = matrix(rows)
    solver = Solver.of(R)
    b = data.draw(st.lists(st.integers(-3, 3), min_size=len(rows), max_size=len(rows)))
    assume(any(b))
    factor = solver.factor(vector(b))
    scaled = vector([factor * x for x in b])
    assert factor >= 1
    assert times(R, solver.solve(scaled)) == scaled.tolist()
    for q in [q for q in range(2, 50) if factor % q == 0]:
        smaller = vector([factor // q * x for x in b])
        with pytest.raises(ValueError, match="not reached"):
            solver.solve(smaller)


@pytest.mark.parametrize("rows", [[[1, 2], [2, 4]], [[0, 0]], [[1], [2]]])
def test_dependent_rows_are_refused(rows: list[list[int]]) -> None:
    with pytest.raises(ValueError, match="dependent"):
        Solver.of(matrix(rows))


@settings(max_examples=60, deadline=None)
@given(full_rank, st.data())
def test_shortening_keeps_the_products(rows: list[list[int]], data: st.DataObject) -> None:
    R = matrix(rows)
    solver = Solver.of(R)
    k = R.shape[1]
    x = vector(data.draw(st.lists(entries, min_size=k, max_size=k)))
    images = matrix(data.draw(st.integers(1, 4).flatmap(lambda count: matrices(count, k))))
    short = Reducer(solver.kernel, images)(x)
    assert times(R, short) == times(R, x)


def test_shortening_finds_the_planted_short_vector() -> None:
    """x = (1, 0, 0) + 10^6 (0, 1, 1) + 777 (0, 1, -1): the kernel removes all of the rest."""
    rows = [[1, 0, 0]]
    solver = Solver.of(matrix(rows))
    reduced = Reducer(solver.kernel, matrix([[0, 1, 0], [0, 0, 1]]))
    short = reduced(vector([1, 10**6 + 777, 10**6 - 777]))
    assert short.tolist() == [1, 0, 0]


def test_numbers_beyond_the_range_of_floats_are_shortened() -> None:
    solver = Solver.of(matrix([[1, 0, 0]]))
    images = matrix([[0, 3**800, 1], [0, 1, 5**700]])
    x = vector([1, 7**500, -(2**2000)])
    short = Reducer(solver.kernel, images)(x)
    assert short[0] == 1
    assert max(map(abs, times(images, short))) <= max(map(abs, times(images, x)))


def test_images_of_a_short_kernel_are_short() -> None:
    """The lattice spanned by (10^6, 1), (10^6 + 1, 1) is ℤ²: reduced images are unit vectors."""
    kernel = np.eye(2, dtype=np.int64)
    images = np.array([[10**6, 10**6 + 1], [1, 1]])
    found = integers.product(images, short_kernel(kernel, images))
    assert sorted(map(tuple, np.abs(found).tolist())) == [(0, 1), (1, 0)]
