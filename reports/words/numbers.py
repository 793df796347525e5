"""How numbers are written: briefly, and never with more precision than they have.

Every function returns text in the form of `reports.words.text` (LaTeX between dollar signs). A long
integer is written from its bit length, without its decimal digits.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.numerals import fraction

_RATIONAL = re.compile(r"-?[0-9]+(/[1-9][0-9]*)?")
_LONG = 12  # the longest integer written in full, in digits
BEYOND = 10**200  # larger numbers are not drawn or written: floats end at 10^308
_SHOWN = 8  # how many items of a list are written out


def whole(x: int) -> str:
    """An integer written in full, as a power of two, or by its size.

    >>> whole(1782), whole(-(2**137000)), whole(3**200)
    ('1,782', '$-2^{137000}$', 'about $2.66\\\\cdot 10^{95}$ (317 bits)')
    """
    magnitude, sign = abs(x), "-" if x < 0 else ""
    bits = magnitude.bit_length()
    if magnitude < 10**_LONG:
        return f"{x:,}"
    if magnitude & (magnitude - 1) == 0:
        return f"${sign}2^{{{bits - 1}}}$"
    return f"about {_scientific(_log10(magnitude), sign)} ({bits:,} bits)"


def size(x: int) -> str:
    """A count, such as bits, written in full or to three digits.

    >>> size(1451), size(-(3**200))
    ('1,451', 'about $-2.66\\\\cdot 10^{95}$')
    """
    magnitude, sign = abs(x), "-" if x < 0 else ""
    return f"{x:,}" if magnitude < 10**_LONG else f"about {_scientific(_log10(magnitude), sign)}"


def rational(x: Fraction | int | str) -> str:
    """A rational, which may be a string "p/q".

    >>> rational("-2/3"), rational(Fraction(10**40, 3))
    ('-2/3', 'about $3.33\\\\cdot 10^{39}$ (133 bits over 2)')
    """
    x = fraction(x)
    p, q = x.numerator, x.denominator
    if q == 1:
        return whole(p)
    if p.bit_length() + q.bit_length() <= 3.3 * 2 * _LONG:
        return f"{p}/{q}"
    about = _scientific(_log10(abs(p)) - _log10(q), "-" if p < 0 else "")
    return f"about {about} ({p.bit_length():,} bits over {q.bit_length():,})"


def real(x: float) -> str:
    """A float to three digits; zero, infinities and NaN have their own words.

    >>> real(0.5), real(123456.0), real(1.23e-9), real(float("-inf"))
    ('0.5', '123,456', '$1.23\\\\cdot 10^{-9}$', '-∞')
    """
    if math.isnan(x):
        return "not a number"
    if math.isinf(x):
        return "∞" if x > 0 else "-∞"
    if x == 0 or 1e-3 <= abs(x) < 100:
        return f"{x:.3g}"
    if abs(x) < 1e6 and abs(x) >= 100:
        return f"{x:,.0f}"
    return _scientific(math.log10(abs(x)), "-" if x < 0 else "")


def power_of_two(log2: float) -> str:
    """2 to the power log2, which may be far outside the range of floats.

    >>> power_of_two(-3.0), power_of_two(-137000.2), power_of_two(float("-inf"))
    ('0.125', '$2^{-137000}$', '0')
    """
    if log2 == -math.inf:
        return "0"
    if abs(log2) <= 10:
        return real(2.0**log2)
    if abs(log2) < 1000:
        return f"$2^{{{log2:.1f}}}$"
    if abs(log2) < 1e9:
        return f"$2^{{{log2:.0f}}}$"
    exponent = _scientific(math.log10(abs(log2)), "-" if log2 < 0 else "").strip("$")
    return f"$2^{{{exponent}}}$"


def indices(values: Iterable[int], limit: int = _SHOWN) -> str:
    """Integers in the order given, with runs of consecutive ones folded.

    >>> indices([0, 1, 2, 5]), indices([3, 1]), indices([])
    ('0–2, 5', '3, 1', 'none')
    """
    runs: list[list[int]] = []
    items = list(values)
    for k in items:
        if runs and k == runs[-1][-1] + 1:
            runs[-1].append(k)
        else:
            runs.append([k])
    parts = [f"{r[0]}–{r[-1]}" if len(r) > 2 else ", ".join(map(str, r)) for r in runs]
    if len(parts) > limit:
        return ", ".join(parts[:limit]) + f", … ({len(items):,} in all)"
    return ", ".join(parts) or "none"


def tokens(data: Dataset) -> str:
    """The number of tokens of a context.

    >>> tokens(Dataset.of([[1]], [[1]])), tokens(Dataset.of([[[1]], [[1], [2]]], [[1], [2]]))
    ('$n = 1$', '$n_t = 1$ to $2$')
    """
    least, _, most = data.lengths.partition(" to ")
    return f"$n_t = {least}$ to ${most}$" if most else f"$n = {least}$"


def percent(x: float) -> str:
    """A percentage, rounded up so that an upper bound stays an upper bound.

    >>> percent(0.000598968), percent(1.0), percent(0.0), percent(0.0438)
    ('0.060 %', '100 %', '0 %', '4.4 %')
    """
    if x in (0.0, 1.0):
        return f"{100 * x:.0f} %"
    digits = 1 - math.floor(math.log10(100 * x))
    scale = 10.0**digits
    return f"{math.ceil(100 * x * scale) / scale:.{max(0, digits)}f} %"


def notation(x: Any) -> str:
    """Any value in a claim's `numbers` or `witness`.

    >>> notation({"rank": 3, "of": [1, 2, 4]}), notation("7/5"), notation(None), notation(True)
    ('rank: 3; of: 1, 2, 4', '7/5', 'none', 'yes')
    """
    if x is None:
        return "none"
    if isinstance(x, bool):
        return "yes" if x else "no"
    if isinstance(x, int):
        return whole(x)
    if isinstance(x, float):
        return real(x)
    if isinstance(x, Mapping):
        return "; ".join(f"{words(k)}: {notation(v)}" for k, v in x.items()) or "none"
    if isinstance(x, Sequence) and not isinstance(x, str):
        return _sequence(x)
    text = str(x)
    return rational(text) if _RATIONAL.fullmatch(text) else text


def words(key: Any) -> str:
    """A key as words, or as a symbol.

    >>> words("logit_bits"), words("d_h")
    ('logit bits', '$d_h$')
    """
    key = str(key)
    return f"${key}$" if re.fullmatch("[A-Za-z]_[A-Za-z]", key) else key.replace("_", " ")


def _sequence(items: Sequence[Any]) -> str:
    nested = any(isinstance(i, Sequence) and not isinstance(i, str) for i in items)
    parts = [f"({notation(i)})" if nested else notation(i) for i in items[:_SHOWN]]
    if len(items) > _SHOWN:
        parts.append(f"… ({len(items):,} in all)")
    return ", ".join(parts) or "none"


def _log10(x: int) -> float:
    """log10 of a positive integer of any size."""
    shift = max(0, x.bit_length() - 64)
    return math.log10(x >> shift) + shift * math.log10(2)


def _scientific(log10: float, sign: str) -> str:
    exponent = math.floor(log10)
    mantissa = f"{10 ** (log10 - exponent):.2f}"
    if mantissa == "10.00":
        mantissa, exponent = "1.00", exponent + 1
    return f"${sign}{mantissa}\\cdot 10^{{{exponent}}}$"
