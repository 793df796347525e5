"""Coordinates of the vectors u and v of a head of width one, such that all logits are integers.

u and v matter only through E⁽ᵗ⁾u and v·e_t, which must be integers for all t. There are two ways:

  lattice   u and v in a basis of *all* such vectors, LLL-reduced for short images
            (constructions/exact/lattice.py): the shortest logits, for data of moderate size;
  plain     integer combinations of the coordinates, not reduced, for large data. Here u is
            supported on a few coordinates, enough to tell the rows of every context apart.

Only numerators appear: if D·E x = k, with D the common denominator, then E (D x) = k.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from flint import fmpq, fmpq_mat, fmpz_mat

from attncert.constructions.arrays import IntArray, IntegerArray, ObjectArray
from attncert.constructions.data.conversion import narrow
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.exact import integers
from attncert.constructions.exact.lattice import Coordinates, image_lattice, integral
from attncert.constructions.exact.modular import UnluckyPrime, residues, row_reduced
from attncert.constructions.search.steering import Reducer, Solver

_LATTICE_WORK = 2**25  # rows·d² up to which all images are LLL-reduced
_LATTICE_WIDTH = 96  # d up to which a group's kernel is reduced
_SUPPORT = 24  # coordinates of the first support of u
_KERNEL = 3  # random kernel vectors, if there is no reduced basis


def key_coordinates(data: Dataset, seed: int) -> Coordinates:
    """The images of u, (T or 1, n, k)."""
    count, n, d = data.contexts.shape
    if count * n * d * d <= _LATTICE_WORK:
        return image_lattice(data.contexts)
    rng = np.random.default_rng(seed)
    size = min(_SUPPORT, d)
    while True:
        support = np.sort(rng.permutation(d)[:size])
        images = data.contexts.stored[:, :, support]
        images = images if images.dtype == object else images.astype(np.int64)
        if size == d or _rows_differ(images, rng):
            scale = fmpq(data.contexts.denominator)
            return Coordinates(_units(d, support) * scale, images)
        size = min(2 * size, d)


def query_coordinates(data: Dataset) -> Coordinates:
    """The images of v, (T, k)."""
    T, d = data.queries.shape
    if _reduces_queries(T, d):
        return image_lattice(data.queries)
    units = _units(d, np.arange(d)) * fmpq(data.queries.denominator)
    return Coordinates(units, data.queries.numerators)


class GroupQueries:
    """R y = b over the integers, R (g, k) the images of a group's queries. kernel: a basis of R y =
    0, or a few vectors; R y = f_t·1_t has a solution for the factors f_t. Raises UnluckyPrime if
    the group is dependent mod `prime`."""

    def __init__(self, images: IntegerArray, group: Sequence[int], prime: int, seed: int) -> None:
        self._rows, self._seed = images[list(group)], seed
        self._solver: Solver | None = None
        if _reduces_queries(*images.shape):
            self._solver = Solver.of(self._rows)
            self._reducer = Reducer(self._solver.kernel, images)
        else:
            self._square, self._pivots = _square(self._rows, prime)

    @cached_property
    def kernel(self) -> IntegerArray:
        if self._solver is not None:
            return self._reducer.kernel
        return self._random_kernel(np.random.default_rng(self._seed))

    @cached_property
    def factors(self) -> list[int]:
        if self._solver is not None:
            return [self._solver.factor(x) for x in np.eye(len(self._rows), dtype=np.int64)]
        return [abs(int(self._square.det()))] * len(self._rows)

    def solve(self, multiples: Sequence[int]) -> IntegerArray:
        """An integer y with R y = (multiples[t]·f_t)_t. If there is a reducer, it makes the
        products of y with the other queries short."""
        if self._solver is not None:
            b = [int(j) * f for j, f in zip(multiples, self.factors, strict=True)]
            return self._reducer(self._solver.solve(narrow(b, (len(b),))))
        return self._solution(np.array(multiples)[:, None])[:, 0]

    def _solution(self, right: IntegerArray) -> ObjectArray:
        """Y (k, m), 0 off the pivot columns, with R Y = |det|·right."""
        solution = self._square.solve(integers.to_flint(right)) * self.factors[0]
        out = np.zeros((self._rows.shape[1], right.shape[1]), dtype=object)
        out[self._pivots] = integers.from_flint(integral(solution))
        return out

    def _random_kernel(self, rng: np.random.Generator) -> IntegerArray:
        """A few random integer vectors y with R y = 0: (k, m).

        They are |det|·w, w random off the pivots, minus the solution of R y = |det|·R w. A linear
        form that is not 0 on the whole kernel vanishes at each of them with probability at most
        2^-20.
        """
        k = self._rows.shape[1]
        free = np.setdiff1d(np.arange(k), self._pivots)
        if not len(free):
            return np.zeros((k, 0), dtype=np.int64)
        w = np.zeros((k, _KERNEL), dtype=np.int64)
        w[free] = rng.integers(-(2**19), 2**19, (len(free), _KERNEL), endpoint=True)
        back = self._solution(integers.product(self._rows, w))
        return integers.subtract(integers.multiply(self.factors[0], w), back)


def _reduces_queries(T: int, d: int) -> bool:
    return T * d * d <= _LATTICE_WORK and d <= _LATTICE_WIDTH


def _rows_differ(images: IntegerArray, rng: np.random.Generator) -> bool:
    """Whether one random u shows that the rows of every context (T, n, k) differ."""
    k = images.shape[2]
    bound = max(2, min(2**60, 2**52 // max(1, integers.largest(images) * k)))
    u: IntArray = rng.integers(-bound, bound, (k,), endpoint=True)
    flat = integers.product(images.reshape(-1, k), u[:, None])
    ordered = np.sort(flat.reshape(images.shape[:2]), axis=1)
    return bool((ordered[:, 1:] > ordered[:, :-1]).all())


def _units(d: int, support: IntArray) -> fmpq_mat:
    out = np.zeros((d, len(support)), dtype=np.int64)
    out[support, np.arange(len(support))] = 1
    return fmpq_mat(integers.to_flint(out))


def _square(rows: IntegerArray, prime: int) -> tuple[fmpz_mat, list[int]]:
    """An invertible square block of the rows (g, k), and its columns (the first independent)."""
    for columns in (2 * len(rows), rows.shape[1]):  # usually the first 2g are enough
        _, pivots = row_reduced(residues(rows[:, :columns], prime), prime)
        if len(pivots) == len(rows):
            return integers.to_flint(rows[:, pivots]), pivots
    raise UnluckyPrime
