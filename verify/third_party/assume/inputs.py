"""The data of `attncert assume`: queries for all inputs, and contexts for some of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from attncert.constructions.arrays import AnyArray
from attncert.constructions.data.conversion import describe
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
    def of(cls, data: Any) -> LayerInputs:
        """The queries and contexts of a data set. Raises InputError.

        >>> LayerInputs.of(Dataset.of([[1, 0, 0], [0, 1, 0]], [[0, 0, 1]])).queries
        Vectors('data', N=1, d=3, dtype='int64')
        """
        if isinstance(data, LayerInputs):
            return data
        if not isinstance(data, Dataset):
            raise InputError("data", "a data set, or the inputs of a layer", describe(data))
        data = data.expanded()
        shortest = None if data.counts is None else min(data.counts)
        contexts = partial(map, lambda t: (t, as_table(data.rows(t))), range(len(data.contexts)))
        given = tuple(range(data.T))
        return cls(Vectors.of(data), data.n, given, contexts, data.shared, shortest)

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
    """The row as bytes; two rows of a table are equal if and only if these bytes are."""
    if row.dtype == object:
        return repr(row.tolist()).encode()
    return bytes((row + row.dtype.type(0)).tobytes())  # -0.0 + 0.0 = 0.0
