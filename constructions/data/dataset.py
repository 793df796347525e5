"""A data set for memorization: T examples of (context, query, label), held exactly."""

from __future__ import annotations

import hashlib
import json
import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from flint import fmpq_mat, fmpz_mat

from attncert.constructions.arrays import IntArray
from attncert.constructions.brief import in_brief
from attncert.constructions.data.conversion import on_host
from attncert.constructions.data.exact_array import ExactArray
from attncert.constructions.data.order import Order
from attncert.constructions.errors import InputError
from attncert.constructions.foreign import safe_name

_CACHED = 2**22  # contexts with this many numbers or more are converted at each use
MOST_NUMBERS = 2**25  # the limit, counted after all contexts are padded to the longest
Shape = tuple[int, ...]


class Origin:
    """Where data come from. This class is for data given as numbers; for other origins see
    verify/provenance. Every conclusion about the data rests on `premises`."""

    premises: tuple[Any, ...] = ()

    @property
    def paragraph(self) -> str:
        return ""

    @property
    def blocks(self) -> list[dict[str, Any]]:
        return []

    def stored(self, data: Dataset) -> Dataset:
        return data

    @property
    def inputs(self) -> Mapping[str, Any] | None:
        """The keys in a certificate's `data` that replace contexts and queries, if any."""
        return None

    def of_examples(self, examples: Sequence[int]) -> Origin:
        """The origin of only these examples."""
        return AS_GIVEN

    @property
    def keys(self) -> Mapping[str, Any] | None:
        return None

    @property
    def settings(self) -> Mapping[str, Any]:
        return {}

    def claims(self, data: Dataset) -> list[Any]:
        """Claims that `data` has this origin, checked from the numbers alone."""
        return []

    def words(self, data: Dataset) -> str:
        """Sentences about the data for a conclusion, with a space before each."""
        return ""

    def held(self, certificate: Mapping[str, Any]) -> str:
        """A sentence that says which data a certificate holds, if they are not these examples."""
        return ""


AS_GIVEN = Origin()


@dataclass(frozen=True, eq=False)
class Dataset:
    """T examples: contexts E (n×d, rows are tokens), queries e in Q^d, labels y in Q^m.

    contexts: (T, n, d), or (1, n, d) when all examples share one context. queries: (T, d). stated:
    the labels, (T, m), or None; then `labels` raises InputError, so that nothing can be claimed
    about them. counts: the T numbers of rows, if they differ. Each context is then padded to n
    rows with copies of its first token, which change no span; no head attends to them (`times`).
    `rows(t)` and `context(t)` are the tokens without copies. order: the row of each token, if a row
    stands for several tokens, as in token sequences; `expanded` has a row for each token. Data
    derived from other data count as given, unless `of_origin` is used. Arithmetic: exact rationals
    (`ExactArray`). Raises InputError if the shapes disagree. Source: docs/mathematics.md, section
    1.

    >>> data = Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, "1/2"]], [5, 7])
    >>> data.T, data.n, data.d, data.m, data.shared
    (2, 2, 2, 1, True)
    >>> data = Dataset.of([[[1, 0]], [[0, 1], [1, 1]]], [[1, 2], [3, 4]])
    >>> data.n, data.counts, data.context(0), data.lengths
    (2, (1, 2), [1, 0], '1 to 2')
    >>> Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, 4]], [5, 7, 9])
    Traceback (most recent call last):
    attncert.InputError: labels: must be one for each of the 2 queries, not 3 of them
    """

    contexts: ExactArray
    queries: ExactArray
    stated: ExactArray | None = None
    name: str = "data"
    counts: tuple[int, ...] | None = None
    order: Order | None = None
    origin: Origin = field(default=AS_GIVEN, init=False)
    _cache: dict[int, fmpq_mat] = field(default_factory=dict, init=False, repr=False)

    def __repr__(self) -> str:
        return in_brief(
            self,
            self.name,
            examples=self.T,
            tokens=self.lengths if self.ragged else self.n,
            width=self.d,
            labels=f"{self.m} each" if self.labelled else "none",
            contexts="shared" if self.shared else None,
        )

    def __post_init__(self) -> None:
        stated = None if self.stated is None else self.stated.shape
        shapes = self.contexts.shape, self.queries.shape, stated
        full = full_shapes(*shapes)
        for argument, shape, expected in zip(ARGUMENTS, shapes, full, strict=True):
            if shape != expected:
                raise InputError(argument, f"of shape {expected}", shape)
        if self.order is not None:
            self._count(self.order)
        if self.counts is not None:
            self._fill_up(self.counts)
        object.__setattr__(self, "name", safe_name(self.name, "data"))

    @classmethod
    def of(cls, contexts: Any, queries: Any, labels: Any = None, name: str = "data") -> Dataset:
        """A data set from nested lists, arrays or tensors of int, float, Fraction or "p/q".

        contexts may be (n, d), shared by all, or nested lists of different numbers of tokens;
        labels may be (T,), or None if there are none. Floats are taken exactly.
        """
        tables, counts = filled_up(_on_host(contexts, "contexts"))
        E, e = _exact(tables, "contexts"), _exact(queries, "queries")
        y = None if labels is None else _exact(labels, "labels")
        full = full_shapes(E.shape, e.shape, None if y is None else y.shape)
        stated = y if y is None or full[2] is None else y.reshape(full[2])
        return cls(E.reshape(full[0]), e.reshape(full[1]), stated, name, counts)

    def __reduce__(self) -> tuple[Any, ...]:  # cached values are not pickled
        numbers = (
            self.contexts, self.queries, self.stated, self.name, self.counts, self.order
        )  # fmt: skip
        return Dataset, numbers, {"origin": self.origin}

    def of_origin(self, origin: Origin) -> Dataset:
        """The same data with this origin."""
        same = replace(self)
        object.__setattr__(same, "origin", origin)
        return same

    @property
    def T(self) -> int:
        return self.queries.shape[0]

    @property
    def n(self) -> int:
        """The number of rows of the longest context, one for each token if none is repeated."""
        return self.contexts.shape[1]

    @property
    def longest(self) -> int:
        """The number of tokens in the longest context."""
        return self.n if self.order is None else max(tokens for _, tokens in self.order.examples)

    @property
    def ragged(self) -> bool:
        """Whether contexts differ in their numbers of tokens or repeat tokens."""
        return self.counts is not None or self.order is not None

    @property
    def lengths(self) -> str:
        """The numbers of tokens in words: "3", or "1 to 3"."""
        least, most = min(map(self.tokens, range(self.T))), self.longest
        return str(most) if least == most else f"{least} to {most}"

    @cached_property
    def times(self) -> IntArray | None:
        """How often each row of `contexts` is a token, (T, n): 0 for padding. None if always 1."""
        if self.order is not None:
            return self.order.counts(self.n)
        if self.counts is None:
            return None
        return (np.arange(self.n) < np.array(self.counts)[:, None]).astype(np.int64)

    @property
    def d(self) -> int:
        return self.contexts.shape[2]

    @property
    def m(self) -> int:
        """The width of a label; 1 without labels, since a layer outputs at least one number."""
        return 1 if self.stated is None else self.stated.shape[1]

    @property
    def labelled(self) -> bool:
        return self.stated is not None

    @property
    def labels(self) -> ExactArray:
        """The labels, (T, m). Raises InputError if there are none."""
        if self.stated is None:
            raise InputError(
                "labels", "given (prove --claim full-rank needs no labels)", "left out"
            )
        return self.stated

    @property
    def shared(self) -> bool:
        """Whether all examples have one context (also true if T = 1)."""
        return self.contexts.shape[0] == 1

    def tokens(self, t: int) -> int:
        """The number of tokens in the context of example t."""
        return self.kinds(t) if self.order is None else len(self.order[t])

    def kinds(self, t: int) -> int:
        """The number of rows of `contexts` that are tokens of example t."""
        return self.n if self.counts is None else self.counts[t]

    @property
    def token_counts(self) -> list[int] | None:
        """The field `tokens` of a certificate, if counts differ and the data are not sequences."""
        counts = [self.tokens(t) for t in range(self.T)] if self.ragged else []
        return counts if len(set(counts)) > 1 and self.origin.inputs is None else None

    def rows(self, t: int) -> ExactArray:
        """The tokens of example t in their order, (tokens(t), d)."""
        if self.order is not None:
            return self.contexts[t, self.order[t]]
        return self.contexts[0 if self.shared else t, : self.tokens(t)]

    def expanded(self) -> Dataset:
        """The same data with a row for each token. Raises InputError if they are too large."""
        if self.order is None:
            return self
        counts = [self.tokens(t) for t in range(self.T)]
        require_room(self.T * max(counts) * self.d)
        first = np.zeros((self.T, max(counts)), dtype=np.intp)
        for t, row in enumerate(first):
            row[: counts[t]] = self.order[t]
        contexts = self.contexts[np.arange(self.T)[:, None], first]
        rest = tuple(counts) if len(set(counts)) > 1 else None
        plain = Dataset(contexts, self.queries, self.stated, self.name, rest)
        return plain.of_origin(self.origin)

    def merged(self) -> Dataset:
        """The same data with one row for all equal tokens of a context, if contexts are not shared:
        the inverse of `expanded`.

        >>> data = Dataset.of([[[1, 0], [2, 3], [1, 0]], [[4, 0]]], [[1, 2], [3, 4]])
        >>> data.merged().n, data.merged().times.tolist()
        (2, [[2, 1], [1, 0]])
        """
        orders, firsts = list[list[int]](), list[list[int]]()
        for t in range(self.T):
            known = dict[tuple[int, ...], int]()
            rows = map(tuple, self.rows(t).numerators.tolist())
            orders.append([known.setdefault(row, len(known)) for row in rows])
            firsts.append([orders[t].index(k) for k in range(len(known))])
        most = max(map(len, firsts))
        places = np.array([some + [0] * (most - len(some)) for some in firsts])
        contexts = self.contexts[np.arange(self.T)[:, None], places]
        plain = Dataset(contexts, self.queries, self.stated, self.name, order=Order.of(orders))
        return plain.of_origin(self.origin)

    def context(self, t: int) -> fmpq_mat:
        """E of example t, tokens(t)×d, exact."""
        index = 0 if self.shared else t
        if index in self._cache:
            return self._cache[index]
        matrix = self.rows(t).matrix()
        if self.contexts.stored.size <= _CACHED:
            self._cache[index] = matrix
        return matrix

    @cached_property
    def token_rows(self) -> fmpz_mat:
        """Numerators of `contexts`, with all rows in one matrix: (T·n or n)×d integers."""
        return self.contexts.reshape((-1, self.d)).integer_matrix()

    @cached_property
    def query_matrix(self) -> fmpq_mat:
        """All queries as rows, T×d, exact."""
        return self.queries.matrix()

    @cached_property
    def label_matrix(self) -> fmpq_mat:
        """All labels as rows, T×m, exact."""
        return self.labels.matrix()

    def take(self, examples: Sequence[int] | int) -> Dataset:
        """The data set of these examples, in this order; an integer k means the first k."""
        if not isinstance(examples, (Sequence, np.ndarray)):
            count = operator.index(examples)
            if not 1 <= count <= self.T:
                raise InputError("examples", f"from 1 to {self.T}, the number of examples", count)
            examples = range(count)
        if not len(examples):
            raise InputError("examples", "one or more", "none")
        for t in examples:
            if not 0 <= t < self.T:
                raise InputError("examples", f"indices from 0 to {self.T - 1}", t)
        index = np.array(examples, dtype=np.intp)
        counts = None if self.counts is None else tuple(self.counts[t] for t in index)
        most = max(counts or [self.n])
        contexts = self.contexts if self.shared else self.contexts[index, :most]
        order = None if self.order is None else self.order.take(index.tolist())
        stated = None if self.stated is None else self.stated[index]
        counts = None if len(set(counts or ())) < 2 else counts
        some = Dataset(contexts, self.queries[index], stated, self.name, counts, order)
        return some.of_origin(self.origin.of_examples(index.tolist()))

    def canonical(self) -> dict[str, Any]:
        """The `data` object of a certificate: nested lists of "p" and "p/q". Zeros stand for
        missing labels, since the format has no optional keys."""
        inputs = self.origin.inputs
        tables = ARGUMENTS if inputs is None else ("labels",)
        written = {name: [part.strings() for part in self._parts(name)] for name in tables}
        return {**(inputs or {}), **written}

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of the canonical JSON of `canonical()`, computed in pieces."""
        return self.hashed()

    def hashed(self) -> str:
        """`sha256`, recomputed in case numbers have changed, even in a cached matrix."""
        digest = hashlib.sha256()
        for piece in self._canonical_json():
            digest.update(piece.encode("ascii"))
        for name, numbers in (("query_matrix", self.queries), ("label_matrix", self.stated)):
            cached = self.__dict__.get(name)
            if numbers is not None and cached is not None and cached != numbers.matrix():
                digest.update(name.encode("ascii"))
        return digest.hexdigest()

    def _canonical_json(self) -> Iterator[str]:
        """JSON with sorted keys and no white space, in pieces: each context, query and label."""
        if self.origin.inputs is not None:
            yield json.dumps(self.canonical(), sort_keys=True, separators=(",", ":"))
            return
        for k, argument in enumerate(sorted(ARGUMENTS)):
            yield f'{"," if k else "{"}"{argument}":'
            for i, part in enumerate(self._parts(argument)):
                yield ("," if i else "[") + part.json()
            yield "]"
        yield "}"

    def _parts(self, argument: str) -> Iterator[ExactArray]:
        """The context, query or label of each example."""
        if argument == "contexts":
            return (self.rows(t) for t in range(len(self.contexts)))
        if argument == "labels" and self.stated is None:
            return (ExactArray(np.zeros(1, np.int64)) for _ in range(self.T))
        array: ExactArray = getattr(self, argument)
        return (array[i] for i in range(len(array)))

    def _count(self, order: Order) -> None:
        """Set `counts` from the order, and drop an order in which no row is repeated."""
        repeats = order.counts(self.n)
        kinds = tuple((repeats > 0).sum(axis=1).tolist())
        if len(kinds) != self.T or not all(repeats[t, :k].all() for t, k in enumerate(kinds)):
            raise InputError("order", "row numbers of each context, from 0 without gaps", "others")
        object.__setattr__(self, "counts", kinds if len(set(kinds)) > 1 else None)
        object.__setattr__(self, "order", order if repeats.max() > 1 else None)

    def _fill_up(self, counts: tuple[int, ...]) -> None:
        """Replace the rows after the tokens of a context by copies of its first token."""
        if not (len(counts) == len(self.contexts) and 1 <= min(counts) < max(counts) == self.n):
            must = f"{self.T} numbers from 1 to {self.n}, not all equal"
            raise InputError("counts", must, counts)
        stored, there = self.contexts.stored, np.arange(self.n) < np.array(counts)[:, None]
        filled = np.where(there[:, :, None], stored, stored[:, :1])
        contexts = ExactArray(filled, self.contexts.denominator)
        object.__setattr__(self, "contexts", contexts)


ARGUMENTS = ("contexts", "queries", "labels")


def full_shapes(
    contexts: Shape, queries: Shape, labels: Shape | None
) -> tuple[Shape, Shape, Shape | None]:
    """The full shapes of data; contexts may be (n, d), and labels (T,). Raises InputError."""
    if len(contexts) not in (2, 3) or 0 in contexts:
        raise InputError("contexts", "nonempty, of shape (T, n, d) or (n, d)", contexts)
    if len(queries) != 2 or 0 in queries:
        raise InputError("queries", "nonempty, of shape (T, d)", queries)
    if labels is not None and (len(labels) not in (1, 2) or 0 in labels):
        raise InputError("labels", "nonempty, of shape (T,) or (T, m)", labels)
    contexts = contexts if len(contexts) == 3 else (1, *contexts)
    labels = (*labels, 1) if labels is not None and len(labels) == 1 else labels
    T, d = queries
    if contexts[0] not in (1, T):
        must = f"one for each of the {T} queries, or one shared by all"
        raise InputError("contexts", must, f"{contexts[0]} of them")
    if labels is not None and labels[0] != T:
        raise InputError("labels", f"one for each of the {T} queries", f"{labels[0]} of them")
    if contexts[2] != d:
        raise InputError("queries", f"as wide as the contexts' rows, {contexts[2]}", d)
    return contexts, queries, labels


def _exact(x: Any, argument: str) -> ExactArray:
    return x if isinstance(x, ExactArray) else ExactArray.of(x, argument)


def _on_host(x: Any, argument: str) -> Any:
    x = on_host(x, argument)
    return [on_host(part, argument) for part in x] if isinstance(x, list | tuple) else x


def filled_up(contexts: Any) -> tuple[Any, tuple[int, ...] | None]:
    """Nested lists with different numbers of tokens, each padded with copies of its first token,
    and their lengths; other values are unchanged. Raises InputError if the result is too large.

    >>> filled_up([[[1, 0]], [[0, 1], [2, 3]]])
    ([[[1, 0], [1, 0]], [[0, 1], [2, 3]]], (1, 2))
    """
    lists = (list, tuple, np.ndarray)
    if not (
        isinstance(contexts, (list, tuple))
        and all(isinstance(table, lists) for table in contexts)
        and all(isinstance(row, lists) for table in contexts for row in table)
    ):
        return contexts, None
    counts = tuple(len(table) for table in contexts)
    if len(set(counts)) < 2 or 0 in counts:
        return contexts, None
    widest = max(1, *(len(row) for table in contexts for row in table))
    require_room(len(counts) * max(counts) * widest)
    longest = max(counts)
    return [[*table, *[table[0]] * (longest - len(table))] for table in contexts], counts


def require_room(numbers: int) -> None:
    if numbers > MOST_NUMBERS:
        must = f"of at most {MOST_NUMBERS:,} numbers, with each context padded to the longest"
        raise InputError("contexts", must, f"of {numbers:,}")
