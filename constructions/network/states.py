"""The states of T examples between two blocks: their tokens and their queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.network.arithmetic import MAX_BITS, Arithmetic, TooLong


@dataclass(frozen=True)
class States:
    """contexts: T matrices (n_t×k), or one that all examples share. queries: T×l, rows."""

    contexts: tuple[Any, ...]
    queries: Any
    arithmetic: Arithmetic

    @classmethod
    def of(cls, data: Dataset, arithmetic: Arithmetic) -> States:
        matrix = arithmetic.matrix
        contexts = tuple(matrix(data.context(t)) for t in range(len(data.contexts)))
        return cls(contexts, matrix(data.query_matrix), arithmetic)

    @cached_property
    def by_context(self) -> tuple[tuple[Any, Any], ...]:
        """Each context with the queries that read it, as rows."""
        if len(self.contexts) == 1:
            return ((self.queries, self.contexts[0]),)
        matrix = self.arithmetic.matrix
        queries = (matrix(1, len(query), query) for query in self.queries.tolist())
        return tuple(zip(queries, self.contexts, strict=True))

    def require_short(self) -> None:
        """Raises TooLong if numbers are too long: a few blocks can make them fill any memory."""
        if any(self.arithmetic.bits(x) > MAX_BITS for x in (*self.contexts, self.queries)):
            raise TooLong(f"a number of over {MAX_BITS} bits")

    def in_rows(self) -> Any:
        """Query and tokens of each example concatenated in one row."""
        rows = []
        for t, query in enumerate(self.queries.tolist()):
            context = self.contexts[0 if len(self.contexts) == 1 else t]
            rows.append([*query, *context.entries()])
        if len({len(row) for row in rows}) > 1:
            raise InputError("of", "'query' or 'all' for contexts of different lengths", "'row'")
        return self.arithmetic.matrix(len(rows), len(rows[0]), [x for row in rows for x in row])


def stacked(parts: Sequence[Any], arithmetic: Arithmetic) -> Any:
    """One matrix of the rows of all matrices, in order."""
    if len(parts) == 1:
        return parts[0]
    rows = sum(int(part.nrows()) for part in parts)
    entries = [x for part in parts for x in part.entries()]
    return arithmetic.matrix(rows, int(parts[0].ncols()), entries)


def beside(parts: Sequence[Any], arithmetic: Arithmetic) -> Any:
    """One matrix with the columns of all matrices, in order."""
    return stacked([part.transpose() for part in parts], arithmetic).transpose()
