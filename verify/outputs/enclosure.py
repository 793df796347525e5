"""Rigorous bounds on the error of a layer, by ball arithmetic (Arb).

Floats are exact numbers (dyadic rationals), and so are the data. Only the evaluation involves
rounding, and balls enclose its errors. So the lower and the upper bound on the error max_t |A(E⁽ᵗ⁾,
e⁽ᵗ⁾) - y⁽ᵗ⁾| are theorems, even for float64 weights and the softmax in base e.

Derivation (ours). All logits are shifted by the midpoint of a largest logit (constructions/network/
arithmetic.py). So no exponential is much above 1, and logits of 10^5 do no harm. At b bits, a logit
of size Λ has a radius near Λ 2^-b, which becomes the relative radius of its weight. Most leading
bits then cancel in A - y. Their number is not known beforehand, so b is doubled until the claim is
decided.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

from flint import arb, arb_mat, ctx, fmpq

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.numerals import numeral, short
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level

FIRST_BITS = 64  # working precision of the first attempt
MAX_BITS = 16_384  # working precision of the last attempt
RELATIVE_WIDTH = fmpq(1, 2**10)  # an error counts as known at this relative width of its bounds
DIGITS = 6  # minimum number of digits in the decimal bounds
_DECIMAL_BITS = 1_000_000  # bounds beyond 2^±1,000,000 are written as powers of ten

_ID = ids.ENCLOSURE_ERROR
_SOURCE = "ours: ball arithmetic (verify/outputs/enclosure.py)"
_ERROR = r"\max_t \|A(E^{(t)}, e^{(t)}) - y^{(t)}\|_\infty"


def enclosed_error(
    data: Dataset,
    outputs: Callable[[], arb_mat],
    *,
    tolerance: Fraction | None = None,
    first_bits: int = FIRST_BITS,
    max_bits: int = MAX_BITS,
) -> Claim:
    """Bounds on the interpolation error max_t max_c |A(E⁽ᵗ⁾, e⁽ᵗ⁾)_c - y⁽ᵗ⁾_c|.

    outputs: computes A(E⁽ᵗ⁾, e⁽ᵗ⁾), T×m, in balls at the working precision, which starts at
    `first_bits`. The claim "enclosure.error", with the bounds of every example, is *enclosed* once
    the error is known to a relative width of 2^-10 or, if a tolerance is given, proved to be at
    most the tolerance; *refuted* once an example is proved to exceed the tolerance; *undecided* if
    `max_bits` bits do not suffice."""
    limit = None if tolerance is None else fmpq(tolerance.numerator, tolerance.denominator)
    bits, level = first_bits, Level.UNDECIDED
    while True:
        with ctx.workprec(bits):
            bounds = row_bounds(outputs() - arb_mat(data.label_matrix))
            low, high = max(low for low, _ in bounds), max(high for _, high in bounds)
            level = _decide(low, high, limit)
        if level is not Level.UNDECIDED or 2 * bits > max_bits:
            break
        bits *= 2

    errors = [[decimal(low, up=False), decimal(high, up=True)] for low, high in bounds]
    interval = [decimal(low, up=False), decimal(high, up=True)]
    numbers: dict[str, Any] = {"precision_bits": bits, "error": interval, "errors": errors}
    statement = rf"${_ERROR}$ lies between {interval[0]} and {interval[1]}"
    if tolerance is not None:
        statement = rf"${_ERROR} \le {short(tolerance)}$"
        numbers["tolerance"] = numeral(tolerance)
        judged = [_decide(*pair, limit) for pair in bounds]
        numbers["beyond"] = [t for t, x in enumerate(judged) if x is Level.REFUTED]
        numbers["open"] = [t for t, x in enumerate(judged) if x is Level.UNDECIDED]
    witness: dict[str, Any] | None = None
    if level is Level.REFUTED:
        worst = max(range(data.T), key=lambda t: bounds[t][0])
        witness = {"example": worst, "error": errors[worst]}
    elif level is Level.UNDECIDED:
        witness = {"reason": f"not settled with {bits} bits; the limit is {max_bits}"}
    arithmetic = f"ball arithmetic (Arb), {bits} bits"
    return Claim(_ID, statement, level, numbers, witness, arithmetic, source=_SOURCE)


def row_bounds(differences: arb_mat) -> list[tuple[arb, arb]]:
    """For each row, a lower and an upper bound on its largest absolute value, as exact balls."""
    bounds = []
    for row in differences.tolist():
        if all(x.is_finite() for x in row):
            bounds.append((max(x.abs_lower() for x in row), max(x.abs_upper() for x in row)))
        else:  # with too few bits nothing is known; a NaN would pass the comparisons
            bounds.append((arb(0), arb("inf")))
    return bounds


def _decide(low: arb, high: arb, limit: fmpq | None) -> Level:
    # Arb's comparisons are true only if they hold for all points of both balls.
    if limit is None:
        return Level.ENCLOSED if high - low <= low * RELATIVE_WIDTH else Level.UNDECIDED
    if high <= limit:
        return Level.ENCLOSED
    return Level.REFUTED if low > limit else Level.UNDECIDED


def decimal(point: arb, *, up: bool) -> str:
    """An exact ball as a decimal with `DIGITS` digits or one more, rounded down or up.

    >>> decimal(arb(1) / 8, up=False), decimal(arb(2) ** 70, up=False), decimal(arb(0), up=True)
    ('0.125', '1.18059e+21', '0')
    >>> decimal(arb(2) ** 70, up=True)
    '1.1806e+21'
    """
    if point < 0:
        return f"-{decimal(-point, up=not up)}"
    if not point.is_finite():
        return "inf"
    mantissa, exponent = (int(x) for x in point.man_exp())
    if mantissa == 0:
        return "0"
    size = mantissa.bit_length() + exponent
    if abs(size) > _DECIMAL_BITS:  # very large, very small or unknown: a power of ten
        power = int(_DECIMAL_BITS * math.log10(2))
        tiny, huge = (f"1e-{power}", "0"), ("inf", f"1e+{power}")
        return (tiny if size < 0 else huge)[0 if up else 1]
    scale = math.floor((size - 1) * math.log10(2)) - DIGITS + 1
    numerator = mantissa * 2 ** max(exponent, 0) * 10 ** max(-scale, 0)
    denominator = 2 ** max(-exponent, 0) * 10 ** max(scale, 0)
    digits = -(-numerator // denominator) if up else numerator // denominator
    return f"{Decimal(digits).scaleb(scale).normalize():g}"
