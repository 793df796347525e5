"""A data set for memorization: T examples of (context, query, label), held exactly."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from flint import fmpq_mat

from constructions.errors import InputError
from constructions.exact_array import ExactArray


@dataclass(frozen=True, eq=False)
class Dataset:
    """T examples: contexts E (n×d, rows are tokens), queries e in Q^d, labels y in Q^m.

    contexts: (T, n, d), or (1, n, d) when all examples share one context.
    queries:  (T, d).
    labels:   (T, m).
    Arithmetic: exact rationals (`ExactArray`). Raises InputError where the shapes disagree.

    >>> data = Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, "1/2"]], [5, 7])
    >>> data.T, data.n, data.d, data.m, data.shared
    (2, 2, 2, 1, True)
    """

    contexts: ExactArray
    queries: ExactArray
    labels: ExactArray
    name: str = "data"
    _cache: dict[int, fmpq_mat] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        contexts, queries, labels = self.contexts.shape, self.queries.shape, self.labels.shape
        if len(contexts) != 3 or 0 in contexts:
            raise InputError("contexts", "(T, n, d) or (n, d) numbers, none of them 0", contexts)
        if len(queries) != 2 or 0 in queries:
            raise InputError("queries", "(T, d) numbers, neither of them 0", queries)
        if len(labels) != 2 or 0 in labels:
            raise InputError("labels", "(T,) or (T, m) numbers, neither of them 0", labels)
        if contexts[0] not in (1, queries[0]):
            raise InputError("contexts", f"one for each of the {queries[0]} queries, or one shared",
                             f"{contexts[0]} of them")
        if labels[0] != queries[0]:
            raise InputError("labels", f"one for each of the {queries[0]} queries", labels[0])
        if contexts[2] != queries[1]:
            raise InputError("queries", f"of the contexts' width {contexts[2]}", queries[1])

    @classmethod
    def of(cls, contexts: Any, queries: Any, labels: Any, name: str = "data") -> Dataset:
        """Data set from nested lists (or arrays) of int, float, Fraction or "p/q".

        contexts may be (n, d), shared by all; labels may be (T,).
        """
        return cls(
            _at_rank(_exact("contexts", contexts), 3, axis=0),
            _exact("queries", queries),
            _at_rank(_exact("labels", labels), 2, axis=1),
            name,
        )

    @property
    def T(self) -> int:
        return self.queries.shape[0]

    @property
    def n(self) -> int:
        return self.contexts.shape[1]

    @property
    def d(self) -> int:
        return self.contexts.shape[2]

    @property
    def m(self) -> int:
        return self.labels.shape[1]

    @property
    def shared(self) -> bool:
        """One context for all examples (also when T = 1)."""
        return self.contexts.shape[0] == 1

    def context(self, t: int) -> fmpq_mat:
        """E of example t, n×d, exact."""
        index = 0 if self.shared else t
        if index not in self._cache:
            self._cache[index] = self.contexts[index].matrix()
        return self._cache[index]

    @cached_property
    def query_matrix(self) -> fmpq_mat:
        """All queries as rows, T×d, exact."""
        return self.queries.matrix()

    @cached_property
    def label_matrix(self) -> fmpq_mat:
        """All labels as rows, T×m, exact."""
        return self.labels.matrix()

    def take(self, examples: Sequence[int] | int) -> Dataset:
        """The data set of these examples, in this order; an integer means the first so many."""
        if isinstance(examples, int):
            if not 1 <= examples <= self.T:
                raise InputError("examples", f"between 1 and the {self.T} there are", examples)
            examples = range(examples)
        index = np.array(examples, dtype=np.intp)
        contexts = self.contexts if self.shared else self.contexts[index]
        return Dataset(contexts, self.queries[index], self.labels[index], self.name)

    def canonical(self) -> dict[str, Any]:
        """The `data` object of a certificate: nested lists of "p" and "p/q"."""
        return {
            "contexts": self.contexts.strings(),
            "queries": self.queries.strings(),
            "labels": self.labels.strings(),
        }

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of the canonical JSON of `canonical()`."""
        text = json.dumps(self.canonical(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


def _exact(argument: str, values: Any) -> ExactArray:
    if isinstance(values, ExactArray):
        return values
    if isinstance(values, np.ndarray):
        return exact_from_numpy(argument, values)
    try:
        return ExactArray.of(values)
    except (ValueError, TypeError, ZeroDivisionError, OverflowError) as error:
        raise InputError(argument, "a full array of finite exact numbers", error) from None


def exact_from_numpy(argument: str, array: np.ndarray) -> ExactArray:
    """Integers as they are; floats of any width as the dyadic rationals they store."""
    if array.dtype.kind in "iu":
        if array.dtype != np.uint64:
            return ExactArray(array.astype(np.int64))
        return ExactArray.of(array.tolist())
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8:
        if not np.isfinite(array).all():
            where = np.argwhere(~np.isfinite(array))[0].tolist()
            raise InputError(argument, "finite numbers", f"{array[tuple(where)]} at {where}")
        return _dyadic(array.astype(np.float64))
    raise InputError(argument, "integers or floats of at most 64 bits", f"dtype {array.dtype}")


def _dyadic(array: np.ndarray) -> ExactArray:
    # x = m·2^e with an integer m of 53 bits; the smallest e over the array is the shared scale.
    mantissa, exponent = np.frexp(array)
    whole, power = (mantissa * 2.0**53).astype(np.int64), exponent.astype(np.int64) - 53
    odd = np.where(whole == 0, 1, whole & -whole)  # lowest set bit: strip trailing zeros
    shift = np.round(np.log2(odd)).astype(np.int64)
    whole, power = whole >> shift, np.where(whole == 0, 0, power + shift)
    low = min(0, int(power.min())) if array.size else 0
    room = int(np.max(power)) - low + 53 if array.size else 0
    if room < 63:
        return ExactArray(whole << (power - low), 2 ** (-low))
    pairs = zip(whole.ravel().tolist(), (power - low).ravel().tolist(), strict=True)
    flat = np.empty(array.size, dtype=object)
    flat[:] = [w << s for w, s in pairs]
    return ExactArray(flat.reshape(array.shape), 2 ** (-low))


def _at_rank(array: ExactArray, rank: int, axis: int) -> ExactArray:
    if len(array.shape) == rank - 1:
        return ExactArray(np.expand_dims(array.numerators, axis), array.denominator)
    return array
