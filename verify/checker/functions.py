"""Enclosures of SiLU (from the logistic function), GELU (from the normal distribution function),
soft caps, rotations and normalization.

The bounds of a function at the point X / 2^P are two integers around 2^P times its value. A
nondecreasing function is bounded on a ball by its values at both ends.
"""

if __name__ == "__main__":
    print("unusable: run the folder, not this file: python checker certificate.json")
    raise SystemExit(2)

from collections.abc import Callable
from functools import cache
from math import isqrt
from typing import Any

from .limits import Limits, need
from .near import Balls, up

SPARE = 32  # extra bits of precision during an evaluation


class Functions:
    def __init__(self, P: int, limits: Limits) -> None:
        self.P, self.limits, self.one = P, limits, 1 << P
        self.balls = Balls(P, limits)
        self.pi, self.turn = cache(self.pi_bounds), cache(self.turn_bounds)

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
        term x^2 / (2k + 1) times the previous one: both sides are 1/2 at 0 and have equal
        derivatives. All terms are positive; they are rounded down for the lower bound and up for
        the upper bound. Once 2 x^2 <= 2k + 3, the later terms add up to no more than term k.
        For x >= 1, 1 - F(x) < e^(-x^2/2), which is below 2^-P if x^2 >= 2P.
        S may be as large as e^(x^2/2), so e^(-x^2/2) is computed with x^2 more bits.
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
                most = (most * square >> 2 * P) // (2 * k + 1) + 1
                sums = [sums[0] + least, sums[1] + most]
            half = square << W, 1 << (2 * P + 1)  # x^2 / 2 over 2^W
            exps = Balls(W, self.limits).exp_bounds
            density = exps(-up(*half))[0], exps(-(half[0] // half[1]))[1]
            below, above = (isqrt(2 * pi << W) for pi in self.pi(W))  # bounds of sqrt(2 pi)
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

    def capped(self, ball: Any, p: int, q: int) -> tuple[int, int]:
        """c tanh(x / c) = c (2 s(2x / c) - 1) with c = p / q."""
        combination = self.balls.combination
        c, r = self.rising(self.logistic, combination([2 * q], p, ((ball[0],), (ball[1],))))
        return combination([p], q, ((2 * c - self.one,), (2 * r,)))

    def turn_bounds(self, p: int, q: int, radians: bool) -> Any:
        """Balls of the cosine and the sine of p / q turns or radians.

        Subtracting k quarter turns leaves an angle t between 0 and a quarter turn, up to the error
        in pi. A quarter turn maps (cos, sin) to (-sin, cos). With W bits, t is between T / 2^W and
        (T + R) / 2^W, and |cos t - cos x|, |sin t - sin x| <= |t - x|.
        """
        bits = max(p.bit_length() - q.bit_length(), 0) if radians else 0
        W = self.P + SPARE + bits
        self.limits.allow(p.bit_length() + q.bit_length() + 2 * W)
        self.limits.divide(p.bit_length() + W, q.bit_length())
        low, high = self.pi(W)
        if radians:
            k = (2 * p << W) // (q * low)
            least, most = sorted((k * low, k * high))
            ends = [(p << W) // q - up(most, 2), up(p << W, q) - least // 2]
        else:
            k, rest = divmod(4 * p, q)
            ends = [low * rest // (2 * q), up(high * rest, 2 * q)]
        T, R = ends[0], ends[1] - ends[0]
        cosine, sine, error = self.series(abs(T), W)
        pair = [cosine, sine if T >= 0 else -sine]
        for _ in range(k % 4):
            pair = [-pair[1], pair[0]]
        radius = up(error + R, 1 << (W - self.P)) + 1
        return [(x >> (W - self.P), radius) for x in pair]

    def series(self, X: int, W: int) -> tuple[int, int, int]:
        """2^W cos x and 2^W sin x for x = X / 2^W in [0, 2], with a bound on both errors.

        Term k of e^(ix), x^k / k!, is computed from the previous one, rounded down. Its error e_k
        is at most e_(k-1) x / k + 2, so e_1 = 0, e_2 <= 2, e_3 <= 10/3, and all are below 4. So the
        first term that is computed as 0 is below 4. Each later term is at most half the previous,
        since k > 2 or x is tiny, so that these terms add up to less than 8.
        """
        need(X <= 2 << W, "an angle is out of range", "over limit")
        k, term, sums = 0, 1 << W, [0, 0]
        while term:
            self.limits.on_time()
            sums[k % 2] += term if k % 4 < 2 else -term
            k += 1
            term = (term * X >> W) // k
        return sums[0], sums[1], 4 * k + 8

    def pi_bounds(self, W: int) -> tuple[int, int]:
        """Machin: pi = 16 arctan(1/5) - 4 arctan(1/239), with arctan(1/q) = 1/q - 1/(3 q^3) + ...

        Each term is rounded down with an error below 1, and the rest of the series is below 1."""
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
    """Balls minus their mean: n x_i - sum x over n * unit, without rounding."""
    n, total, wide = len(centres), sum(centres), sum(radii)
    return [n * c - total for c in centres], [(n - 2) * r + wide for r in radii], n * unit


def normalized(balls: Any, epsilon: tuple[int, int], P: int, limits: Limits) -> Any:
    """Balls over 2^P for y_i = x_i / sqrt(x.x / n + p / q), from balls x_i over any unit u. Entries
    may be tiny or huge, because only the result is rounded.

    Let x_i = X_i / u and D = q X.X + n p u^2. Then y_i = X_i / sqrt(X.X / n + u^2 p / q) =
    X_i sqrt(n q / D). At a fixed D > 0, y_i increases with X_i, so the ends of the ball X_i bound
    it. A positive end is divided by the largest D for a lower bound, a negative end by the least D;
    upper bounds are lower bounds of -y_i. For real z, floor(sqrt(z)) = isqrt(floor(z)) if z >= 0,
    and ceil(sqrt(z)) = isqrt(ceil(z) - 1) + 1 if z > 0.
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
    need(least > 0, "balls do not exclude a division by 0", "over limit")

    def below(X: int) -> int:
        limits.on_time()
        square = X * X * n * q << 2 * P
        return isqrt(square // most) if X >= 0 else -isqrt(up(square, least) - 1) - 1

    return [around(below(low), -below(-high)) for low, high in ends]


def around(low: int, high: int) -> tuple[int, int]:
    centre = (low + high) >> 1
    return centre, high - centre
