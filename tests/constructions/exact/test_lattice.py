"""Image lattices, kernels and right inverses: exact, saturated, and short."""

from __future__ import annotations

from fractions import Fraction
from math import lcm

import pytest
from flint import fmpq, fmpq_mat, fmpz_mat
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.oracles import rank

from attncert.constructions.data.exact_array import ExactArray
from attncert.constructions.exact.integers import to_flint
from attncert.constructions.exact.lattice import image_lattice, integral, kernel_and_preimages

entries = st.one_of(st.integers(-4, 4), st.sampled_from([2**31, -(2**62), 2**64 + 1, 10**30]))


@st.composite
def matrices(draw: st.DrawFn, max_rows: int = 5, max_columns: int = 4) -> list[list[int]]:
    columns = draw(st.integers(1, max_columns))
    row = st.lists(entries, min_size=columns, max_size=columns)
    return draw(st.lists(row, min_size=1, max_size=max_rows))


def fractions(matrix: fmpq_mat | fmpz_mat) -> list[list[Fraction]]:
    return [
        [Fraction(int(x.p), int(x.q)) for x in row] for row in fmpq_mat(matrix).tolist()
    ]  # fmt: skip


def lattice_of(rows: list[list[int]]) -> tuple[fmpq_mat, fmpz_mat]:
    lattice = image_lattice(ExactArray.of(rows))
    return lattice.basis, to_flint(lattice.images)


@settings(max_examples=60, deadline=None)
@given(matrices())
@example([[0, 0], [0, 0]])
@example([[2, 4], [4, 8]])
@example([[6]])
def test_images_are_the_products_with_the_basis(rows: list[list[int]]) -> None:
    basis, images = lattice_of(rows)
    assert images.ncols() == rank(rows)
    assert (basis.nrows(), basis.ncols()) == (len(rows[0]), rank(rows))
    assert (images.nrows(), images.ncols()) == (len(rows), rank(rows))
    if images.ncols():
        assert fmpq_mat(fmpz_mat(rows)) * basis == fmpq_mat(images)


@settings(max_examples=60, deadline=None)
@given(matrices(max_rows=4, max_columns=3), st.data())
def test_every_integer_point_of_the_column_space_is_reached(
    rows: list[list[int]], data: st.DataObject
) -> None:
    """Saturation: an integer vector rows·x, with x rational, is images·c with c *integral*."""
    _, images = lattice_of(rows)
    if images.ncols() == 0:
        assert not any(any(row) for row in rows)
        return
    x = [Fraction(data.draw(st.integers(-6, 6)), data.draw(st.integers(1, 6))) for _ in rows[0]]
    image = [sum(Fraction(a) * b for a, b in zip(row, x, strict=True)) for row in rows]
    # Scaled to integers by its least common denominator, the point is still in the column space.
    least = lcm(*(y.denominator for y in image))
    target = [int(y * least) for y in image]
    table = fractions(images)
    chosen = _independent_rows(table, images.ncols())
    square = fmpq_mat([[fmpq(int(z)) for z in table[i]] for i in chosen])
    wanted = fmpq_mat([[fmpq(target[i])] for i in chosen])
    coefficients = square.solve(wanted)
    assert all(c.q == 1 for c in coefficients.entries())
    assert images * integral(coefficients) == fmpz_mat([[y] for y in target])


def test_planted_saturation() -> None:
    """Rows 2·e_1 and 4·e_2: x = (1/2, 1/4) has products (1, 1), so the images are all of ℤ²."""
    basis, images = lattice_of([[2, 0], [0, 4]])
    assert abs(images.det()) == 1
    assert sorted(abs(x) for x in basis.entries() if x) == [fmpq(1, 4), fmpq(1, 2)]


def test_images_are_short_where_the_basis_is_skew() -> None:
    """(1, 10^6) and (0, 1) generate ℤ²: the reduced images of two such rows have length 1."""
    _, images = lattice_of([[1, 10**6], [0, 1]])
    assert max(abs(x) for x in images.entries()) == 1


@settings(max_examples=60, deadline=None)
@given(matrices(max_rows=3, max_columns=5))
@example([[1, 2, 3]])
@example([[2, 0], [0, 2]])
@example([[0, 0]])
def test_kernel_and_preimages(rows: list[list[int]]) -> None:
    r, k = len(rows), len(rows[0])
    matrix = fmpz_mat(rows)
    if rank(rows) < r:
        with pytest.raises(ValueError, match="dependent"):
            kernel_and_preimages(matrix)
        return
    kernel, preimages, reach = kernel_and_preimages(matrix)
    assert (kernel.nrows(), kernel.ncols()) == (k, k - r)
    assert matrix * kernel == fmpz_mat(r, k - r)
    assert matrix * preimages == reach
    # [K X] is unimodular: K spans *all* of the integer kernel, and `reach` spans the whole image
    # lattice.
    whole = [a + b for a, b in zip(kernel.tolist(), preimages.tolist(), strict=True)]
    assert abs(fmpz_mat(whole).det()) == 1


def _independent_rows(rows: list[list[Fraction]], wanted: int) -> list[int]:
    chosen: list[int] = []
    for i in range(len(rows)):
        if rank([rows[j] for j in (*chosen, i)]) > len(chosen):
            chosen.append(i)
    assert len(chosen) == wanted
    return chosen
