"""Data of token sequences. The context of an example is a sequence up to a position, its query is
the last token there, and its label is the next token or a given vector.

Each sequence is stored once. Without positions, the contexts are the rows of its symbols, and the
order says which symbol each token is (`Dataset.order`). With them, every token has its own row.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attncert.constructions.arrays import IntArray
from attncert.constructions.data.conversion import describe, narrow
from attncert.constructions.data.dataset import Dataset, Origin, filled_up, require_room
from attncert.constructions.data.exact_array import ExactArray
from attncert.constructions.data.order import Order
from attncert.constructions.errors import InputError, require_seed, whole

KEYS = ("sequences", "embedding", "positions", "first", "examples", "labels")
MOST_TOKENS = 2**20  # limit on the total, so that products of counts and residues are exact
MOST_BOUND = 2**31  # the largest bound on drawn numbers
_DRAWS = 100  # attempts to draw different rows

Place = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Sequences(Origin):
    """Sequences of rows of an embedding (V×d), with P×d positions or None; an example is a sequence
    and a position in it."""

    embedding: ExactArray
    positions: ExactArray | None
    sequences: tuple[tuple[int, ...], ...]
    examples: tuple[Place, ...]

    @property
    def inputs(self) -> Mapping[str, Any]:
        return {
            "embedding": self.embedding.strings(),
            "positions": None if self.positions is None else self.positions.strings(),
            "sequences": [list(sequence) for sequence in self.sequences],
            "examples": [list(example) for example in self.examples],
        }

    def of_examples(self, examples: Sequence[int]) -> Origin:
        return replace(self, examples=tuple(self.examples[t] for t in examples))

    def dataset(self, labels: Any, name: str) -> Dataset:
        """The examples with these labels, (T,) or (T, m)."""
        last = [self.sequences[s][place] for s, place in self.examples]
        if self.positions is None:
            contexts, order = self._ordered()
            data = Dataset.of(contexts, self.embedding[np.array(last)], labels, name)
            return replace(data, order=order).of_origin(self)
        unit = math.lcm(self.embedding.denominator, self.positions.denominator)
        symbols, shifts = (
            x.numerators.astype(object) * (unit // x.denominator)
            for x in (self.embedding, self.positions)
        )
        rows = [symbols[list(sequence)] + shifts[: len(sequence)] for sequence in self.sequences]
        contexts, counts = filled_up([rows[s][: place + 1] for s, place in self.examples])
        tables = np.array(contexts), np.array([rows[s][place] for s, place in self.examples])
        E, e = (ExactArray(narrow(x.ravel().tolist(), x.shape), unit) for x in tables)
        return replace(Dataset.of(E, e, labels, name), counts=counts).of_origin(self)

    def counts(self) -> IntArray:
        """The count of each symbol in the context of each example, (T, V)."""
        V = len(self.embedding)
        require_room(V * len(self.examples))
        return self._order([np.array(sequence) for sequence in self.sequences]).counts(V)

    def _ordered(self) -> tuple[ExactArray, Order]:
        """The symbols of each example's context by first occurrence, and the place of each token
        there."""
        symbols = [list(dict.fromkeys(sequence)) for sequence in self.sequences]
        rows = list[IntArray]()
        for kinds, sequence in zip(symbols, self.sequences, strict=True):
            number = {symbol: row for row, symbol in enumerate(kinds)}
            rows.append(np.array([number[symbol] for symbol in sequence]))
        order = self._order(rows)
        so_far = [np.maximum.accumulate(x) for x in rows]
        n = 1 + max(int(so_far[s][place]) for s, place in self.examples)
        require_room(len(self.examples) * n * self.embedding.shape[1])
        filled = np.array([[*kinds[:n], *kinds[:1] * (n - len(kinds))] for kinds in symbols])
        return self.embedding[filled[[s for s, _ in self.examples]]], order

    def _order(self, sequences: Sequence[IntArray]) -> Order:
        return Order(tuple(sequences), tuple((s, place + 1) for s, place in self.examples))


def of_sequences(
    sequences: Any,
    embedding: Any,
    *,
    positions: Any = None,
    first: Any = None,
    examples: Any = None,
    labels: Any = "index",
    name: str = "data",
) -> Dataset:
    """A data set of token sequences. Arithmetic: exact. Raises InputError.

    sequences: texts, whose characters are the symbols; lists of strings, each a symbol; or lists of
        indices of rows of the embedding, from 0.
    embedding: V×d numbers; {symbol: d numbers}; or {"width": d, "bound": 9, "seed": 0} for rows of
        integers from -bound to bound, all different, drawn from that seed.
    positions: a row for each place, added to the token there; or {"bound": 9, "seed": 0}; or None.
    first: another symbol, placed before every sequence.
    examples: pairs of a sequence and a place in it; or None for all that have a next token.
    labels: the "index" of the next token, "one-hot", or numbers, (T,) or (T, m); or None. Strings
    are numbered in the order of the embedding if it names them, else by code points with `first`
    last. Source: docs/next-token.md.

    >>> data = of_sequences(["abab"], {"a": [1, 0], "b": [0, 1]})
    >>> data.T, data.n, data.lengths, data.labels.strings()
    (3, 2, '1 to 3', [['1'], ['0'], ['1']])
    >>> data.context(2)
    [1, 0]
    [0, 1]
    [1, 0]
    >>> of_sequences(["abc"], {"a": [1, 0], "b": [0, 1]})
    Traceback (most recent call last):
    attncert.InputError: sequences[0][2]: must be a symbol of the embedding, not 'c'
    """
    texts = _texts(sequences)
    if first is not None:
        _require_own(first, texts)
        texts = [[first, *text] for text in texts]
    names, table = _vocabulary(texts, embedding, first)
    matrix = _matrix(table, "embedding", len(names))
    rows = _numbered(texts, names)
    shifts = None
    if positions is not None:
        shifts = _matrix(positions, "positions", max(map(len, rows)), matrix.shape[1])
    places = _places(examples, rows)
    if isinstance(labels, str):
        labels = _next(labels, rows, places, len(matrix))
    return Sequences(matrix, shifts, rows, places).dataset(labels, name)


def _texts(sequences: Any) -> list[list[Any]]:
    """Lists of strings, or of whole numbers, none of them empty."""
    listed = [sequences] if isinstance(sequences, str) else sequences
    if not isinstance(listed, (list, tuple)) or not listed:
        raise InputError("sequences", "one or more texts or lists of symbols", describe(listed))
    texts = [x.tolist() if isinstance(x, np.ndarray) else x for x in listed]
    for s, text in enumerate(texts):
        if not isinstance(text, (str, list, tuple)) or not text:
            actual = describe(text) if text or not isinstance(text, (str, list, tuple)) else "empty"
            raise InputError(f"sequences[{s}]", "a text or a list of one or more symbols", actual)
    if sum(map(len, texts)) > MOST_TOKENS:
        raise InputError("sequences", f"of at most {MOST_TOKENS:,} symbols in all", "longer")
    kind = str if isinstance(texts[0][0], str) else int
    must = "a string, like the first" if kind is str else "the index of a row of the embedding"
    for s, text in enumerate(texts):
        for i, x in enumerate(text):
            if type(x) is not kind:
                raise InputError(f"sequences[{s}][{i}]", must, describe(x))
    return [list(text) for text in texts]


def _require_own(first: Any, texts: list[list[Any]]) -> None:
    kind = type(texts[0][0])
    if type(first) is not kind:
        raise InputError("first", f"a symbol like {texts[0][0]!r}", describe(first))
    for s, text in enumerate(texts):
        if first in text:
            raise InputError("first", "a symbol that occurs nowhere else", f"one of sequences[{s}]")


def _vocabulary(texts: list[list[Any]], embedding: Any, first: Any) -> tuple[Sequence[Any], Any]:
    """The symbols in their order, and the rows of the embedding or the options for drawing them."""
    drawn = _is_drawn(embedding)
    if not isinstance(texts[0][0], str):
        largest = max(map(max, texts))
        if largest >= MOST_TOKENS:
            raise InputError("sequences", f"indices below {MOST_TOKENS:,}", largest)
        return range(largest + 1 if drawn else len(_matrix(embedding, "embedding"))), embedding
    if isinstance(embedding, Mapping) and not drawn:
        return [*embedding], [*embedding.values()]
    symbols = {x for text in texts for x in text} - {first}
    return [*sorted(symbols), *([] if first is None else [first])], embedding


def _numbered(texts: list[list[Any]], names: Sequence[Any]) -> tuple[tuple[int, ...], ...]:
    rows = {x: i for i, x in enumerate(names)}
    plain = f"a row of the embedding, from 0 to {len(names) - 1}"
    must = plain if isinstance(names, range) else "a symbol of the embedding"
    for s, text in enumerate(texts):
        for i, x in enumerate(text):
            if x not in rows:
                raise InputError(f"sequences[{s}][{i}]", must, repr(x))
    return tuple(tuple(rows[x] for x in text) for text in texts)


def _is_drawn(table: Any) -> bool:
    return isinstance(table, Mapping) and not any(
        isinstance(x, (list, tuple, np.ndarray)) for x in table.values()
    )


def _matrix(table: Any, argument: str, rows: int = 0, width: int = 0) -> ExactArray:
    """The given matrix, if its size is right; positions may have more rows than needed."""
    if _is_drawn(table):
        return _drawn(table, argument, rows, width)
    if isinstance(table, Mapping):
        raise InputError(argument, "a list of rows of numbers", "an object")
    matrix = ExactArray.of(table, argument)
    if len(matrix.shape) != 2 or 0 in matrix.shape:
        raise InputError(argument, "rows of numbers, none empty", f"of shape {matrix.shape}")
    if width and matrix.shape[1] != width:
        raise InputError(argument, f"as wide as the embedding, {width}", matrix.shape[1])
    more = argument == "positions"
    if len(matrix) < rows or (len(matrix) > rows > 0 and not more):
        must = f"{rows} rows{' or more' if more else ''}, one for each "
        raise InputError(argument, must + ("place" if more else "symbol"), len(matrix))
    return matrix


def _drawn(options: Mapping[str, Any], argument: str, rows: int, width: int) -> ExactArray:
    known = ({} if width else {"width": None}) | {"bound": 9, "seed": 0}
    for key in options:
        if key not in known:
            raise InputError(argument, f"rows, or made of {', '.join(known)}", f"with {key!r}")
    chosen = known | dict(options) | ({"width": width} if width else {})
    d, bound = chosen["width"], chosen["bound"]
    for key in ("width", "bound"):
        if not whole(chosen[key]) or not 1 <= chosen[key] <= MOST_BOUND:
            must = f"a whole number from 1 to {MOST_BOUND:,}"
            raise InputError(f"{argument}.{key}", must, chosen[key])
    require_seed(chosen["seed"], f"{argument}.seed")
    require_room(rows * d)
    rng = np.random.default_rng([chosen["seed"], argument == "positions"])
    for _ in range(_DRAWS):
        table = rng.integers(-bound, bound, (rows, d), endpoint=True)
        if len(np.unique(table, axis=0)) == rows:
            return ExactArray(table)
    raise InputError(f"{argument}.bound", f"large enough for {rows} different rows", bound)


def _places(examples: Any, rows: Sequence[Sequence[int]]) -> tuple[Place, ...]:
    if examples is None:
        every = tuple((s, i) for s, row in enumerate(rows) for i in range(len(row) - 1))
        if not every:
            raise InputError("sequences", "long enough for a next token", "of one symbol each")
        return every
    if not isinstance(examples, (list, tuple)) or not examples:
        raise InputError("examples", "pairs of a sequence and a place in it", describe(examples))
    for t, pair in enumerate(examples):
        listed = isinstance(pair, (list, tuple)) and len(pair) == 2 and all(map(whole, pair))
        if not (listed and 0 <= pair[0] < len(rows) and 0 <= pair[1] < len(rows[pair[0]])):
            must = "a sequence and a place in it, counted from 0"
            raise InputError(f"examples[{t}]", must, pair if listed else describe(pair))
    return tuple((s, place) for s, place in examples)


def _next(labels: str, rows: Sequence[Sequence[int]], places: Sequence[Place], V: int) -> Any:
    if labels not in ("index", "one-hot"):
        raise InputError("labels", "index, one-hot, or numbers", repr(labels))
    for t, (s, place) in enumerate(places):
        if place + 1 == len(rows[s]):
            must = "a place with a next token, unless labels are given as numbers"
            raise InputError(f"examples[{t}]", must, f"the last of sequences[{s}]")
    following = [rows[s][place + 1] for s, place in places]
    if labels == "index":
        return following
    require_room(len(following) * V)
    return np.eye(V, dtype=np.int64)[following]
