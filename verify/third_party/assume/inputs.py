"""The data of `attncert assume`: queries of all inputs, and contexts of some."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from attncert.constructions.arrays import AnyArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.rank.residues import as_table

Contexts = Iterator[tuple[int, AnyArray]]


@dataclass(frozen=True, repr=False)
class LayerInputs:
    """The inputs of one layer.

    queries: one for each of the N inputs. tokens: n, or the length of the longest context if
    lengths differ; `shortest` is then the shortest length. with_context: the inputs whose context
    is given. contexts() yields these contexts, (n, d) each, with their numbers, but a context that
    all inputs share (`shared`) only once.
    """

    queries: Vectors
    tokens: int
    with_context: tuple[int, ...]
    contexts: Callable[[], Contexts]
    shared: bool = False
    shortest: int | None = None

    @classmethod
    def of(cls, data: Any, tokens: int | None = None) -> LayerInputs:
        """The queries and contexts of a data set, or vectors that `Vectors.of` accepts, as queries
        without contexts, for this number of tokens. Raises InputError.

        >>> LayerInputs.of([[1, 0, 0], [0, 1, 0]], tokens=2).queries
        Vectors('vectors', N=2, d=3, dtype='int64')
        """
        if isinstance(data, LayerInputs):
            return data
        queries = Vectors.of(data)
        if isinstance(data, Dataset) and tokens is None:
            data = data.expanded()
            shortest = None if data.counts is None else min(data.counts)
            numbers = range(len(data.contexts))
            contexts = partial(map, lambda t: (t, as_table(data.rows(t))), numbers)
            given = tuple(range(data.T))
            return cls(queries, data.n, given, contexts, data.shared, shortest)
        if tokens is None:
            raise InputError("tokens", "given if there are no contexts", "left out")
        return cls(queries, tokens, (), lambda: iter(()))

    def take(self, count: int) -> LayerInputs:
        numbers = tuple(i for i in self.with_context if i < count)
        some = replace(
            self,
            queries=self.queries.take(count),
            with_context=numbers,
            contexts=lambda: (each for each in self.contexts() if each[0] < count),
        )
        if self.shortest is None or not numbers:
            return some
        lengths = {len(context) for _, context in some.contexts()}
        shortest = min(lengths) if len(lengths) > 1 else None
        return replace(some, tokens=max(lengths), shortest=shortest)

    @property
    def name(self) -> str:
        return self.queries.name

    @property
    def lengths(self) -> str:
        """The number of tokens of a context as text, such as "3" or "1 to 3"."""
        return (f"{self.shortest:,} to " if self.shortest else "") + f"{self.tokens:,}"

    @property
    def N(self) -> int:
        return self.queries.N

    @property
    def d(self) -> int:
        return self.queries.d

    @cached_property
    def repeats(self) -> tuple[tuple[int, ...], ...]:
        """The classes of two or more inputs with equal queries, in increasing order."""
        classes = defaultdict[bytes, list[int]](list)
        for i, query in enumerate(self.queries.array):
            classes[_bytes(query)].append(i)
        return tuple(tuple(same) for same in classes.values() if len(same) > 1)

    @cached_property
    def distinct(self) -> Vectors:
        """The queries without repetitions."""
        again = {i for same in self.repeats for i in same[1:]}
        if not again:
            return self.queries
        return self.queries.take([i for i in range(self.N) if i not in again])


def _bytes(row: AnyArray) -> bytes:
    """Bytes that are equal if and only if two rows of a table are equal."""
    if row.dtype == object:
        return repr(row.tolist()).encode()
    return bytes((row + row.dtype.type(0)).tobytes())  # -0.0 + 0.0 = 0.0
