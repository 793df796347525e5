"""From residues modulo p^K back to rationals: digits joined, and the half-gcd."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gmpy2 import gcd, mpz

__all__ = ["common_denominator", "join_digits"]

_PLAIN = 400  # bits below which Euclid's steps are taken one by one


def join_digits(digits: Sequence[int], base: int) -> Any:
    """Σ_k digits[k]·base^k, by halves: quasi-linear.

    >>> join_digits([1, 2, 3], 10)
    mpz(321)
    """
    parts, power = [mpz(x) for x in digits], mpz(base)
    while len(parts) > 1:
        if len(parts) % 2:
            parts.append(mpz(0))
        parts = [low + high * power for low, high in zip(parts[::2], parts[1::2], strict=True)]
        power *= power
    return parts[0] if parts else mpz(0)


def common_denominator(x: Any, modulus: Any, margin: int) -> Any | None:
    """The D > 0 of the fraction N/D ≡ x with N and D shorter than √m by margin/2 bits, if any.

    N/D mod m = x means that (N, D) lies in the lattice spanned by (m, 0) and (x, 1), whose shortest
    vector has about half the bits of m, unless there is a reason. The lattice is reduced by a
    half-gcd of (m, x), then by plain steps.

    >>> p = mpz(10) ** 60
    >>> common_denominator(-22 * mpz(7).__pow__(-1, p) % p, p, 20)
    mpz(7)
    """
    a, b, c, d = _halve(mpz(modulus), mpz(x), modulus.bit_length() // 2)
    short, long = (a * modulus + b * x, b), (c * modulus + d * x, d)
    while True:  # Lagrange's reduction: the half-gcd works on leading bits, and may fall short
        if _norm(long) < _norm(short):
            short, long = long, short
        dot = long[0] * short[0] + long[1] * short[1]
        steps = (2 * dot + _norm(short)) // (2 * _norm(short))
        if not steps:
            break
        long = (long[0] - steps * short[0], long[1] - steps * short[1])
    numerator, denominator = abs(short[0]), abs(short[1])
    size = numerator.bit_length() + denominator.bit_length()
    if not denominator or size + margin > modulus.bit_length():
        return None
    return denominator // gcd(numerator, denominator)


def _norm(vector: tuple[Any, Any]) -> Any:
    return vector[0] * vector[0] + vector[1] * vector[1]


Matrix = tuple[Any, Any, Any, Any]


def _halve(a: Any, b: Any, stop: int) -> Matrix:
    """(i, j, k, l), of determinant ±1, with i·a + j·b and k·a + l·b of about `stop` bits or one
    division apart from there; a ≥ b ≥ 0.

    Quotients depend on leading bits only: to take s bits off, 2s leading bits are enough, and the
    work is done in two halves of s/2 each. Rounding may make a quotient at the end of a half wrong;
    the transformation is still unimodular.
    """
    bits = a.bit_length()
    excess = bits - stop
    if excess <= 0 or b.bit_length() <= stop:
        return mpz(1), mpz(0), mpz(0), mpz(1)
    shift = bits - 2 * excess - 64
    if shift > 0:
        return _halve(a >> shift, b >> shift, stop - shift)
    if excess <= _PLAIN:
        return _euclid(a, b, stop)
    first = _halve(a, b, stop + excess // 2)
    i, j, k, m = _ordered(a, b, first)
    second = _halve(i * a + j * b, k * a + m * b, stop)
    return _times(second, (i, j, k, m))


def _euclid(a: Any, b: Any, stop: int) -> Matrix:
    i, j, k, m = mpz(1), mpz(0), mpz(0), mpz(1)
    while b.bit_length() > stop:
        q, rest = divmod(a, b)
        a, b = b, rest
        i, j, k, m = k, m, i - q * k, j - q * m
    return i, j, k, m


def _ordered(a: Any, b: Any, matrix: Matrix) -> Matrix:
    """Signs and order of the rows such that both products are ≥ 0, the larger first."""
    i, j, k, m = matrix
    high, low = i * a + j * b, k * a + m * b
    if high < 0:
        i, j, high = -i, -j, -high
    if low < 0:
        k, m, low = -k, -m, -low
    return (i, j, k, m) if high >= low else (k, m, i, j)


def _times(x: Matrix, y: Matrix) -> Matrix:
    return (
        x[0] * y[0] + x[1] * y[2],
        x[0] * y[1] + x[1] * y[3],
        x[2] * y[0] + x[3] * y[2],
        x[2] * y[1] + x[3] * y[3],
    )
