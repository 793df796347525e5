"""Exact arithmetic on integer arrays: int64 while the result provably fits, Python integers beyond.

Every function returns int64 where the sizes of its inputs prove that this is enough, object (Python
int) otherwise; nothing ever wraps.
"""

from __future__ import annotations

import math

import numpy as np
from flint import fmpz_mat

from attncert.constructions.arrays import IntegerArray
from attncert.constructions.data.exact_array import narrow

_LIMIT = 2**62
_SHORTEST_LIMB = 16  # bits


def product(a: IntegerArray, b: IntegerArray) -> IntegerArray:
    """The matrix product a·b of 2-D integer arrays.

    Where the entries of a are short, those of b are cut into limbs b = Σ_k b_k 2^(wk), |b_k| < 2^w,
    with all sums of a·b_k below 2^53: exact in float64. The limbs of negative numbers are negative.
    """
    width = 53 - (max(largest(a), 1) * max(a.shape[1], 1)).bit_length()
    long = largest(b).bit_length()
    if long <= width:
        return (a.astype(np.float64) @ b.astype(np.float64)).astype(np.int64)
    if width < _SHORTEST_LIMB:
        return from_flint(to_flint(a) * to_flint(b))
    sign, size, columns = np.sign(b), np.abs(b).astype(object), b.shape[1]
    starts = range(0, long, width)
    limbs = np.hstack([((size >> start) & (2**width - 1)) * sign for start in starts])
    sums = (a.astype(np.float64) @ limbs.astype(np.float64)).astype(np.int64).astype(object)
    total = sums[:, :columns]
    for k, start in enumerate(starts[1:], start=1):
        total = total + (sums[:, k * columns : (k + 1) * columns] << start)
    return narrow(total.ravel().tolist(), total.shape)


def add(a: IntegerArray, b: IntegerArray) -> IntegerArray:
    """a + b, broadcast."""
    return _entrywise(np.add, a, b)


def subtract(a: IntegerArray, b: IntegerArray) -> IntegerArray:
    """a - b, broadcast."""
    return _entrywise(np.subtract, a, b)


def multiply(a: IntegerArray | int, b: IntegerArray) -> IntegerArray:
    """a·b entry by entry, broadcast.

    >>> multiply(2**40, np.array([2**40, -1])).tolist()
    [1208925819614629174706176, -1099511627776]
    """
    if isinstance(a, int):
        a = narrow([a], (1,))
    return _entrywise(np.multiply, a, b)


def largest(array: IntegerArray) -> int:
    """Largest absolute value; 0 for an empty array."""
    return max(abs(int(array.max())), abs(int(array.min()))) if array.size else 0


def to_flint(array: IntegerArray) -> fmpz_mat:
    """A 2-D integer array as a FLINT matrix."""
    return fmpz_mat(*array.shape, array.ravel().tolist())


def from_flint(matrix: fmpz_mat) -> IntegerArray:
    """A FLINT integer matrix as a 2-D integer array."""
    return narrow([int(x) for x in matrix.entries()], (matrix.nrows(), matrix.ncols()))


def null_relation(rows: fmpz_mat) -> list[int] | None:
    """Integers c ≠ 0 with c·rows = 0, no common factor, the first nonzero one positive.

    None if the rows are independent. (verify/ finds its relations with code of its own.)

    >>> null_relation(fmpz_mat([[1, 2], [0, 1], [2, 0]])), null_relation(fmpz_mat([[1, 2]]))
    ([2, -4, -1], None)
    """
    basis, nullity = rows.transpose().nullspace()
    if nullity == 0:
        return None
    column = [int(row[0]) for row in basis.tolist()]
    content = math.gcd(*column) * (1 if next(x for x in column if x) > 0 else -1)
    return [x // content for x in column]


def _entrywise(operation: np.ufunc, a: IntegerArray, b: IntegerArray) -> IntegerArray:
    p, q = largest(a), largest(b)
    dtype = np.int64 if max(p + q, p * q) < _LIMIT else object
    return operation(a.astype(dtype), b.astype(dtype))
