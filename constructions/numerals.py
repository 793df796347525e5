"""Exact numbers in decimal, of any length: conversion to text and back.

Python's `str` of an integer and `int` of a text raise an error above a limit on the number of
digits (4,300; the environment can set it to 640), and take quadratic time. FLINT has no limit, and
is quasi-linear.
"""

from __future__ import annotations

import re
from decimal import ROUND_UP, Context, Decimal
from fractions import Fraction
from typing import Any

from flint import arb, ctx, fmpq, fmpz

_SHORT_BITS = 600  # the longest number that a sentence writes in full
_INTEGER = re.compile("-?[0-9]+", re.ASCII)

# The most bits of an integer that every Python reads and writes in JSON: under 640 digits.
MOST_JSON_BITS = 2_000


def numeral(x: Any) -> str:
    """An integer or a rational, exactly: "p", or "p/q" in lowest terms with q > 1.

    x: int, Fraction, FLINT's fmpz or fmpq, a NumPy integer, or a finite float (the dyadic rational
    that it stores). Arithmetic: exact.

    >>> numeral(Fraction(-6, 4)), numeral(0.375), numeral(fmpq(6, 3))
    ('-3/2', '3/8', '2')
    >>> len(numeral(10**5000))
    5001
    """
    if isinstance(x, fmpz | fmpq):
        return x.str()
    if isinstance(x, int | float | Fraction):
        p, q = x.as_integer_ratio()
    else:
        p, q = int(x.numerator), int(x.denominator)
    return fmpz(p).str() if q == 1 else f"{fmpz(p).str()}/{fmpz(q).str()}"


def short(x: Any, below: Any = 1) -> str:
    """x / below, for a nonzero integer `below`: exactly if that is short, else its leading digits
    and its number of bits.

    >>> short(-2, 6)
    '-1/3'
    >>> short(Fraction(1, 2**4000))
    '7.59e-1205 (exact: 4001 bits)'
    """
    number = fmpq(int(x.numerator), int(x.denominator)) / int(below)
    bits = max(number.p.height_bits(), number.q.height_bits())
    if bits <= _SHORT_BITS:
        return numeral(number)
    with ctx.workprec(64):
        leading = arb(number).str(3, radius=False)
    return f"{leading} (exact: {bits} bits)"


def rounded_up(x: Fraction, digits: int) -> str:
    """x ≥ 0 in decimal with at most this many digits, rounded up unless it is exact.

    >>> rounded_up(Fraction(1, 128), 5), rounded_up(Fraction(1, 3), 5), rounded_up(Fraction(0), 5)
    ('0.0078125', '0.33334', '0')
    >>> rounded_up(Fraction(1, 3 * 10**300), 5)
    '3.3334e-301'
    """
    up = Context(prec=digits, rounding=ROUND_UP)
    number = up.divide(Decimal(x.numerator), Decimal(x.denominator)).normalize()
    return f"{number:f}" if -10 < number.adjusted() < 10 else f"{number:e}"


def integer(text: str) -> int:
    """The integer in a text of ASCII digits, with an optional minus sign. Raises ValueError.

    >>> integer("-" + "9" * 5000) == 1 - 10**5000
    True
    """
    if not _INTEGER.fullmatch(text):
        raise ValueError("not an integer in decimal")
    return int(fmpz(text))


def fraction(x: Fraction | int | str) -> Fraction:
    """The rational number x, or the one in a text "p" or "p/q". Raises ValueError,
    ZeroDivisionError.

    >>> fraction("-2/3") + 1
    Fraction(1, 3)
    """
    if not isinstance(x, str):
        return Fraction(x)
    p, slash, q = x.partition("/")
    return Fraction(integer(p), integer(q) if slash else 1)
