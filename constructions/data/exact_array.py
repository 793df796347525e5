"""Exact rational arrays: integer numerators over one common denominator.

Small integers keep their dtype, so that a data set of 10^8 bytes takes no more memory than that;
integers of more than 64 bits become Python integers. Nothing is rounded.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat, fmpz, fmpz_mat

from attncert.constructions.arrays import AnyArray, FloatArray, IntegerArray
from attncert.constructions.brief import in_brief
from attncert.constructions.data.conversion import (
    OF_DATA,
    Longest,
    from_array,
    from_lists,
    narrow,
    on_host,
)
from attncert.constructions.numerals import numeral

_SMALL = 2**20  # arrays of fewer entries are widened to int64


@dataclass(frozen=True, eq=False)
class ExactArray:
    """`numerators / denominator`, exactly. The numerators are stored in a signed integer dtype, or
    as Python integers in an object array. For arithmetic, use `numerators`, which is never narrower
    than int64: int8 would overflow silently.

    >>> ExactArray.of([["1/2", 3], [0.25, -1]]).strings()
    [['1/2', '3'], ['1/4', '-1']]
    """

    stored: IntegerArray
    denominator: int = 1

    def __repr__(self) -> str:
        return in_brief(self, shape=self.shape, denominator=self.denominator)

    def __post_init__(self) -> None:
        if self.stored.dtype.kind not in "iO" or self.denominator < 1:
            raise TypeError(f"not integers over a positive denominator: {self.stored.dtype}")

    @classmethod
    def of(cls, values: Any, argument: str = "values", longest: Longest = OF_DATA) -> ExactArray:
        """The exact array made from nested lists of int, float (a dyadic rational), Fraction or
        "p/q", a NumPy array, a tensor, or the like. Raises InputError, which names the place."""
        values = on_host(values, argument)
        if not isinstance(values, np.ndarray):
            return cls(*from_lists(argument, values, longest))
        stored, denominator = from_array(argument, values)
        if stored.dtype != object and stored.size < _SMALL:
            stored = stored.astype(np.int64)
        return cls(stored, denominator)

    @classmethod
    def of_matrix(cls, matrix: fmpq_mat) -> ExactArray:
        """The exact array of the entries of a FLINT rational matrix."""
        whole, denominator = matrix.numer_denom()
        flat = [int(x) for x in whole.entries()]
        return cls(narrow(flat, (matrix.nrows(), matrix.ncols())), int(denominator))

    @property
    def numerators(self) -> IntegerArray:
        """The numerators as int64 or object, copied if they are stored narrower; so slice first."""
        wide = self.stored.dtype.itemsize == 8
        return self.stored if wide else self.stored.astype(np.int64)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.stored.shape

    def __len__(self) -> int:
        return len(self.stored)

    def __getitem__(self, index: Any) -> ExactArray:
        return ExactArray(np.asarray(self.stored[index]), self.denominator)

    def reshape(self, shape: tuple[int, ...]) -> ExactArray:
        return ExactArray(self.stored.reshape(shape), self.denominator)

    def integer_matrix(self) -> fmpz_mat:
        """The numerators of a 2-D array as a FLINT integer matrix."""
        rows, columns = self.shape
        return fmpz_mat(rows, columns, self.stored.ravel().tolist())

    def matrix(self) -> fmpq_mat:
        """A 2-D array as a FLINT rational matrix."""
        return fmpq_mat(self.integer_matrix()) / fmpq(self.denominator)

    def floats(self) -> FloatArray:
        """The nearest float64 of each entry, ±inf beyond the largest."""
        if self.stored.dtype != object and max(self._largest(), self.denominator) <= 2**53:
            return self.stored / np.float64(self.denominator)  # both are exact, so this rounds once
        flat = [_nearest(x, self.denominator) for x in self.stored.ravel().tolist()]
        return np.array(flat, dtype=np.float64).reshape(self.shape)

    def fractions(self) -> Any:
        """Nested lists of Fraction."""
        return _nest(self.stored, lambda x: Fraction(x, self.denominator))

    def strings(self) -> Any:
        """Nested lists of "p" or "p/q" in lowest terms: the numbers of the certificate."""
        if self.denominator > 1:
            bottom = fmpz(self.denominator)
            return _nest(self.stored, lambda x: numeral(fmpq(x, bottom)))
        return _nest(self.stored, numeral if self.stored.dtype == object else str)

    def json(self) -> str:
        """The JSON of `strings()`, without white space; one-byte integers come from a table."""
        if self.denominator > 1 or self.stored.dtype.itemsize > 1:
            return json.dumps(self.strings(), separators=(",", ":"))
        low, high = int(self.stored.min()), int(self.stored.max())
        table = np.array([f'"{x}",'.encode() for x in range(low, high + 1)])
        return _joined(table[self.stored.astype(np.int64) - low]).decode()

    def bits(self) -> int:
        """Bits of the longest numerator, or of the denominator if that is longer."""
        return max(self._largest().bit_length(), self.denominator.bit_length())

    def _largest(self) -> int:
        """Largest absolute value of the numerators."""
        if self.stored.size == 0:
            return 0
        return max(int(self.stored.max()), -int(self.stored.min()))


def _nest(array: IntegerArray, leaf: Callable[[int], Any]) -> Any:
    if array.ndim == 0:
        return leaf(array.item())
    if array.ndim == 1:
        return [leaf(x) for x in array.tolist()]
    return [_nest(row, leaf) for row in array]


def _joined(cells: AnyArray) -> bytes:
    """A JSON list made of cells that end in a comma and are padded with NUL."""
    if cells.ndim == 1:
        return b"[" + cells.tobytes().translate(None, b"\0")[:-1] + b"]"
    return b"[" + b",".join(map(_joined, cells)) + b"]"


def _nearest(numerator: int, denominator: int) -> float:
    try:
        return numerator / denominator  # int / int rounds correctly
    except OverflowError:
        return math.inf if numerator > 0 else -math.inf
