"""The distinct inputs of a data set, as vectors and as positions on a line.

If queries with different labels differ, the query is the input. Otherwise it is the whole example:
query and tokens concatenated in one row, which depends on the order of the tokens and requires
contexts of equal length. Equal inputs with equal labels count once. Equal inputs with different
labels are refused.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, pairwise
from math import lcm

from flint import fmpq, fmpq_mat, fmpz_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import HypothesisFails
from attncert.constructions.exact.hashing import Hashed
from attncert.constructions.network.arithmetic import RATIONAL
from attncert.constructions.network.blocks import FeedForward
from attncert.constructions.network.network import Network
from attncert.constructions.network.states import States

_DRAWS = 8  # draws for each size of integers


@dataclass(frozen=True, repr=False)
class Inputs:
    """K distinct vectors (K×p) with their labels (K×m), over ℚ, and the first example of each.
    Integers times `scale`, used as weights, have short products with the vectors: it is the common
    denominator of the data, or 1 after a softmax."""

    of: str
    examples: tuple[int, ...]
    vectors: fmpq_mat
    labels: fmpq_mat
    scale: int = 1

    @classmethod
    def of_data(cls, data: Dataset | Inputs) -> Inputs:
        """The inputs of a data set. Raises HypothesisFails if labels of equal inputs differ."""
        if isinstance(data, Inputs):
            return data
        states, labels = States.of(data, RATIONAL), data.label_matrix
        pair = conflict(hashed(states.queries), labels)
        if pair is None:
            return cls.merged("query", states.queries, labels, data.queries.denominator)
        if data.ragged:
            raise refusal("query", pair, ", and the numbers of tokens differ")
        rows = states.in_rows()
        pair = conflict(hashed(rows), labels)
        if pair is not None:
            raise refusal("query and tokens", pair)
        scale = lcm(data.queries.denominator, data.contexts.denominator)
        return cls.merged("row", rows, labels, scale)

    @classmethod
    def merged(cls, of: str, vectors: fmpq_mat, labels: fmpq_mat, scale: int = 1) -> Inputs:
        """The inputs in these rows, each once; equal rows must have equal labels."""
        rows, heights = vectors.tolist(), labels.tolist()
        examples = sorted(set(firsts(hashed(vectors))))
        vectors, labels = (fmpq_mat([table[t] for t in examples]) for table in (rows, heights))
        return cls(of, tuple(examples), vectors, labels, scale)

    @property
    def width(self) -> int:
        """The width p of the vectors."""
        return int(self.vectors.ncols())

    @property
    def affine(self) -> fmpq_mat:
        """The rows (1, x), K×(p+1); their products with the column (c, a) are the values of c +
        a·x."""
        return fmpq_mat([[1, *row] for row in self.vectors.tolist()])


@dataclass(frozen=True, repr=False)
class Line:
    """The inputs as distinct positions s = x·a, in increasing order. The differences of K distinct
    vectors are not 0, so a must avoid K(K-1)/2 hyperplanes. Small random integers are drawn and
    checked."""

    inputs: Inputs
    a: fmpq_mat
    order: tuple[int, ...]
    positions: tuple[fmpq, ...]
    labels: tuple[tuple[fmpq, ...], ...]

    @classmethod
    def of(cls, data: Dataset | Inputs, seed: int) -> Line:
        """The line of a data set. Raises HypothesisFails if equal inputs have different labels."""
        inputs = Inputs.of_data(data)
        for column in columns(inputs.width, seed):
            a = fmpq_mat(column) * fmpq(inputs.scale)
            images = (inputs.vectors * a).entries()
            order = sorted(range(len(images)), key=images.__getitem__)
            positions = tuple(images[t] for t in order)
            if all(differences(positions)):
                break
        labels = inputs.labels.tolist()
        return cls(inputs, a, tuple(order), positions, tuple(tuple(labels[t]) for t in order))

    @property
    def outputs(self) -> int:
        """m, the width of a label."""
        return len(self.labels[0])

    @property
    def projection(self) -> FeedForward:
        """The block that maps an input to its position."""
        return FeedForward(self.a, fmpq_mat(1, 1), self.inputs.of)


@dataclass(frozen=True)
class LineNetwork:
    """A network that, after `front` blocks, projects inputs to a line and reads labels off it."""

    network: Network
    line: Line
    front: int = 0

    @property
    def inputs(self) -> Inputs:
        return self.line.inputs


def columns(height: int, seed: int) -> Iterator[fmpz_mat]:
    """An endless sequence of random nonzero integer columns (height×1), with entries up to 1, 2, 4,
    ... in absolute value.

    Some column lies outside any given finite set of hyperplanes: the probability of this tends to 1
    as the integers grow (Schwartz, Zippel).
    """
    rng = random.Random(seed)
    for doubling in count():
        for _ in range(_DRAWS):
            entries = [rng.randint(-(2**doubling), 2**doubling) for _ in range(height)]
            if any(entries):
                yield fmpz_mat(height, 1, entries)


def differences(numbers: Sequence[fmpq]) -> list[fmpq]:
    """Each number after the first minus its predecessor."""
    return [b - a for a, b in pairwise(numbers)]


def hashed(vectors: fmpq_mat) -> list[Hashed]:
    return [Hashed(part for x in row for part in (int(x.p), int(x.q))) for row in vectors.tolist()]


def firsts(rows: Sequence[Hashable]) -> list[int]:
    """For each row, the index of the first row equal to it."""
    places: dict[Hashable, int] = {}
    return [places.setdefault(row, t) for t, row in enumerate(rows)]


def conflict(inputs: Sequence[Hashable], labels: fmpq_mat) -> tuple[int, int] | None:
    """The first two equal rows with different labels, if there are any."""
    rows = labels.tolist()
    return next(((s, t) for t, s in enumerate(firsts(inputs)) if rows[s] != rows[t]), None)


def refusal(what: str, pair: tuple[int, int], more: str = "") -> HypothesisFails:
    """The exception for two examples with different labels that are equal in `what`."""
    s, t = pair
    reason = f"examples {s} and {t} have the same {what} and different labels{more}"
    return HypothesisFails("distinct-inputs", reason, {"examples": [s, t]})
