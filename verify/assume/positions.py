"""How many sinusoidal encodings of positions are independent: as many as they are wide.

Position p = 0, 1, ... has the coordinates sin(p ω_j) and cos(p ω_j), j = 0, 1, ..., with
ω_j = base^(-2j/d); of an odd width d, the last is a sine alone. Over ℂ a sine and its cosine span
the same as e^(i p ω_j) and e^(-i p ω_j). So for even d the first d positions are the rows of a
Vandermonde matrix with the d nodes e^(±i ω_j): independent if and only if the nodes are distinct.

Let m = (d - 1)/2 and ω = ω_m for odd d. The determinant is linear in its last column,
sin(p ω) = (e^(i p ω) - e^(-i p ω))/2i. Beside the 2m nodes of the pairs, whose polynomial is
q(x) = ∏ (x² - 2x cos ω_j + 1) = x^m ∏ (x + 1/x - 2 cos ω_j), it is their Vandermonde determinant
times (q(e^(iω)) - q(e^(-iω)))/2i = sin(m ω) ∏ 2(cos ω - cos ω_j).

The frequencies are positive and, base being rational, algebraic, and so are their sums, differences
and multiples by integers; of the multiples of π, 0 alone is algebraic (Lindemann). So the nodes are
distinct, and the cos ω_j too, where the frequencies are: for every base but 1. (For base > 1 and
even d it is enough that they lie in (0, 1].) And sin(m ω) = 0 for m = 0 alone: of width 1,
position 0 is the vector 0. With base 1 all frequencies are equal, and the encodings have rank 2.

This is about the real numbers sin and cos. What a model stores is rounded; `attncert assume` and
`attncert kruskal` judge that.
"""

from __future__ import annotations

import math

import numpy as np

from attncert.constructions.arrays import FloatArray
from attncert.constructions.errors import InputError
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level


def sinusoidal_independence(positions: int, width: int, *, base: float = 10_000.0) -> Claim:
    """That the encodings of the first `positions` positions are independent: argued, or refuted.

    base: of the frequencies, a positive rational number, as every float is.

    >>> sinusoidal_independence(6, 6).level.value, sinusoidal_independence(7, 6).level.value
    ('argued', 'refuted')
    >>> sinusoidal_independence(4, 4, base=1.0).numbers  # all frequencies are equal
    {'most': 2}
    """
    if width < 1:
        raise InputError("width", "at least 1", width)
    if positions < 1:
        raise InputError("positions", "at least 1", positions)
    if not (math.isfinite(base) and base > 0):
        raise InputError("base", "a positive number", base)
    most = 0 if width == 1 else 2 if base == 1 else width
    return Claim(
        ids.POSITIONS,
        f"Sinusoidal encodings of the positions 0 to {positions - 1} in dimension {width} are "
        "independent.",
        Level.ARGUED if positions <= most else Level.REFUTED,
        numbers={"most": most},
        witness={"positions": positions, "most": most} if positions > most else None,
        arithmetic="comparison of integers",
        source="ours; verify/assume/positions.py",
    )


def sinusoidal(positions: int, width: int, base: float = 10_000.0) -> FloatArray:
    """The encodings in float64, (positions, width), sines in even columns.

    >>> sinusoidal(2, 2).tolist() == [[0.0, 1.0], [math.sin(1.0), math.cos(1.0)]]
    True
    """
    angles = np.arange(positions)[:, None] * base ** (-2 * np.arange((width + 1) // 2) / width)
    out = np.empty((positions, width))
    out[:, 0::2], out[:, 1::2] = np.sin(angles), np.cos(angles[:, : width // 2])
    return out
