"""Networks in float64 with bounds on all rounding errors, for many inputs at once.

In this module a number is an array of balls, one for each input, with centres and radii in float64.
Blocks are evaluated as in the other arithmetics (constructions/network/arithmetic.py). If float64
cannot enclose a number, its radius is infinite or NaN, and nothing is known about it. Comparisons
are written so that such a number decides nothing.

**Sums of products** (Higham, *Accuracy and Stability of Numerical Algorithms*, 2002, section 3.1).
Let U = 2^-53. In a sum of k products, in any order, each product is rounded at most k times: once
itself, if it is not fused, and in k-1 additions. So the centre is off by at most (k+2)U times the
sum of absolute values, plus underflows below 2^-1000.

**Integers.** Sums of products of integers are exact in any order if the sum of absolute values is
at most 2^52.

**Radii** are sums of nonnegative numbers, so a factor slightly above 1 (`_outward`) covers their
rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, ctx, fmpq, fmpq_mat

from attncert.constructions.arrays import FloatArray
from attncert.constructions.network.arithmetic import BALLS, Arithmetic, factor
from attncert.verify.outputs import exponential as e

U = 2.0**-53
_BITS = 80  # precision of Arb's functions
_WHOLE = 2.0**52  # sums of integers up to this number are exact


@dataclass(frozen=True, eq=False)
class Floats:
    """Balls, as a number or a matrix with FLINT's methods. Rows and columns come first. The last
    dimension runs over the inputs; it is 1 if the number is the same for all inputs."""

    centre: FloatArray
    radius: FloatArray

    @classmethod
    def stored(cls, numbers: Sequence[Any], *shape: int) -> Floats:
        """Rational numbers or Arb balls, as an array of this shape.

        >>> float(Floats.stored([fmpq(1, 3)]).radius[0]) < U
        True
        """
        with ctx.workprec(_BITS):
            centre, radius = _around([arb(x) for x in numbers])
        return _ball(centre.reshape(*shape, 1), radius.reshape(*shape, 1))

    def nrows(self) -> int:
        return int(self.centre.shape[0])

    def ncols(self) -> int:
        return int(self.centre.shape[1])

    @property
    def numbers(self) -> list[Floats]:
        """The parts along the first dimension."""
        return [Floats(*pair) for pair in zip(self.centre, self.radius, strict=True)]

    def tolist(self) -> list[list[Floats]]:
        return [row.numbers for row in self.numbers]

    def entries(self) -> list[Floats]:
        return [x for row in self.tolist() for x in row]

    def transpose(self) -> Floats:
        return self.both(lambda x: np.swapaxes(x, 0, 1))

    def both(self, function: Callable[[FloatArray], FloatArray]) -> Floats:
        """The result of applying a function to the arrays of centres and radii."""
        return Floats(function(self.centre), function(self.radius))

    @property
    def whole(self) -> bool:
        """Whether all numbers are exact integers."""
        return not self.radius.any() and bool((self.centre == np.rint(self.centre)).all())

    def __add__(self, other: Any) -> Floats:
        y = _number(other)
        return _made(self, y, self.centre + y.centre, self.radius + y.radius)

    def __neg__(self) -> Floats:
        return Floats(-self.centre, self.radius)

    def __sub__(self, other: Any) -> Floats:
        return self + -_number(other)

    def __mul__(self, other: Any) -> Floats:
        """The product of two matrices or of two numbers."""
        y = _number(other)
        if self.centre.ndim == y.centre.ndim == 3:
            return _product(self, y)
        radius = self.radius * (np.abs(y.centre) + y.radius) + np.abs(self.centre) * y.radius
        return _made(self, y, self.centre * y.centre, radius)

    def __truediv__(self, count: int) -> Floats:
        return _rounded(self.centre / count, self.radius / count)


def _ball(centre: FloatArray, radius: FloatArray) -> Floats:
    """Balls with these centres and radii; infinite radii for numbers that overflow."""
    return Floats(centre, np.where(np.abs(centre) + radius < np.inf, radius, np.inf))


def _rounded(centre: FloatArray, radius: FloatArray) -> Floats:
    """The numbers in these balls, whose centres have a relative error of U."""
    return _ball(centre, _outward(radius + U * np.abs(centre)))


def _made(x: Floats, y: Floats, centre: FloatArray, radius: FloatArray) -> Floats:
    """A sum or product of x and y, without a rounding error if both are short integers."""
    if x.whole and y.whole and bool((np.abs(centre) <= _WHOLE).all()):
        return Floats(centre, radius)
    return _rounded(centre, radius)


def _number(x: Any) -> Floats:
    return x if isinstance(x, Floats) else Floats.stored([x])


def _column(numbers: Sequence[Any]) -> Floats:
    """The numbers stacked into a column, an array of two dimensions."""
    if not any(isinstance(x, Floats) for x in numbers):
        return Floats.stored(numbers, len(numbers))
    some = [_number(x) for x in numbers]
    shape = len(some), max(len(x.centre) for x in some)
    made = Floats(np.empty(shape), np.empty(shape))
    for i, x in enumerate(some):
        made.centre[i], made.radius[i] = x.centre, x.radius
    return made


def _matrix(*of: Any) -> Floats:
    """A matrix from a matrix, from rows, or from (rows, columns, entries), as in FLINT."""
    if isinstance(of[0], Floats):
        return of[0]
    if len(of) == 1:
        table = of[0].tolist() if isinstance(of[0], fmpq_mat) else of[0]
        of = len(table), len(table[0]), [x for row in table for x in row]
    rows, columns, entries = of
    return _column(entries).both(lambda x: x.reshape(rows, columns, *x.shape[1:]))


def _product(a: Floats, b: Floats) -> Floats:
    left, right = np.abs(a.centre), np.abs(b.centre)
    centre, size = _times(a.centre, b.centre), _times(left, right)
    if a.whole and b.whole and bool((size <= _WHOLE).all()):
        return Floats(centre, np.zeros_like(centre))
    radius = _times(a.radius, right + b.radius) + _times(left, b.radius)
    radius = _outward(radius + (a.ncols() + 2) * U * size)
    return _ball(centre, np.where(size + radius < np.inf, radius, np.inf))


def _scores(queries: Floats, keys: Floats, square: int, unit: str | None) -> Floats:
    if square != 1:
        with ctx.workprec(_BITS):
            queries = queries * Floats.stored([arb(square).rsqrt()])
    return _product(queries, keys.transpose())


def _softmax(logits: Sequence[Any], unit: str | None) -> list[Floats]:
    """Let e_j be the powers, S their sum, q the quotient of their centres and r_j, r_S their radii.
    Then e_j / S is off by at most (r_j + q r_S) / (S - r_S)."""
    x = _column(logits)
    if unit == "ln 2":
        with ctx.workprec(_BITS):
            x = x * Floats.stored([factor(unit)])
    shift = x.centre - np.max(x.centre, axis=0)
    near = Floats(shift, _outward(x.radius + U * np.abs(shift)))
    powers = _increasing(e.exp, near, e.EXP_ERROR)
    n, total, spread = len(logits), powers.centre.sum(axis=0), powers.radius.sum(axis=0)
    spread = _outward(spread + n * U * (total + spread))
    shares, least = powers.centre / total, total - _outward(spread + U * total)
    radius = _outward((powers.radius + shares * spread) / least)
    return _rounded(shares, np.where(least > 0, radius, np.inf)).numbers


def _hardmax(logits: Sequence[Any]) -> list[Floats]:
    x = _column(logits)
    low, high = _bounds(x)
    leads = high >= np.max(low, axis=0)
    ties = leads.sum(axis=0)
    known = (ties == 1) | ~(leads & (x.radius > 0)).any(axis=0)
    shares = leads / ties
    slack = np.where(ties & (ties - 1), U, 0) * shares
    return Floats(shares, np.where(known, slack, np.inf)).numbers


def _normalized(row: Sequence[Any], epsilon: fmpq) -> list[Floats]:
    """The normalized row. Squares of the bounds of |x| enclose the sum of squares."""
    x, n = _column(row), len(row)
    most = np.sum((np.abs(x.centre) + x.radius) ** 2, axis=0)
    least = np.sum(np.maximum(np.abs(x.centre) - x.radius, 0) ** 2, axis=0)
    error = (n + 4) * U * most
    square = _ball((most + least) / 2, _outward((most - least) / 2 + error)) / n + epsilon
    scale = -_increasing(lambda t: -1 / np.sqrt(t), square, 2)
    return [number * scale for number in x.numbers]


def _turn(angle: fmpq, unit: str) -> tuple[Floats, Floats]:
    with ctx.workprec(_BITS):
        cosine, sine = (Floats.stored([x]) for x in BALLS.turn(angle, unit))
    return cosine, sine


def _times(a: FloatArray, b: FloatArray) -> FloatArray:
    """The products of matrices for all inputs, by BLAS if the second matrix is the same for all."""
    if b.shape[2] == 1:
        return np.asarray(np.matmul(b[:, :, 0].T, a))
    return np.asarray(np.einsum("ikt,kjt->ijt", a, b))


def _bounds(x: Floats) -> tuple[FloatArray, FloatArray]:
    """Lower and upper bounds of the numbers in the balls."""
    apart = x.radius + 3 * U * (np.abs(x.centre) + x.radius)
    apart = np.where(x.radius == 0, 0, apart)
    return x.centre - apart, x.centre + apart


def _increasing(function: Callable[[FloatArray], FloatArray], x: Floats, units: float) -> Floats:
    """An increasing function, enclosed by its values at the bounds; they have a relative error of
    at most `units` U."""
    low, high = map(function, _bounds(x))
    error = (units + 1) * U * np.maximum(np.abs(low), np.abs(high))
    return Floats((low + high) / 2, _outward((high - low) / 2 + error))


def _silu(x: Floats) -> Floats:
    return x * _increasing(e.sigmoid, x, e.SIGMOID_ERROR)


def _gelu_tanh(x: Floats) -> Floats:
    """Uses that (1 + tanh y) / 2 is the sigmoid of 2y."""
    with ctx.workprec(_BITS):
        root = Floats.stored([(8 / arb.pi()).sqrt()])
    y = (x + x * x * x * fmpq(44_715, 10**6)) * root
    return x * _increasing(e.sigmoid, y, e.SIGMOID_ERROR)


def _capped(x: Floats, cap: fmpq) -> Floats:
    return _increasing(e.tanh, x * (1 / cap), e.TANH_ERROR) * cap


def _relu(x: Floats) -> Floats:
    radius = np.where(x.centre + x.radius <= 0, 0, x.radius)
    return Floats(np.maximum(x.centre, 0), radius)


def _threshold(x: Floats) -> Floats:
    decided = (x.centre - x.radius >= 0) | (x.centre + x.radius < 0)
    radius = np.where(decided, 0.0, 0.5)
    return Floats(np.where(decided, x.centre >= 0, 0.5), radius)


def _by_arb(function: Callable[[arb], arb], x: Floats) -> Floats:
    """A function of the entries, computed by Arb once for each distinct ball."""
    pairs, place = np.unique(x.centre + 1j * x.radius, return_inverse=True)
    with ctx.workprec(_BITS):
        few = Floats.stored([function(arb(z.real, z.imag)) for z in pairs.tolist()], len(pairs))
    return few.both(lambda part: part[place].reshape(x.centre.shape))


def _around(balls: Sequence[arb]) -> tuple[FloatArray, FloatArray]:
    """Arb balls as centres and radii. A number that float64 represents has radius 0."""
    centres = np.array([float(x.mid()) for x in balls], dtype=float)
    apart = [(x - arb(c)).abs_upper() for x, c in zip(balls, centres.tolist(), strict=True)]
    return centres, np.array([0.0 if r == 0 else _outward(float(r)) for r in apart], dtype=float)


def _outward(x: Any) -> Any:
    return x * (1 + 2.0**-30) + 2.0**-1000


# The operations that blocks need.
FLOATS = Arithmetic(
    matrix=_matrix,
    softmax=_softmax,
    hardmax=_hardmax,
    relu=_relu,
    threshold=_threshold,
    silu=_silu,
    gelu=lambda x: _by_arb(BALLS.gelu, x),
    gelu_tanh=_gelu_tanh,
    normalized=_normalized,
    scores=_scores,
    capped=_capped,
    turn=_turn,
    bits=lambda matrix: 0,
    order="keys first",
)
