"""Enclosures of SiLU, GELU (by the logistic and the normal distribution function), normalization.

A bound at the point X / 2^P is a pair of integers around 2^P times the value. A function that does
not fall is bounded on a ball by its values at both ends.
"""

if __name__ == "__main__":
    print("unusable: run the folder: python checker certificate.json")
    raise SystemExit(2)

from collections.abc import Callable
from functools import cache
from math import isqrt
from typing import Any

from .limits import Limits, need
from .near import Balls, up

SPARE = 32  # bits of an evaluation beyond those of its result


class Functions:
    def __init__(self, P: int, limits: Limits) -> None:
        self.P, self.limits, self.one = P, limits, 1 << P
        self.balls = Balls(P, limits)
        self.pi = cache(self.pi_bounds)

    def rising(self, bounds: Callable[[int], Any], ball: Any) -> tuple[int, int]:
        c, r = ball
        return around(bounds(c - r)[0], bounds(c + r)[1])

    def logistic(self, X: int) -> tuple[int, int]:
        """s(x) = e^x / (1 + e^x) grows with e^x; s(x) = 1 - s(-x) for x > 0."""
        low, high = self.balls.exp_bounds(-abs(X))
        low, high = (low << self.P) // (low + self.one), up(high << self.P, high + self.one)
        return (low, high) if X <= 0 else (self.one - high, self.one - low)

    def normal(self, X: int) -> tuple[int, int]:
        """F(x) = (1 + erf(x / sqrt 2)) / 2, the normal distribution function; F(-x) = 1 - F(x).

        For x >= 0 it is 1/2 + e^(-x^2/2) / sqrt(2 pi) S with S = x + x^3/3 + x^5/15 + ..., each
        term x^2 / (2k + 1) times the one before (both sides have the derivative of F, and are 1/2
        at 0). All terms are positive: they are rounded down for the lower bound, up for the upper
        one. Once 2 x^2 <= 2k + 3, the later terms add up to no more than term k.
        For x >= 1, 1 - F(x) < e^(-x^2/2), which is below 2^-P if x^2 >= 2P.
        S may be e^(x^2/2), so e^(-x^2/2) is computed with x^2 more bits.
        """
        P, x = self.P, abs(X)
        if x * x >= 2 * P << 2 * P:
            low, high = self.one - 1, self.one
        else:
            W = P + (x * x >> 2 * P) + SPARE
            square, k = x * x, 0
            least = most = x << (W - P)
            sums = [least, most]
            while most > 2 or 2 * square > (2 * k + 3) << 2 * P:
                self.limits.on_time()
                k += 1
                least = (least * square >> 2 * P) // (2 * k + 1)
                most = up(up(most * square, 1 << 2 * P), 2 * k + 1)
                sums = [sums[0] + least, sums[1] + most]
            half = square << W, 1 << (2 * P + 1)  # x^2 / 2 over 2^W
            exps = Balls(W, self.limits).exp_bounds
            density = exps(-up(*half))[0], exps(-(half[0] // half[1]))[1]
            below, above = (isqrt(2 * pi << W) for pi in self.pi(W))  # of sqrt(2 pi)
            low = sums[0] * density[0] // (above + 1) >> (W - P)
            high = up(up((sums[1] + most) * density[1], below), 1 << (W - P))
            low, high = (self.one >> 1) + low, (self.one >> 1) + high
        return (low, high) if X >= 0 else (self.one - high, self.one - low)

    def silu(self, ball: Any) -> tuple[int, int]:
        """x s(x)."""
        return self.balls.product(ball, self.rising(self.logistic, ball))

    def gelu(self, ball: Any) -> tuple[int, int]:
        """x F(x)."""
        return self.balls.product(ball, self.rising(self.normal, ball))

    def gelu_tanh(self, ball: Any) -> tuple[int, int]:
        """x (1 + tanh u) / 2 = x s(2u) with u = sqrt(2 / pi) (x + 0.044715 x^3).

        2u = sqrt(8 / pi) (x + 0.044715 x^3), and sqrt(8 / pi) = 8 / sqrt(8 pi)."""
        product, P = self.balls.product, self.P
        below, above = (isqrt(8 * pi << P) for pi in self.pi(P))
        root = around((8 << 2 * P) // (above + 1), up(8 << 2 * P, below))
        cube = product(product(ball, ball), ball)
        inner = self.balls.combination([10**6, 44_715], 10**6, list(zip(ball, cube, strict=True)))
        return product(ball, self.rising(self.logistic, product(root, inner)))

    def pi_bounds(self, W: int) -> tuple[int, int]:
        """Machin: pi = 16 arctan(1/5) - 4 arctan(1/239), with arctan(1/q) = 1/q - 1/(3 q^3) + ...

        Each term is rounded down and errs by less than 1, and so does the rest of the series."""
        value = error = 0
        for factor, q in ((16, 5), (-4, 239)):
            k, power = 0, (1 << W) // q
            while power:
                self.limits.on_time()
                value += factor * (-1) ** k * (power // (2 * k + 1))
                k, power = k + 1, power // (q * q)
            error += abs(factor) * (k + 1)
        return value - error, value + error


def centred(centres: Any, radii: Any, unit: int) -> Any:
    """Balls less their mean: n x_i - sum x over n times the unit, without rounding."""
    n, total, wide = len(centres), sum(centres), sum(radii)
    return [n * c - total for c in centres], [(n - 2) * r + wide for r in radii], n * unit


def normalized(balls: Any, epsilon: tuple[int, int], P: int, limits: Limits) -> Any:
    """Balls over 2^P of y_i = x_i / sqrt(x.x / n + p / q), of balls over any unit u. Entries may be
    tiny or huge, because only the result is rounded.

    Let x_i = X_i / u and D = q X.X + n p u^2. Then y_i = X_i / sqrt(X.X / n + u^2 p / q) =
    X_i sqrt(n q / D). At a fixed D > 0 this rises with X_i, so the ends of its ball bound it. A
    positive end is divided by the largest D for a lower bound, a negative one by the least D; upper
    bounds are lower bounds of -y_i. For real z, floor(sqrt(z)) = isqrt(floor(z)) if z >= 0, and
    ceil(sqrt(z)) = isqrt(ceil(z) - 1) + 1 if z > 0.
    """
    (centres, radii, unit), (p, q), n = balls, epsilon, len(balls[0])
    longest = max(x.bit_length() for x in (unit, *centres, *radii)) + 1
    bits = 2 * (longest + P) + (n * max(p, 1) * q).bit_length()
    limits.allow(bits, 4 * n)
    limits.divide(bits, bits)
    ends = [(c - r, c + r) for c, r in zip(centres, radii, strict=True)]
    sizes = [(max(low, -high, 0), max(-low, high)) for low, high in ends]
    least, most = (
        q * sum(size**2 for size in some) + n * p * unit**2 for some in zip(*sizes, strict=True)
    )
    need(least > 0, "balls do not show that a root to divide by is above 0", "over limit")

    def below(X: int) -> int:
        limits.on_time()
        square = X * X * n * q << 2 * P
        return isqrt(square // most) if X >= 0 else -isqrt(up(square, least) - 1) - 1

    return [around(below(low), -below(-high)) for low, high in ends]


def around(low: int, high: int) -> tuple[int, int]:
    centre = (low + high) >> 1
    return centre, high - centre
