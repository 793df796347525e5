"""Exact rational arrays: integer numerators over one common denominator.

Integers keep their int64 form, so that a data set of 10^8 entries costs eight bytes an entry;
anything wider becomes an object array of Python integers. Either way nothing is rounded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat, fmpz_mat

_INT64 = 2**63 - 1


@dataclass(frozen=True, eq=False)
class ExactArray:
    """`numerators / denominator`, exactly; the denominator is positive and shared by all entries.

    numerators: integer array of any shape, dtype int64 or object (Python integers).

    >>> ExactArray.of([["1/2", 3], [0.25, -1]]).strings()
    [['1/2', '3'], ['1/4', '-1']]
    """

    numerators: np.ndarray
    denominator: int = 1

    @classmethod
    def of(cls, values: Any) -> ExactArray:
        """Exact array of nested lists of int, float (taken as dyadic), Fraction or "p/q"."""
        fractions, shape = _flatten(values)
        denominator = math.lcm(*(q.denominator for q in fractions)) if fractions else 1
        flat = [q.numerator * (denominator // q.denominator) for q in fractions]
        return cls(narrow(flat, shape), denominator)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.numerators.shape

    def __len__(self) -> int:
        return len(self.numerators)

    def __getitem__(self, index: Any) -> ExactArray:
        return ExactArray(self.numerators[index], self.denominator)

    def integer_matrix(self) -> fmpz_mat:
        """The numerators of a 2-D array as a FLINT integer matrix."""
        rows, columns = self.shape
        return fmpz_mat(rows, columns, [int(x) for x in self.numerators.ravel().tolist()])

    def matrix(self) -> fmpq_mat:
        """A 2-D array as a FLINT rational matrix."""
        return fmpq_mat(self.integer_matrix()) / fmpq(self.denominator)

    def floats(self) -> np.ndarray:
        """float64, each entry correctly rounded when it has at most 53 bits above and below."""
        if self.numerators.dtype != object and self.denominator < 2**53:
            return self.numerators / np.float64(self.denominator)
        flat = [_nearest(x, self.denominator) for x in self.numerators.ravel().tolist()]
        return np.array(flat, dtype=np.float64).reshape(self.shape)

    def fractions(self) -> Any:
        """Nested lists of Fraction."""
        return _nest(self.numerators, lambda x: Fraction(x, self.denominator))

    def strings(self) -> Any:
        """Nested lists of "p" or "p/q" in lowest terms: the numbers of the certificate."""
        return _nest(self.numerators, lambda x: str(Fraction(x, self.denominator)))

    def bits(self) -> int:
        """Bits of the largest numerator (absolute value) or of the denominator."""
        flat = self.numerators.ravel()
        top = int(np.abs(flat).max()) if len(flat) else 0
        return max(top.bit_length(), self.denominator.bit_length())


def narrow(flat: Sequence[int], shape: tuple[int, ...]) -> np.ndarray:
    """Python integers as int64 where they all fit (with room to negate), else as objects."""
    if all(-_INT64 <= x <= _INT64 for x in flat):
        return np.array(flat, dtype=np.int64).reshape(shape)
    out = np.empty(len(flat), dtype=object)
    out[:] = [int(x) for x in flat]
    return out.reshape(shape)


def _flatten(values: Any) -> tuple[list[Fraction], tuple[int, ...]]:
    if isinstance(values, (list, tuple)):
        parts = [_flatten(v) for v in values]
        shapes = {shape for _, shape in parts}
        if len(shapes) > 1:
            raise ValueError("ragged")
        inner = shapes.pop() if shapes else ()
        return [q for flat, _ in parts for q in flat], (len(values), *inner)
    return [Fraction(values)], ()


def _nest(array: np.ndarray, leaf: Any) -> Any:
    if array.ndim == 1:
        return [leaf(x) for x in array.tolist()]
    return [_nest(row, leaf) for row in array]


def _nearest(numerator: int, denominator: int) -> float:
    try:
        return numerator / denominator  # int / int rounds correctly
    except OverflowError:
        return math.copysign(math.inf, numerator)
