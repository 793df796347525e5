"""Sinusoidal encodings of n positions in dimension d are independent for n ≤ d, enclosed in balls.

Position p = 0, 1, ... has the coordinates sin(p ω_j), cos(p ω_j), j = 0..d/2 - 1, with
ω_j = base^(-2j/d). Over ℂ these two span the same as e^(i p ω_j) and e^(-i p ω_j), by an invertible
map of the columns. In those coordinates the first d positions are the rows of a Vandermonde matrix
with the d nodes e^(±i ω_j), whose determinant is the product of all differences of two nodes. So
they are independent if and only if the nodes are distinct, and then so are fewer of them. Nodes
e^(iα), e^(iβ) have distance 2|sin((α - β)/2)|: each factor is enclosed, and no elimination is done.

This is about the real numbers sin and cos. What a model stores is rounded; `attncert assume` and
`attncert kruskal` judge that. More than d vectors of dimension d are dependent; nothing more is
claimed of them. The determinant of the encodings themselves is that product times (i/2)^(d/2) up
to sign: each pair of columns costs a factor of absolute value 1/2.
"""

from __future__ import annotations

import math

import numpy as np
from flint import arb, ctx

from attncert.constructions.arrays import FloatArray
from attncert.constructions.errors import InputError
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level

_SOURCE = "ours; verify/assume/positions.py"


def sinusoidal_independence(
    positions: int, width: int, *, base: float = 10_000.0, precision: int = 64
) -> Claim:
    """That encodings of `positions` ≤ width positions are independent: enclosed, or refuted where
    two nodes are equal for certain, else undecided at this precision. width: even.

    >>> claim = sinusoidal_independence(6, 6)
    >>> claim.level.value, claim.numbers["factors"]
    ('enclosed', 15)
    >>> sinusoidal_independence(4, 4, base=1.0).level.value  # all frequencies are equal
    'refuted'
    """
    if width < 2 or width % 2:
        raise InputError("width", "even and positive", width)
    if not 1 <= positions <= width:
        raise InputError("positions", f"from 1 to the width, {width}", positions)
    if not (math.isfinite(base) and base > 0):
        raise InputError("base", "a positive number", base)
    with ctx.workprec(precision):
        ln = arb(base).log()
        omega = [(-ln * (2 * j) / width).exp() for j in range(width // 2)]
        half = [w / 2 for w in omega] + [-w / 2 for w in omega]
        least, logs, doubtful = None, arb(0), []
        for a, x in enumerate(half):
            for b in range(a):
                factor = abs((x - half[b]).sin())
                if not factor > 0:
                    doubtful.append((b, a))
                    continue
                least = factor if least is None or factor < least else least
                logs += factor.log()
        count = len(half) * (len(half) - 1) // 2
        equal = _equal(base, width, doubtful)
        level = Level.ENCLOSED if not doubtful else Level.REFUTED if equal else Level.UNDECIDED
        # |det| = 2^(-d/2) times the product of 2|sin|, in bits
        bits = logs / arb(2).log() + count - width // 2
        numbers: dict[str, float] = {"factors": count}
        if least is not None and not doubtful:
            numbers["least factor at least"] = math.nextafter(2 * float(least.lower()), 0.0)
            numbers["log2 of the determinant"] = float(bits.mid())
    return Claim(
        ids.POSITIONS,
        f"Sinusoidal encodings of the positions 0 to {positions - 1} in dimension {width} are "
        "independent.",
        level,
        numbers=numbers,
        witness={"nodes not told apart": doubtful[:8]} if doubtful else None,
        arithmetic=f"balls of {precision} bits (Arb)",
        source=_SOURCE,
    )


def _equal(base: float, width: int, doubtful: list[tuple[int, int]]) -> bool:
    """Whether some two nodes are equal for certain: only base 1 makes frequencies equal."""
    return bool(doubtful) and base == 1.0 and width > 2


def sinusoidal(positions: int, width: int, base: float = 10_000.0) -> FloatArray:
    """The encodings in float64, (positions, width), sines in even columns.

    >>> sinusoidal(2, 2).tolist() == [[0.0, 1.0], [math.sin(1.0), math.cos(1.0)]]
    True
    """
    angles = np.arange(positions)[:, None] * base ** (-2 * np.arange(width // 2) / width)
    out = np.empty((positions, width))
    out[:, 0::2], out[:, 1::2] = np.sin(angles), np.cos(angles)
    return out
