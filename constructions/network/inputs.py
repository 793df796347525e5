"""The inputs of a data set, told apart; and random integers that tell them apart.

Where queries with different labels differ, the query is the input. Else it is the whole example:
query and tokens one after the other in one row, which exists where all examples have equally many
tokens, and depends on their order. Equal inputs with equal labels count once. Equal inputs with
different labels have no function from inputs to labels.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from math import lcm
from typing import Any

from flint import fmpq_mat, fmpz_mat

from attncert.constructions.brief import in_brief
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import HypothesisFails
from attncert.constructions.exact.keys import Key
from attncert.constructions.network.arithmetic import RATIONAL
from attncert.constructions.network.states import States, listed

_DRAWS = 8  # of each size of integers


@dataclass(frozen=True, repr=False)
class Inputs:
    """K distinct vectors with their labels, over ℚ.

    of:       "query" or "row", as for a block that reads them.
    examples: the first example of each input, in order.
    vectors:  K×p. labels: K×m.
    scale:    a whole number to multiply weights with, so that vectors times weights have short
              denominators: that of the data; 1 where there is none in common.
    """

    of: str
    examples: tuple[int, ...]
    vectors: fmpq_mat
    labels: fmpq_mat
    scale: int = 1

    def __repr__(self) -> str:
        return in_brief(self, of=self.of, inputs=len(self.examples), width=self.width)

    @property
    def width(self) -> int:
        return int(self.vectors.ncols())

    @classmethod
    def of_data(cls, data: Dataset) -> Inputs:
        """Raises HypothesisFails with two equal inputs that have different labels."""
        states, labels = States.of(data, RATIONAL), data.label_matrix
        pair = conflict(keys(states.queries), labels)
        if pair is None:
            return cls.merged("query", states.queries, labels, data.queries.denominator)
        if data.ragged:
            raise refusal("query", pair, ", and the numbers of tokens differ")
        rows = states.in_rows()
        pair = conflict(keys(rows), labels)
        if pair is not None:
            raise refusal("query and tokens", pair)
        scale = lcm(data.queries.denominator, data.contexts.denominator)
        return cls.merged("row", rows, labels, scale)

    @classmethod
    def merged(cls, of: str, vectors: fmpq_mat, labels: fmpq_mat, scale: int = 1) -> Inputs:
        """Rows without conflict, each once."""
        first: dict[Key, int] = {}
        for t, key in enumerate(keys(vectors)):
            first.setdefault(key, t)
        examples = tuple(first.values())
        return cls(of, examples, _rows(vectors, examples), _rows(labels, examples), scale)


def keys(vectors: fmpq_mat) -> list[Key]:
    """One for each row."""
    return [Key(part for x in row for part in (int(x.p), int(x.q))) for row in listed(vectors)]


def conflict(keys: list[Key], labels: fmpq_mat) -> tuple[int, int] | None:
    """Two rows with equal keys and different labels, if there are any."""
    first: dict[Key, int] = {}
    table = listed(labels)
    for t, key in enumerate(keys):
        s = first.setdefault(key, t)
        if table[s] != table[t]:
            return s, t
    return None


def refusal(what: str, pair: tuple[int, int], more: str = "") -> HypothesisFails:
    """That these two examples have the same of that, and different labels."""
    s, t = pair
    reason = f"examples {s} and {t} have the same {what} and different labels{more}"
    return HypothesisFails("distinct-inputs", reason, {"examples": [s, t]})


def columns(height: int, seed: int) -> Iterator[fmpz_mat]:
    """Random integer columns (height×1), not 0, with entries up to 1, 2, 4, ... in size, for ever.

    Who seeks a column outside finitely many hyperplanes finds one: the chance tends to 1 as the
    integers grow (Schwartz, Zippel).
    """
    rng = random.Random(seed)
    for doubling in count():
        for _ in range(_DRAWS):
            entries = [rng.randint(-(2**doubling), 2**doubling) for _ in range(height)]
            if any(entries):
                yield fmpz_mat(height, 1, entries)


def _rows(matrix: Any, places: tuple[int, ...]) -> fmpq_mat:
    table = listed(matrix)
    return fmpq_mat(len(places), int(matrix.ncols()), [x for t in places for x in table[t]])
