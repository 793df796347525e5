"""How far a layer is from its labels, enclosed rigorously: ball arithmetic (Arb).

Floats are exact numbers (dyadic rationals), and so are the data; the only roundings are those of
the evaluation itself, and a ball carries them along. So for weights in float64, and the softmax in
base e, the error max_t |A(E⁽ᵗ⁾, e⁽ᵗ⁾) - y⁽ᵗ⁾| gets a lower and an upper bound that are theorems.

Derivation (ours). For logits ℓ = E K Qᵀ e and any row p, σ_i = exp(ℓ_i - ℓ_p) / Σ_j exp(ℓ_j - ℓ_p).
We take for p the row of the largest midpoint: no exponential is much above 1, so logits of 10^5 do
no harm, and the sum is at least exp(0) = 1, exactly. At b bits a logit of size Λ has a radius near
Λ 2^-b, which becomes the relative radius of its weight; A - y then cancels most of the leading
bits. How many is not known beforehand: b is doubled until the answer is decided.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx, fmpq, fmpq_mat

from attncert.constructions.arrays import AnyArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.exact_array import ExactArray
from attncert.constructions.errors import InputError
from attncert.constructions.layer import Head, Layer
from attncert.constructions.numerals import numeral, short
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.interpolation import require_readout

Weights = Layer | Mapping[str, AnyArray]

FIRST_BITS = 64  # working precision of the first attempt
MAX_BITS = 16_384  # of the last
RELATIVE_WIDTH = fmpq(1, 2**10)  # of an error that counts as known
DIGITS = 6  # of the decimal bounds, at least
_DECIMAL_BITS = 1_000_000  # beyond 2^±this a bound is given as a power of ten

_ID = ids.ENCLOSURE_ERROR
_SOURCE = "ours: ball arithmetic (verify/interpolation/enclosure.py)"
_ERROR = r"\max_t \|A(E^{(t)}, e^{(t)}) - y^{(t)}\|_\infty"


def enclose_error(
    data: Dataset,
    weights: Weights,
    *,
    tolerance: int | float | str | Fraction | None = None,
    max_bits: int = MAX_BITS,
) -> Claim:
    """The interpolation error max_t max_c |A(E⁽ᵗ⁾, e⁽ᵗ⁾)_c - y⁽ᵗ⁾_c|, between two bounds.

    data: T exact examples. weights: float arrays W_K, W_Q (H, d, d_h), W_V (H, d, d_v),
    W_O (H·d_v, m) for a softmax in base e without a scale (`Layer.to_numpy`); or a `Layer`, taken
    exactly, ln 2 included. Returns the claim "enclosure.error" with the bounds of every
    example:

    - without `tolerance`: *enclosed* once the error is known to a relative width of 2^-10 (an error
      of exactly 0 is usually not: its upper bound only shrinks);
    - with it: *enclosed* once the error is proved to be at most `tolerance`, *refuted* once one
      example is proved to exceed it (the witness);
    - *undecided* where `max_bits` bits do not settle it.

    Raises InputError for weights that are not finite floats of these shapes, a tolerance that is
    not a number ≥ 0, or `max_bits` below 64.
    """
    exact = _exact(weights)
    values, output = require_readout(data, exact.layer)
    return enclosed_error(
        data,
        lambda: _features(data, exact) * readout(values, output),
        tolerance=tolerance,
        max_bits=max_bits,
    )


def enclosed_error(
    data: Dataset,
    outputs: Callable[[], arb_mat],
    *,
    tolerance: int | float | str | Fraction | None = None,
    strict: bool = False,
    max_bits: int = MAX_BITS,
) -> Claim:
    """`enclose_error` for whatever computes the outputs, T×m in balls of the working precision.

    strict: the error must be below the tolerance, not merely at most that. Of the examples, those
    beyond the tolerance and those undecided with the bits that settled the whole are told.
    """
    if max_bits < FIRST_BITS:
        raise InputError("max_bits", f"at least {FIRST_BITS}", max_bits)
    limit = None if tolerance is None else _tolerance(tolerance)
    bits, level = FIRST_BITS, Level.UNDECIDED
    while True:
        with ctx.workprec(bits):
            bounds = row_bounds(outputs() - arb_mat(data.label_matrix))
            low, high = max(low for low, _ in bounds), max(high for _, high in bounds)
            level = _decide(low, high, limit, strict)
        if level is not Level.UNDECIDED or 2 * bits > max_bits:
            break
        bits *= 2

    errors = [[decimal(low, up=False), decimal(high, up=True)] for low, high in bounds]
    interval = [decimal(low, up=False), decimal(high, up=True)]
    numbers: dict[str, Any] = {"precision_bits": bits, "error": interval, "errors": errors}
    statement = rf"${_ERROR}$ lies between {interval[0]} and {interval[1]}"
    if limit is not None:
        less = "<" if strict else r"\le"
        statement = f"${_ERROR} {less} {_text(tolerance, short)}$"
        numbers["tolerance"] = _text(tolerance, numeral)
        judged = [_decide(*pair, limit, strict) for pair in bounds]
        numbers["beyond"] = [t for t, x in enumerate(judged) if x is Level.REFUTED]
        numbers["open"] = [t for t, x in enumerate(judged) if x is Level.UNDECIDED]
    witness: dict[str, Any] | None = None
    if level is Level.REFUTED:
        worst = max(range(data.T), key=lambda t: bounds[t][0])
        witness = {"example": worst, "error": errors[worst]}
    elif level is Level.UNDECIDED:
        witness = {"reason": f"not settled with {bits} bits, the limit is {max_bits}"}
    arithmetic = f"ball arithmetic (Arb), {bits} bits"
    return Claim(_ID, statement, level, numbers, witness, arithmetic, source=_SOURCE)


_NAMES = ("W_K", "W_Q", "W_V", "W_O")


@dataclass(frozen=True)
class _Exact:
    layer: Layer  # the very numbers of the weights: floats are dyadic rationals
    base_two: bool  # whether ln 2 is still to be multiplied in


def _exact(weights: Weights) -> _Exact:
    if isinstance(weights, Layer):
        return _Exact(weights, base_two=True)
    arrays = {}
    for name in _NAMES:
        if name not in weights:
            raise InputError("weights", f"the arrays {', '.join(_NAMES)}", sorted(weights))
        array, rank = np.asarray(weights[name]), 2 if name == "W_O" else 3
        if array.ndim != rank or 0 in array.shape:
            raise InputError(name, f"of rank {rank}, without empty axes", f"of shape {array.shape}")
        arrays[name] = ExactArray.of(array, name)
    counts = {len(arrays[name]) for name in _NAMES[:3]}
    if len(counts) > 1:
        raise InputError("weights", "of equally many heads", f"of {sorted(counts)} heads")
    heads = [Head(*(arrays[name][h].matrix() for name in _NAMES[:3])) for h in range(counts.pop())]
    return _Exact(Layer(tuple(heads), arrays["W_O"].matrix()), base_two=False)


def _features(data: Dataset, exact: _Exact) -> arb_mat:
    unit = arb.const_log2() if exact.base_two else arb(1)
    queries = arb_mat(data.query_matrix) * unit
    contexts = [arb_mat(data.context(t)) for t in range(1 if data.shared else data.T)]
    rows: list[list[arb]] = [[] for _ in range(data.T)]
    for head in exact.layer.heads:
        directions = queries * arb_mat(head.query) * arb_mat(head.key).transpose()  # K Qᵀ e, T×d
        for t, direction in enumerate(directions.tolist()):
            context = contexts[0 if data.shared else t]
            logits = (context * arb_mat(data.d, 1, direction)).entries()
            rows[t] += (arb_mat(1, len(logits), softmax(logits)) * context).entries()
    return arb_mat(rows)


def softmax(logits: list[arb]) -> list[arb]:
    """exp(ℓ_i)/Σ_j exp(ℓ_j), shifted by the largest midpoint."""
    peak = max(range(len(logits)), key=lambda i: logits[i].mid())
    powers = [arb(1) if i == peak else (x - logits[peak]).exp() for i, x in enumerate(logits)]
    total = sum(powers, arb(0))
    return [x / total for x in powers]


def readout(values: list[fmpq_mat], output: fmpq_mat) -> arb_mat:
    """V, (H·d)×m: the blocks W_V,h W_O,h below one another."""
    width, rows = values[0].ncols(), arb_mat(output).tolist()
    readout: list[list[arb]] = []
    for h, value in enumerate(values):
        readout += (arb_mat(value) * arb_mat(rows[h * width : (h + 1) * width])).tolist()
    return arb_mat(readout)


def row_bounds(differences: arb_mat) -> list[tuple[arb, arb]]:
    """Row by row, a lower and an upper bound of the largest absolute value, as exact points."""
    bounds = []
    for row in differences.tolist():
        if all(x.is_finite() for x in row):
            bounds.append((max(x.abs_lower() for x in row), max(x.abs_upper() for x in row)))
        else:  # too few bits: nothing known (a NaN would slip through the comparisons)
            bounds.append((arb(0), arb("inf")))
    return bounds


def _decide(low: arb, high: arb, limit: fmpq | None, strict: bool) -> Level:
    # Arb's comparisons are true only where they hold for all points of both balls.
    if limit is None:
        return Level.ENCLOSED if high - low <= low * RELATIVE_WIDTH else Level.UNDECIDED
    if high < limit or (high <= limit and not strict):
        return Level.ENCLOSED
    return Level.REFUTED if low > limit or (low >= limit and strict) else Level.UNDECIDED


def _text(
    tolerance: int | float | str | Fraction | None, exact: Callable[[int | Fraction], str]
) -> str:
    """As it was given: a float as the decimal that names it."""
    return exact(tolerance) if isinstance(tolerance, int | Fraction) else str(tolerance)


def _tolerance(tolerance: int | float | str | Fraction) -> fmpq:
    try:
        exact = Fraction(tolerance)
    except (ValueError, TypeError, ZeroDivisionError, OverflowError):
        exact = Fraction(-1)
    if exact < 0:
        raise InputError("tolerance", "a number, at least 0", tolerance)
    return fmpq(exact.numerator, exact.denominator)


def decimal(point: arb, *, up: bool) -> str:
    """A non-negative exact point in `DIGITS` decimal digits or one more, rounded down or up.

    >>> decimal(arb(1) / 8, up=False), decimal(arb(2) ** 70, up=False), decimal(arb(0), up=True)
    ('0.125', '1.18059e+21', '0')
    >>> decimal(arb(2) ** 70, up=True)
    '1.1806e+21'
    """
    if not point.is_finite():
        return "inf"
    mantissa, exponent = (int(x) for x in point.man_exp())
    if mantissa == 0:
        return "0"
    size = mantissa.bit_length() + exponent
    if abs(size) > _DECIMAL_BITS:  # a far tail (or nothing known): a power of ten says it all
        power = int(_DECIMAL_BITS * math.log10(2))
        tiny, huge = (f"1e-{power}", "0"), ("inf", f"1e+{power}")
        return (tiny if size < 0 else huge)[0 if up else 1]
    scale = math.floor((size - 1) * math.log10(2)) - DIGITS + 1
    numerator = mantissa * 2 ** max(exponent, 0) * 10 ** max(-scale, 0)
    denominator = 2 ** max(-exponent, 0) * 10 ** max(scale, 0)
    digits = -(-numerator // denominator) if up else numerator // denominator
    return f"{Decimal(digits).scaleb(scale).normalize():g}"
