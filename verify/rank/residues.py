"""Tables of vectors, and their exact image modulo p.

A table is a matrix whose rows are the vectors. Its entries are exact. A float is the dyadic
rational m * 2^e, and 2 is invertible modulo an odd prime, so every finite float has a residue.
Integers of any size are reduced directly. A row of fractions is first multiplied by the least
common multiple of its denominators, which changes neither independence nor rank.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from flint import fmpq_mat, fmpz_mat

from attncert.constructions.arrays import AnyArray, FloatArray
from attncert.constructions.data.conversion import objects, on_host
from attncert.constructions.data.exact_array import ExactArray
from attncert.constructions.errors import InputError

_BLOCK = 1 << 15  # entries converted at a time, so that temporaries stay in the cache
_LOWEST, _HIGHEST = -1074, 1024  # exponents e of frexp, x = m * 2^e with 1/2 <= |m| < 1


def as_table(values: Any, name: str = "table") -> AnyArray:
    """`values` as an exact two-dimensional host array of dtype float16/32/64, integer or object.

    values: an array of NumPy, CuPy, PyTorch or another array-API library, any input of
    `ExactArray.of`, or a FLINT matrix over Z or Q. Lists that contain only floats remain floats.
    Object results contain Python integers. Raises InputError for a wrong shape, NaN, infinity,
    complex or extended-precision numbers.

    >>> as_table([[0.5, 2.0], [1.0, -3.0]]).dtype, as_table([[0.5, 2], [1, 3]]).tolist()
    (dtype('float64'), [[1, 4], [2, 6]])
    >>> as_table([["half"]])
    Traceback (most recent call last):
    attncert.InputError: table[0][0]: must be an integer, a finite float or a string "p/q", \
not 'half'
    """
    if isinstance(values, (fmpz_mat, fmpq_mat)):
        values = objects(values.entries(), (values.nrows(), values.ncols()))
    array = values.numerators if isinstance(values, ExactArray) else to_host(values, name)
    if array.ndim != 2:
        raise InputError(name, "a matrix (one vector per row)", f"of shape {array.shape}")
    if array.dtype == object:
        return ExactArray.of(array, name).numerators
    if array.dtype.kind == "b":
        return array.astype(np.int8)
    if array.dtype.kind not in "iuf" or array.dtype.itemsize > 8:
        raise InputError(name, "a matrix of finite real numbers", f"of type {array.dtype}")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        row, column = (int(i) for i in np.argwhere(~np.isfinite(array))[0])
        place = f"{array[row, column]} at row {row}, column {column}"
        raise InputError(name, "a matrix of finite numbers", place)
    return array


def to_host(values: Any, name: str = "table") -> AnyArray:
    """A NumPy array of the same numbers. This is the only explicit transfer from another device."""
    values = on_host(values, name)
    if isinstance(values, np.ndarray):
        return values
    exact = ExactArray.of(values, name).numerators
    floats = exact.ndim == 2 and all(type(x) is float for row in values for x in row)
    return np.array(values, dtype=np.float64) if floats else exact  # `assume` needs the floats


def residues(table: AnyArray, p: int) -> FloatArray:
    """Exact balanced residues of a table from `as_table`: float64, same shape; 11 <= p < 2^26.

    >>> residues(np.array([[0.5, -2.0, 0.0]]), 11).tolist()
    [[-5.0, -2.0, 0.0]]
    >>> residues(np.array([[10**30]], dtype=object), 11).tolist() == [[float(10**30 % 11)]]
    True
    """
    if table.dtype == object:
        flat = np.array([x % p for x in table.ravel().tolist()], dtype=np.float64)
        return _balance(flat, p).reshape(table.shape)
    out = np.empty(table.size, dtype=np.float64)
    flat = np.ascontiguousarray(table).ravel()
    convert = _dyadic_residues if table.dtype.kind == "f" else _integer_residues
    for start in range(0, len(flat), _BLOCK):
        out[start : start + _BLOCK] = convert(flat[start : start + _BLOCK], p)
    return out.reshape(table.shape)


def _integer_residues(x: AnyArray, p: int) -> FloatArray:
    if -(p // 2) <= int(x.min()) and int(x.max()) <= p // 2:
        return x.astype(np.float64)  # already balanced
    wide = x.astype(np.uint64 if x.dtype.kind == "u" else np.int64)
    return _balance(np.remainder(wide, wide.dtype.type(p)).astype(np.float64), p)


def _dyadic_residues(x: AnyArray, p: int) -> FloatArray:
    """Residues of x = m * 2^e = hi * 2^(e-26) + lo * 2^(e-53) with |hi| <= 2^26 and 0 <= lo < 2^27.

    hi * (2^27 mod p) + lo is below 2^26 * 2^25 + 2^27 < 2^53 for p < 2^26, and after one
    reduction its product with the residue of 2^(e-53) is below B^2 < 2^53: every step is exact.
    """
    mantissa, exponent = np.frexp(x.astype(np.float64))
    scaled = mantissa * 2.0**26
    hi = np.floor(scaled)
    lo = (scaled - hi) * 2.0**27
    whole = _mod(hi * float(_centre(pow(2, 27, p), p)) + lo, p)
    return _mod(whole * _powers(p)[exponent - _LOWEST], p)


@functools.lru_cache(maxsize=8)
def _powers(p: int) -> FloatArray:
    """The balanced residues of 2^(e-53) for every exponent e of a finite float64."""
    exact = [_centre(pow(2, e - 53, p), p) for e in range(_LOWEST, _HIGHEST + 1)]
    return np.array(exact, dtype=np.float64)


def _mod(x: FloatArray, p: int) -> FloatArray:
    reduced: FloatArray = x - np.rint(x * (1.0 / p)) * p  # Lemma 1 of arithmetic.py
    return reduced


def _balance(x: FloatArray, p: int) -> FloatArray:
    return np.where(x > p // 2, x - p, x)


def _centre(r: int, p: int) -> int:
    return r - p if r > p // 2 else r
