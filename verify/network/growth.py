"""How many parameters a construction needs for T examples: by formula, and nothing is built.

The formulas count all entries of the weights of inputs in general position that are not 0 by
construction, for T examples with the widths of a data set, its labels in the same shares. Real data
differ: equal neighbours, zeros in the data, and planes through fewer than p inputs, whose forms
have zeros, save parameters. What follows from them is said to be by formula.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from math import isqrt

from attncert.constructions.construction import Bound
from attncert.constructions.data.dataset import Dataset

_MOST = 40  # log2 of the largest T
_STEPS = 16  # in each doubling: neighbours differ by 5 %


@dataclass(frozen=True)
class DataShape:
    """n tokens, width d; labels of width m; inputs of p numbers: the query where all differ, else
    the whole example. shares: how often each label occurs in so many examples, the most frequent
    first. label_bits: of a label's largest integer, over the common denominator."""

    n: int
    d: int
    m: int
    p: int
    examples: int
    shares: tuple[int, ...]
    label_bits: int

    @classmethod
    def of(cls, data: Dataset) -> DataShape:
        labels, queries = data.labels, set(map(tuple, data.queries.strings()))
        table = labels.numerators
        spread = max(int(top - low) for top, low in zip(table.max(0), table.min(0), strict=True))
        shares = Counter(map(tuple, labels.strings())).values()
        return cls(
            n=min(data.counts or (data.n,)),
            d=data.d,
            m=data.m,
            p=data.d if len(queries) == data.T else (data.n + 1) * data.d,
            examples=data.T,
            shares=tuple(sorted(shares, reverse=True)),
            label_bits=max(1, spread.bit_length()),
        )


Formula = Callable[[DataShape, int], float]  # parameters for T examples


def attention(shape: DataShape, T: int) -> float:
    """⌈(T-1)/(n-1)⌉ heads of width one, as their theorem needs, with one number in each key and
    query, as generic weights have, and m output weights; Tm values, on T independent features."""
    heads = Bound().fewest(T, shape.n)
    return heads * (2 + shape.m) + T * shape.m if heads else float("inf")


def relu(shape: DataShape, T: int) -> float:
    """A projection; T units, each with a weight, a knot and m output weights."""
    return shape.p + (2 + shape.m) * T


def attention_relu(shape: DataShape, T: int) -> float:
    """The same on d + 2 numbers, after (e, 1, 0) and one head of width one."""
    return 4 * shape.d + 7 + (2 + shape.m) * T


def threshold_pairs(shape: DataShape, T: int) -> float:
    """Two units of p + 1 + m numbers for each p inputs of a label, and m for the most frequent."""
    counts = (share * T / shape.examples for share in shape.shares[1:])
    planes = sum(-int(-count // shape.p) for count in counts)
    return 2 * (shape.p + 1 + shape.m) * planes + shape.m


def derivative_pairs(shape: DataShape, T: int) -> float:
    """2(m+1) units of p + 1 numbers for each p inputs, and 4m output weights."""
    return -(-T // shape.p) * (2 * (shape.m + 1) * (shape.p + 1) + 4 * shape.m)


def two_layers(shape: DataShape, T: int) -> float:
    """2G - 1 units, then 2Lm, whose weights bend where either of two neighbouring groups has a
    coefficient of the unit's sign: three times in four."""
    length = max(1, isqrt(T // shape.m))
    first, second = 2 * -(-T // length) - 1, 2 * length * shape.m
    return shape.p + 2 * first + 0.75 * first * second + 1.5 * second


def bits(shape: DataShape, T: int) -> float:
    """About 5G and 15 for each bit of L inputs; T positions at random have gaps near 1/T^2."""
    digits = 2 * T.bit_length() + 1 + shape.m * shape.label_bits
    length = max(1, isqrt(T // (3 * digits)))
    return shape.p + 1 + 5 * -(-T // length) + 15 * length * digits


def cheaper_from(first: Formula, second: Formula, shape: DataShape) -> int | None:
    """About the T, to 5 %, from which on the first takes fewer parameters than the second; None:
    not from any T up to 2^40.

    >>> shape = DataShape(n=4, d=16, m=1, p=16, examples=10, shares=(5, 5), label_bits=1)
    >>> cheaper_from(attention, relu, shape), cheaper_from(relu, attention, shape)
    (1, None)
    """
    points = sorted({round(2 ** (k / _STEPS)) for k in range(_MOST * _STEPS + 1)})
    dearer = [k for k, T in enumerate(points) if first(shape, T) >= second(shape, T)]
    start = dearer[-1] + 1 if dearer else 0
    return points[start] if start < len(points) else None
