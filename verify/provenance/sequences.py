"""Data from token sequences: contexts are prefixes, with one example for each class.

The output of softmax attention does not change if tokens are reordered or all their counts are
multiplied by the same number. So examples with equal queries and proportional multisets of tokens
have the same output for all weights of a layer: they form a class (docs/next-token.md, section 2).
For each label in a class, one example is kept. If a class has several labels, no weights output
them all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import numpy as np

from attncert.constructions.data.dataset import AS_GIVEN, Dataset, Origin
from attncert.constructions.data.sequences import Sequences
from attncert.constructions.exact.contexts import multiplicities, shares
from attncert.constructions.exact.hashing import Hashed
from attncert.verify.checker import Limits, Rejected
from attncert.verify.checker.layer import contexts_of
from attncert.verify.checker.sequences import prefixes
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, timed
from attncert.verify.claims.words import counted


def by_class(data: Dataset) -> Dataset:
    """Sequences as the examples of a layer, with one example for each class and label. Other data
    are returned unchanged.

    >>> from attncert import of_sequences
    >>> data = of_sequences(["ababc"], {"a": [1, 0], "b": [0, 1], "c": [1, 1]}, labels=[5, 7, 6, 7])
    >>> by_class(data).origin.examples
    ((0, 0), (0, 1), (0, 2))
    """
    origin = data.origin
    if type(origin) is not Sequences:
        return data
    first = tuple(_representatives(data))
    some = data.take([t for t, s in enumerate(first) if s == t])
    assert isinstance(some.origin, Sequences)
    parts = {x.name: getattr(some.origin, x.name) for x in fields(Sequences)}
    return some.of_origin(Prefixes(**parts, whole=data, first=first))


@dataclass(frozen=True, eq=False)
class Prefixes(Sequences):
    """The origin of these data. whole: all examples. first: for each example, the first example
    with its class and label."""

    whole: Dataset
    first: tuple[int, ...]

    premises = (ids.PREFIXES,)

    @property
    def merged(self) -> int:
        return len(self.first) - len(self.examples)

    @property
    def paragraph(self) -> str:
        return f"They are{self._places}.{self._others}"

    @property
    def settings(self) -> Mapping[str, Any]:
        return {"sequences": len(self.sequences), "merged_examples": self.merged}

    def words(self, data: Dataset) -> str:
        return f" The examples are{self._places}.{self._others}"

    def of_examples(self, examples: Sequence[int]) -> Origin:
        return AS_GIVEN

    @property
    def _places(self) -> str:
        sequences = counted(len(self.sequences), "token sequence")
        placed = "" if self.positions is None else ", with positions"
        symbols = counted(len(self.embedding), "symbol")
        return f" places in {sequences} over {symbols}{placed}"

    @property
    def _others(self) -> str:
        if not self.merged:
            return ""
        others = counted(self.merged, "more place")
        return f" This leaves out {others} with the same class and label as one of these."

    def claims(self, data: Dataset) -> list[Claim]:
        return [timed(partial(self._claim, data))]

    def _claim(self, data: Dataset) -> Claim:
        """The claim about this origin. The data are compared with the checker's reading of the
        sequences, and classes are compared by cross-multiplication, without fractions."""
        others = [(t, s) for t, s in enumerate(self.first) if s < t]
        apart = next((pair for pair in others if not _one_class(self.whole, *pair)), None)
        wrong = _unlike(data) or ("" if apart is None else f"examples {apart} are of two classes")
        return Claim.checked(
            ids.PREFIXES,
            f"Contexts and queries are those of{self._places}.{self._others}",
            not wrong,
            {"reason": wrong},
            numbers={"examples": data.T, "merged": self.merged, "symbols": len(self.embedding)},
            arithmetic="comparison of integers",
            source="ours; docs/next-token.md, section 2",
        )


def _representatives(data: Dataset) -> Iterator[int]:
    known = dict[Hashed, int]()
    labels = data.stated.numerators.tolist() if data.stated is not None else [[]] * data.T
    queries = data.queries.numerators.tolist()
    for t in range(data.T):
        context = tuple(sorted((*row, often) for row, often in shares(data, t).items()))
        yield known.setdefault(Hashed((context, tuple(queries[t]), tuple(labels[t]))), t)


def _one_class(data: Dataset, t: int, s: int) -> bool:
    """Whether queries and labels are equal and token counts satisfy a_i sum(b) = b_i sum(a)."""
    a, b = (multiplicities(data, k) for k in (t, s))
    tables = [data.queries] if data.stated is None else [data.queries, data.stated]
    one = all(x[t].strings() == x[s].strings() for x in tables)
    return one and all(a[x] * b.total() == b[x] * a.total() for x in a | b)


def _unlike(data: Dataset) -> str:
    """The first difference between the data and the checker's reading of the sequences, or ""."""
    limits, dims = Limits(math.inf, math.inf), (data.T, data.longest, data.d, data.m)
    names = ("examples", "context", "width", "labels")
    cert = {"data": data.canonical(), "tokens": None, "dims": dict(zip(names, dims, strict=True))}
    try:
        cert = prefixes(cert, limits)
    except Rejected as rejected:
        return str(rejected.args[1])
    queries, unit, _ = cert["data"]["queries"].table
    own, scale = data.contexts.denominator, data.queries.denominator
    for t, tokens in enumerate(contexts_of(limits, cert, cert["data"]).rows):
        if not _in_order(data, t, tokens, unit, own):
            return f"the context of example {t}"
        query = data.queries[t].numerators.tolist()
        if [x * scale for x in queries[t]] != [x * unit for x in query]:
            return f"the query of example {t}"
    return ""


def _in_order(data: Dataset, t: int, tokens: list[list[int]], unit: int, own: int) -> bool:
    """Whether these tokens, divided by `unit`, are the tokens of the data, in the same order. The
    first token of each row is compared, and all other tokens of the row must be the same
    object as the first."""
    order = np.arange(data.tokens(t)) if data.order is None else data.order[t]
    if len(tokens) != len(order):
        return False
    keys = np.fromiter(map(id, tokens), np.int64, len(tokens))
    first = np.unique(order, return_index=True)[1]
    rows = data.contexts[0 if data.shared else t, : len(first)].numerators.tolist()
    pairs = zip((tokens[i] for i in first), rows, strict=True)
    same = all([x * own for x in token] == [x * unit for x in row] for token, row in pairs)
    return same and bool((keys == keys[first][order]).all())
