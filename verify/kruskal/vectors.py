"""Vectors in Q^d, whose entries are exactly the stored numbers.

A float32 or float64 in an array is the dyadic rational that it stores, and a decimal in a text file
has its written value (0.1 is 1/10), so nothing is rounded. Methods use `array` (fast, modulo
primes) and `rows` (exact, FLINT).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, BinaryIO

import numpy as np
from flint import fmpz_mat

from attncert.constructions.arrays import AnyArray, IntArray
from attncert.constructions.brief import in_brief
from attncert.constructions.data import archives, loading
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.exact_array import ExactArray
from attncert.constructions.errors import InputError
from attncert.constructions.foreign import safe_name
from attncert.constructions.numerals import numeral
from attncert.verify.rank.rational import Relation, find_relation, integer_matrix
from attncert.verify.rank.residues import as_table

_NAMES = ("vectors", "queries")


@dataclass(frozen=True, eq=False)
class Vectors:
    """N vectors of width d.

    name: made safe for folder names by `foreign.safe_name`.
    array: (N, d), N, d >= 1, finite; dtype float16/32/64, integer, or object (Python integers).
        It is read-only.
    denominator: the common denominator of rational vectors; `array` holds their numerators.

    >>> v = Vectors.of([[0.5, 1.0], [1.0, 3.0]])
    >>> v.N, v.d, v.rows([1])
    (2, 2, [1, 3])
    >>> Vectors.of([[1.0, float("nan")]])
    Traceback (most recent call last):
    attncert.InputError: vectors[0][1]: must be an integer, a finite float or a string "p/q", not \
nan
    """

    name: str
    array: AnyArray
    denominator: int = 1

    def __post_init__(self) -> None:
        if self.array.ndim != 2 or 0 in self.array.shape:
            raise InputError("vectors", "nonempty, of shape (N, d)", self.array.shape)
        view = self.array.view()
        view.flags.writeable = False
        object.__setattr__(self, "array", view)
        object.__setattr__(self, "name", safe_name(self.name, "vectors"))

    def __repr__(self) -> str:
        return in_brief(self, self.name, N=self.N, d=self.d, dtype=str(self.array.dtype))

    @classmethod
    def of(cls, values: Any, name: str = "vectors") -> Vectors:
        """Vectors from nested lists, a NumPy array or an ExactArray (see
        `verify.rank.residues.as_table`), or the queries of a data set."""
        if isinstance(values, Vectors):
            return values
        if isinstance(values, Dataset):
            return cls.of(values.queries, values.name)
        array = as_table(values, "vectors")
        if isinstance(values, list | tuple) and array.dtype.kind != "f":
            values = ExactArray.of(values, "vectors")
        denominator = values.denominator if isinstance(values, ExactArray) else 1
        return cls(name, array.astype(array.dtype.newbyteorder("="), copy=False), denominator)

    @property
    def N(self) -> int:
        return self.array.shape[0]

    @property
    def d(self) -> int:
        return self.array.shape[1]

    @cached_property
    def sha256(self) -> str:
        """The SHA-256 of the stored numbers: type, shape and content."""
        table = self.array
        digest = hashlib.sha256(f"{table.dtype.str} {table.shape} ".encode())
        if table.dtype == object:
            digest.update(" ".join(numeral(x) for x in table.ravel().tolist()).encode())
        else:
            digest.update(np.ascontiguousarray(table).tobytes())
        return digest.hexdigest()

    def rows(self, indices: Sequence[int]) -> fmpz_mat:
        """Some of the vectors, multiplied by a common positive factor that makes them integers.
        This is cheap for a few vectors."""
        return integer_matrix(self.array[list(indices)])

    def relation(self, indices: Iterable[int]) -> Relation | None:
        """A circuit among these vectors, which are given by distinct indices; None if they are
        independent. Exact.

        A circuit is a dependent set whose proper subsets are all independent. It need not be the
        smallest circuit: see `verify.rank.rational.find_relation`.
        """
        return find_relation(self.array, sorted(int(i) for i in indices))

    def take(self, indices: Sequence[int] | IntArray | int) -> Vectors:
        """Some of the vectors, in this order. An integer k selects the first k vectors."""
        if not isinstance(indices, int):
            return replace(self, array=self.array[np.asarray(indices, dtype=np.intp)])
        if not 1 <= indices <= self.N:
            raise InputError("examples", f"from 1 to {self.N}", indices)
        return replace(self, array=self.array[:indices])


def load_vectors(source: str | os.PathLike[str]) -> Vectors:
    """The vectors in a file, or the queries in bundled data.

    .npz: the array "vectors", else "queries", else the only array; booleans count as 0 and 1. JSON:
    {"vectors": ...}, else the queries of {"contexts", "queries", "labels"}; numbers may be
    integers, decimals, or "p/q". .npy: the vectors as a matrix. .csv: one vector per line. "-"
    means standard input. Raises InputError for unusable input.

    >>> v = load_vectors("digits")
    >>> v.N, v.d, v.array.dtype
    (1782, 16, dtype('int64'))
    """
    name = loading.bundled(source)
    if name:
        return Vectors.of(loading.BUNDLED[name]())
    readers: loading.Readers[Vectors] = {
        "npz": _from_npz,
        "json": _from_json,
        "npy": lambda file, name, label: Vectors.of(archives.read_npy(file, label), name),
        "csv": lambda file, name, label: Vectors.of(loading.read_csv(file, label), name),
    }
    return loading.read_source(source, readers)


def _from_npz(file: BinaryIO, name: str, source: str) -> Vectors:
    def choose(keys: list[str]) -> tuple[str, ...]:
        return (_pick(keys, source),)

    def check(shapes: list[tuple[int, ...]]) -> None:
        if len(shapes[0]) != 2 or 0 in shapes[0]:
            raise InputError("vectors", "nonempty, of shape (N, d)", f"of shape {shapes[0]}")

    (array,) = archives.read_arrays(file, source, choose, check).values()
    return Vectors.of(array, name)


def _from_json(file: BinaryIO, name: str, source: str) -> Vectors:
    fields, title = loading.parse_object(file, name, source)
    numbers = ExactArray.of(fields[_pick(list(fields), source)], "vectors")
    return Vectors.of(numbers, title)


def _pick(keys: list[str], source: str) -> str:
    for key in _NAMES:
        if keys.count(key) == 1:
            return key
    if len(keys) == 1:
        return keys[0]
    names = ", ".join(repr(key[:40]) for key in sorted(keys)[:8]) or "nothing"
    raise InputError(
        source, "a file with one array, or one named vectors or queries", f"of {names}"
    )
