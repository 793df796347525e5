"""Blocks that depend on the places of vectors: general attention, and tables of positions.

Token i, counted from 0, is at place i. The query is at the place of the last token, as in data of
sequences, or at the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from flint import fmpq, fmpq_mat

from attncert.constructions.brief import in_brief
from attncert.constructions.errors import InputError
from attncert.constructions.network.arithmetic import Arithmetic
from attncert.constructions.network.blocks import (
    Attention,
    Block,
    Rows,
    require_one_of,
    require_width,
)
from attncert.constructions.network.states import States


@dataclass(frozen=True)
class HeadNorm:
    """RMSNorm of the queries and keys of every head: x / √(mean of x² + ε) ∘ gain.

    query_gain, key_gain: 1×d_h. epsilon: ε ≥ 0. Source: docs/networks.md.

    >>> HeadNorm(fmpq(1, 10**6), fmpq_mat(1, 2, [1, 1]), fmpq_mat(1, 2, [1, 1])).epsilon
    1/1000000
    """

    epsilon: fmpq
    query_gain: fmpq_mat
    key_gain: fmpq_mat


@dataclass(frozen=True)
class Rotary:
    """The coordinates 2j and 2j + 1 of a query or key at place i are rotated by the angle
    i·frequencies[j]. unit: "turn" (of 360 degrees) or "radian". Source: docs/networks.md.

    >>> Rotary("turn", fmpq_mat([["1/4"]])).unit
    'turn'
    """

    unit: str
    frequencies: fmpq_mat


@dataclass(frozen=True)
class GeneralAttention(Attention):
    """Attention with these parts, which are applied in this order unless they are None:

    1. norm:       RMSNorm of the projected query and key, per head.
    2. rotary:     rotation of both by place times frequency.
    3. root:       the products of query and key are divided by its square root.
    4. cap:        a product x becomes cap·tanh(x/cap).
    5. slopes:     slope times the distance of the places is subtracted (ALiBi), 1×H.
    6. tables:     entry (i, j) of the head's table is added for a vector at place i and a token at
                   place j.
    7. mask, then the rule; sinks: one more logit per head, 1×H, whose weight is dropped.

    The unit applies to the sums after part 6, and to the sinks. query_place: "last" or "next".
    Arithmetic: exact if root, rotation (quarter turns) and softmax are rational, and every capped
    number is 0; else in balls. Raises InputError if options or shapes do not agree. Source:
    docs/networks.md.

    >>> from attncert import Head
    >>> one = fmpq_mat(1, 1, [1])
    >>> GeneralAttention((Head(one, one, one),), one, cap=fmpq(30))
    GeneralAttention(of='query', heads=1, rule='softmax', residual=False, parts=['cap'])
    """

    root: int = 1
    norm: HeadNorm | None = None
    rotary: Rotary | None = None
    cap: fmpq | None = None
    slopes: fmpq_mat | None = None
    tables: tuple[fmpq_mat, ...] | None = None
    sinks: fmpq_mat | None = None
    query_place: str = "last"

    def __repr__(self) -> str:
        parts = ("norm", "rotary", "cap", "slopes", "tables", "sinks")
        return in_brief(
            self, of=self.of, heads=len(self.heads), rule=self.rule, residual=self.residual,
            parts=[x for x in parts if getattr(self, x) is not None] or None,
        )  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        require_one_of("query_place", self.query_place, ("last", "next"))
        if type(self.root) is not int or self.root < 1:
            raise InputError("root", "a whole number above 0", repr(self.root))
        if self.cap is not None and self.cap <= 0:
            raise InputError("cap", "above 0", str(self.cap))
        if self.rule == "linear" and self.sinks is not None:
            raise InputError("sinks", "null in linear attention", "a list")
        for name, part in (("slopes", self.slopes), ("sinks", self.sinks)):
            _require_numbers(name, part, len(self.heads))
        if self.tables is not None and len(self.tables) != len(self.heads):
            raise InputError("tables", "one for each head", len(self.tables))
        for width in {head.width for head in self.heads}:
            if self.norm is not None:
                _require_numbers("query_gain", self.norm.query_gain, width)
                _require_numbers("key_gain", self.norm.key_gain, width)
            if self.rotary is not None:
                require_one_of("unit", self.rotary.unit, ("turn", "radian"))
                if 2 * self.rotary.frequencies.ncols() != width:
                    must = f"one for each pair of the {width} coordinates of a query"
                    raise InputError("frequencies", must, int(self.rotary.frequencies.ncols()))

    @property
    def matrices(self) -> tuple[fmpq_mat, ...]:
        """Weights, gains, slopes, tables and sinks; frequencies and cap are not learned."""
        norm = self.norm and (self.norm.query_gain, self.norm.key_gain)
        parts = (*(norm or ()), self.slopes, *(self.tables or ()), self.sinks)
        return (*super().matrices, *(x for x in parts if x is not None))

    def _scores(self, head: int, on: Arithmetic) -> Callable[[Any, Any, bool], Rows]:
        query, key = (on.matrix(x) for x in (self.heads[head].query, self.heads[head].key))
        slope = None if self.slopes is None else on.matrix(self.slopes).entries()[head]

        def scores(queries: Any, context: Any, of_tokens: bool) -> Rows:
            places = places_of(queries, context, self.query_place, of_tokens=of_tokens)
            if self.norm is None and self.rotary is None:
                products = self._products(queries, query, key, context, on)
            else:
                require_width("query", query, queries)
                require_width("key", key, context)
                gains = (self.norm.query_gain, self.norm.key_gain) if self.norm else (None, None)
                asked = self._prepared(queries * query, places, gains[0], on)
                keys = self._prepared(context * key, range(int(context.nrows())), gains[1], on)
                products = on.scores(asked, keys, self.root, self.unit)
            rows: Rows = products.tolist()
            if self.cap is not None:
                rows = [[on.capped(x, self.cap) for x in row] for row in rows]
            for place, row in zip(places, rows, strict=True):
                if slope is not None:
                    row[:] = [x - slope * abs(place - token) for token, x in enumerate(row)]
                if self.tables is not None:
                    added = on.matrix([self._added(self.tables[head], place, len(row))]).entries()
                    row[:] = [x + y for x, y in zip(row, added, strict=True)]
            return rows

        return scores

    @staticmethod
    def _added(table: fmpq_mat, place: int, tokens: int) -> list[fmpq]:
        """The entries of a head's table for a vector at this place."""
        if place >= table.nrows() or tokens > table.ncols():
            must = f"of a row {place} and a column {tokens - 1}, counted from 0"
            raise InputError("tables", must, f"{table.nrows()} by {table.ncols()}")
        return [table[place, token] for token in range(tokens)]

    def _prepared(
        self, vectors: Any, places: Sequence[int], gain: fmpq_mat | None, on: Arithmetic
    ) -> Any:
        """Projected vectors, normalized and rotated."""
        rows = vectors.tolist()
        if self.norm is not None:
            gains = on.matrix(gain).entries()
            scaled = (on.normalized(row, self.norm.epsilon) for row in rows)
            rows = [[x * g for x, g in zip(row, gains, strict=True)] for row in scaled]
        if self.rotary is not None:
            rows = [_rotated(row, self.rotary, p, on) for row, p in zip(rows, places, strict=True)]
        entries = [x for row in rows for x in row]
        return on.matrix(int(vectors.nrows()), int(vectors.ncols()), entries)

    @property
    def _square(self) -> int:
        return self.root

    def _more(self, head: int) -> list[fmpq]:
        return [] if self.sinks is None else [self.sinks[0, head]]


@dataclass(frozen=True)
class Positions(Block):
    """The row of a table for the position of each vector, added to the vector if residual.

    table: P×k, a row for each place. of: "query" or "all". query_place: "last" or "next".
    Arithmetic: exact. Raises InputError if there are more places than rows. Source:
    docs/networks.md.

    >>> Positions(fmpq_mat(3, 2, range(6)), of="all")
    Positions(of='all', places=3, residual=True)
    """

    table: fmpq_mat
    of: str = "query"
    query_place: str = "last"
    residual: bool = True

    def __repr__(self) -> str:
        places = int(self.table.nrows())
        return in_brief(self, of=self.of, places=places, residual=self.residual)

    def __post_init__(self) -> None:
        require_one_of("of", self.of, ("query", "all"))
        require_one_of("query_place", self.query_place, ("last", "next"))

    @property
    def matrices(self) -> tuple[fmpq_mat, ...]:
        return (self.table,)

    def _made(self, states: States, *, of_tokens: bool) -> Any:
        table, width = states.arithmetic.matrix(self.table).tolist(), int(self.table.ncols())
        made = list[int]()
        for queries, context in states.by_context:
            made += places_of(queries, context, self.query_place, of_tokens=of_tokens)
        if max(made) >= len(table):
            raise InputError("table", f"long enough for place {max(made)}", f"of {len(table)} rows")
        return states.arithmetic.matrix(len(made), width, [x for p in made for x in table[p]])


def places_of(queries: Any, context: Any, query_place: str, *, of_tokens: bool) -> Sequence[int]:
    """The place of each query."""
    n = int(context.nrows())
    return range(n) if of_tokens else [n - (query_place == "last")] * int(queries.nrows())


def _rotated(row: Sequence[Any], rotary: Rotary, place: int, on: Arithmetic) -> list[Any]:
    """(x, y) becomes (x cos - y sin, x sin + y cos).

    >>> from attncert.constructions.network.arithmetic import RATIONAL
    >>> _rotated([fmpq(2), fmpq(3)], Rotary("turn", fmpq_mat([["1/4"]])), 1, RATIONAL)
    [-3, 2]
    """
    made = list[Any]()
    for j, frequency in enumerate(rotary.frequencies.entries()):
        (cos, sin), x, y = on.turn(frequency * place, rotary.unit), *row[2 * j : 2 * j + 2]
        made += [x * cos - y * sin, x * sin + y * cos]
    return made


def _require_numbers(argument: str, part: fmpq_mat | None, count: int) -> None:
    if part is not None and (part.nrows(), part.ncols()) != (1, count):
        raise InputError(argument, f"of {count} numbers", int(part.ncols()))
