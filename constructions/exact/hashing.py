"""Sets of numbers from untrusted files, which no file can make slow.

Python's hash of an integer is the integer modulo 2^61 - 1, so that all numbers in a file may have
the same hash; a set of N of them takes N²/2 comparisons. Therefore such numbers go into sets as
`Hashed` tuples, whose hash Python randomizes for each process, or they are sorted (`distinct`)."""

from __future__ import annotations

import marshal
import math
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any


class Hashed(tuple[Any, ...]):
    """A tuple of integers, or of such tuples. An equal plain tuple has a different hash.

    >>> Hashed((1, 2)) in {Hashed((1, 2))}, hash(Hashed((2**61 - 1,))) == hash(Hashed((0,)))
    (True, False)
    """

    __slots__ = ()

    def __hash__(self) -> int:
        return hash(marshal.dumps(tuple(self), 2))  # version 2 encodes equal values equally


def distinct(values: Iterable[Any]) -> list[Any]:
    """The distinct values among numbers, or lists of numbers, in increasing order.

    >>> distinct([[2, 1], [1, 3], [2, 1]])
    [[1, 3], [2, 1]]
    """
    return [x for x, _ in groupby(sorted(values))]


def direction(vector: Sequence[int]) -> tuple[Hashed | None, int]:
    """(primitive, scale) with vector = scale · primitive; parallel vectors have the same primitive.
    The result is (None, 0) for 0.

    >>> direction([0, -4, 6]), direction([0, 0])
    (((0, 2, -3), -2), (None, 0))
    """
    content = math.gcd(*(int(x) for x in vector))
    if content == 0:
        return None, 0
    scale = content if next(x for x in vector if x) > 0 else -content
    return Hashed(int(x) // scale for x in vector), scale
