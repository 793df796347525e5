"""A rational vector up to scale: which vectors are parallel is then a matter of equal keys."""

from __future__ import annotations

import math
from collections.abc import Sequence

from attncert.constructions.exact.keys import Key

Direction = Key


def direction(vector: Sequence[int]) -> tuple[Direction | None, int]:
    """(primitive, scale) with vector = scale · primitive, whose first nonzero entry is positive.

    (None, 0) for the zero vector.

    >>> direction([0, -4, 6]), direction([0, 0])
    (((0, 2, -3), -2), (None, 0))
    """
    content = math.gcd(*(int(x) for x in vector))
    if content == 0:
        return None, 0
    scale = content if next(x for x in vector if x) > 0 else -content
    return Key(int(x) // scale for x in vector), scale
