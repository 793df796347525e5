"""The exponential in float64 and functions computed from it, with proved error bounds.

Let U = 2^-53. A double x is k ln 2 + r with an integer k and |r| ≤ 0.347; e^x = 2^k e^r.

**Reduction.** ln 2 = HIGH + LOW up to 2^-86, where HIGH has 32 bits, so that k·HIGH is exact for
|k| < 2^20. The two subtractions in x - k·HIGH - k·LOW have errors of at most 0.347U each; the
product and LOW contribute far less. So r has an error of at most 0.7U, and none if k = 0.

**Polynomial.** e^r - 1 = r q with q = Σ_j r^j / (j+1)!, truncated after j = 13 with an error below
0.001U. In Horner's scheme q_j = 1/(j+1)! + r q_(j+1), each step adds rounding errors of at most
U(|q_j| + |r q_(j+1)|), which contribute to q with a factor |r|^j. Here |q_0| ≤ 1.20, |q_1| ≤ 0.57,
|q_2| ≤ 0.19, and the rest is small. Including the errors in the coefficients, q is off by at most
1.7U. The computed r q is off by at most 0.347 · 1.7U + U · 0.347 · 1.2 ≤ 1.01U, which is 3.1U
relative to e^r - 1 for k = 0.

**Errors**, relative:
    e^x                            1.01U / e^-0.347 + 0.7U + U for 1 + r q: at most 3.2U.
    e^x - 1, x ≤ 0                 3.1U if k = 0. Else it is (2^k - 1) + 2^k r q, of absolute value
                                   0.29 or more, and off by at most U before it is rounded, half
                                   of it from r q and half from r: at most 6U.
    1 / (1 + e^-x)                 3.2U + U + U: at most 5.3U.
    tanh |x| = -m / (2 + m)        with m = e^(-2|x|) - 1: m is off by 6U, 2 + m by less than 7U,
                                   and the quotient by U: at most 14U.
Each bound leaves room for products of errors. If x is below -700, results below 2^-1000 are off by
at most 2^-1000.
"""

from __future__ import annotations

from math import factorial

import numpy as np

from attncert.constructions.arrays import FloatArray, IntArray

EXP_ERROR, SIGMOID_ERROR, TANH_ERROR = 3.2, 5.3, 14  # in units of U
_HIGH = float.fromhex("0x1.62e42fee00000p-1")
_LOW = float.fromhex("0x1.a39ef35793c76p-33")  # ln 2 - HIGH


def exp(x: FloatArray) -> FloatArray:
    """
    >>> exp(np.array([0.0, -np.inf])).tolist()
    [1.0, 0.0]
    """
    above_one, k = _reduced(x)
    return np.ldexp(1 + above_one, k)


def sigmoid(x: FloatArray) -> FloatArray:
    return 1 / (1 + exp(-x))


def tanh(x: FloatArray) -> FloatArray:
    above_one, k = _reduced(-2 * np.abs(x))
    m = np.ldexp(above_one, k) + (np.ldexp(1.0, k) - 1)
    return np.copysign(m / (2 + m), x)


def _reduced(x: FloatArray) -> tuple[FloatArray, IntArray]:
    """e^r - 1 and k. If |x| > 800, e^x overflows or is below 2^-1074."""
    x = np.clip(x, -800, 800)
    k = np.rint(x / (_HIGH + _LOW))
    r = (x - k * _HIGH) - k * _LOW
    q = np.zeros_like(r)
    for j in range(14, 0, -1):
        q = q * r + 1 / factorial(j)
    return r * q, np.nan_to_num(k).astype(np.int32)
