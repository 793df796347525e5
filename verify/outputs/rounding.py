"""Networks in float64 with bounds on all rounding errors, for many inputs at once.

In this module a number is an array of balls, one for each input, with centres and radii in float64.
Blocks are evaluated as in the other arithmetics (constructions/network/arithmetic.py). If float64
cannot enclose a number, its radius is infinite or NaN, and nothing is known about it. Comparisons
are written so that such a number proves nothing.

A ball contains either the exact number (`REAL`) or the number that a machine computes in float32 or
float64. Libraries do not document in which order they sum, or whether they use fused multiply-add.
So the ball of an operation contains its results for all orders, fused or not.

**Model** (Higham, *Accuracy and Stability of Numerical Algorithms*, 2002, sections 2.2 and 3.1).
Let u = 2^-p be the unit roundoff and η the smallest positive normal number; smaller numbers may be
flushed to 0. A sum or product x is rounded to x(1+δ) + ε with |δ| ≤ u and |ε| ≤ η.

**Sums of products.** In a sum of k terms, in any order, each product a_i b_i is rounded at most k
times: on its own, if it is not fused, and in k-1 additions. So the result differs from Σ a_i b_i by
at most γ_k Σ |a_i b_i| with γ_k = ku / (1 - ku). Each of the at most 2k operations may also add an
ε, which later roundings at most double; this adds up to at most 4kη. The a_i and b_i are the
machine's numbers, which lie in balls, so the bound is computed from the largest absolute values in
these balls. Partial sums are at most (1 + γ_k) Σ |a_i b_i| + 4kη, which must not overflow.

**Integers.** Sums of products of integers are exact in any order if Σ |a_i b_i| is at most 2^p and
at most 2^52.

**Assumptions about the machine**, which are not checked:
1. Keys, queries and values are computed first, then logits and softmax weights (shifted by the
   largest logit), then means, then the output. The variance of a LayerNorm is computed from the
   differences from the mean. No number is stored in a narrower format (bfloat16, TF32), and the
   softmax is not rescaled during the sum (flash attention).
2. Divisions, roots and exponentials have a relative error of at most 8u, plus η. SiLU, GELU and
   soft caps of x have an error of at most 16u|x|, plus η. Cosine and sine of an angle a have an
   error of at most 16u(1 + |a|), because the angle is rounded as well.

**Rounding in this module.** Centres are computed in float64. By the same bounds with U = 2^-53 for
u, a centre is off by at most (k+2)U Σ |a_i b_i|, plus underflows below 2^-1000. Radii are sums of
nonnegative numbers, so a factor slightly above 1 (`_outward`) covers their rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from flint import arb, ctx, fmpq, fmpq_mat

from attncert.constructions.arrays import FloatArray
from attncert.constructions.network.arithmetic import BALLS, Arithmetic, factor
from attncert.verify.outputs import exponential as e

U = 2.0**-53
FUNCTION, SMOOTH_FUNCTION = 8, 16  # assumed errors in units of u; the second: SiLU and GELU
_BITS = 80  # precision of Arb's functions


@dataclass(frozen=True)
class Format:
    """A format of floating-point numbers with p bits. Normal numbers are at least η, and all
    numbers are below `most`, in absolute value. Source: IEEE 754.

    >>> float(FORMATS["float32"].arithmetic.matrix(1, 1, [fmpq(1, 3)]).radius[0, 0, 0] * 2**24)
    0.3333333...
    """

    name: str
    p: float
    eta: float
    most: float

    @property
    def u(self) -> float:
        return float(2.0**-self.p)

    @property
    def arithmetic(self) -> Arithmetic:
        """The operations that blocks need, with results rounded to this format."""
        return Arithmetic(
            matrix=self._matrix,
            softmax=self._softmax,
            hardmax=self._hardmax,
            relu=_relu,
            threshold=_threshold,
            silu=self._smooth(_silu),
            gelu=self._smooth(lambda x: _by_arb(BALLS.gelu, x)),
            gelu_tanh=self._smooth(_gelu_tanh),
            normalized=self._normalized,
            scores=self._scores,
            capped=lambda x, cap: self._smooth(lambda y: _capped(y, cap))(x),
            turn=self._turn,
            bits=lambda matrix: 0,
            order="values first" if self.u else "keys first",
        )

    @property
    def whole(self) -> float:
        """Sums of integers up to this number are exact."""
        return float(2.0 ** min(self.p, 52))

    def gamma(self, k: int) -> float:
        return k * self.u / (1 - k * self.u) if k * self.u < 1 else np.inf

    def ball(self, centre: FloatArray, radius: FloatArray) -> Floats:
        """Balls with these centres and radii; infinite radii for numbers that may overflow."""
        fits = np.abs(centre) + radius < self.most
        return Floats(centre, np.where(fits, radius, np.inf), self)

    def rounded(self, centre: FloatArray, radius: FloatArray, units: float = 1) -> Floats:
        """The numbers in these balls after a rounding error of `units` u plus η. The centres
        themselves have a relative error of at most U."""
        error = units * self.u * (np.abs(centre) + radius) + self.eta
        return self.ball(centre, _outward(radius + U * np.abs(centre) + error))

    def stored(self, numbers: Sequence[Any], *shape: int) -> Floats:
        """Rational numbers or Arb balls rounded to this format, as an array of this shape."""
        with ctx.workprec(_BITS):
            centre, radius = _around([arb(x) for x in numbers])
        if self.u:
            mantissa, _ = np.frexp(centre)
            normal = (np.abs(centre) >= self.eta) | (centre == 0)
            exact = (radius == 0) & normal & (mantissa % self.u == 0)
            error = self.u * (np.abs(centre) + radius) + self.eta
            radius = np.where(exact, 0, _outward(radius + error))
        return self.ball(centre.reshape(*shape, 1), radius.reshape(*shape, 1))

    def number(self, x: Any) -> Floats:
        return x if isinstance(x, Floats) else self.stored([x])

    def column(self, numbers: Sequence[Any]) -> Floats:
        """The numbers stacked into a column, as a two-dimensional array."""
        if not any(isinstance(x, Floats) for x in numbers):
            return self.stored(numbers, len(numbers))
        some = [self.number(x) for x in numbers]
        shape = len(some), max(len(x.centre) for x in some)
        made = Floats(np.empty(shape), np.empty(shape), self)
        for i, x in enumerate(some):
            made.centre[i], made.radius[i] = x.centre, x.radius
        return made

    def _matrix(self, *of: Any) -> Floats:
        """A matrix from a matrix, from rows, or from (rows, columns, entries), as in FLINT."""
        if isinstance(of[0], Floats):
            return of[0]
        if len(of) == 1:
            table = of[0].tolist() if isinstance(of[0], fmpq_mat) else of[0]
            of = len(table), len(table[0]), [x for row in table for x in row]
        rows, columns, entries = of
        column = self.column(entries)
        return column.both(lambda x: x.reshape(rows, columns, *x.shape[1:]))

    def _scores(self, queries: Floats, keys: Floats, square: int, unit: str | None) -> Floats:
        """The machine may multiply queries, keys or products by the scale, or both queries and keys
        by its root. So each term may be rounded four more times, and an underflow is multiplied by
        the other factors."""
        if square != 1:
            with ctx.workprec(_BITS):
                scale = REAL.stored([arb(square).rsqrt()])
            queries = replace(queries.real * scale, form=self)
        return _product(queries, keys.transpose(), square if square != 1 or unit == "ln 2" else 0)

    def _softmax(self, logits: Sequence[Any], unit: str | None) -> list[Floats]:
        """Let t be the centre of a largest logit, and τ the machine's shift minus t. All powers
        have the common factor e^-τ, which cancels, but it also multiplies underflows. Let e_j be
        the powers, S their sum, q the quotient of their centres and r_j, r_S their radii. Then e_j
        / S is off by at most (r_j + q r_S) / (S - r_S)."""
        x = self.column(logits)
        if unit == "ln 2":
            with ctx.workprec(_BITS):
                scaled = x.real * REAL.stored([factor(unit)])
            x = self.rounded(scaled.centre, scaled.radius, 2)
        shift = x.centre - np.max(x.centre, axis=0)
        most = np.max(x.radius, axis=0)
        error = U * np.abs(shift) + self.u * (np.abs(shift) + x.radius + most) + self.eta
        powers = _increasing(e.exp, Floats(shift, _outward(x.radius + error)), e.EXP_ERROR)
        tiny = _outward(self.eta * e.exp(most)) if self.eta else 0
        n, total = len(logits), powers.centre.sum(axis=0)
        powers = self.rounded(powers.centre, powers.radius + tiny, FUNCTION)
        spread = powers.radius.sum(axis=0)
        error = (n * U + self.gamma(n)) * (total + spread) + 4 * n * tiny
        spread = _outward(spread + error)
        shares, least = powers.centre / total, total - _outward(spread + U * total)
        radius = _outward((powers.radius + shares * spread) / least)
        made = self.rounded(shares, np.where(least > 0, radius, np.inf), FUNCTION)
        return made.numbers

    def _hardmax(self, logits: Sequence[Any]) -> list[Floats]:
        x = self.column(logits)
        low, high = _bounds(x)
        leads = high >= np.max(low, axis=0)
        ties = leads.sum(axis=0)
        known = (ties == 1) | ~(leads & (x.radius > 0)).any(axis=0)
        shares = leads / ties
        slack = np.where(ties & (ties - 1), U + self.u, 0) * shares
        return Floats(shares, np.where(known, slack, np.inf), self).numbers

    def _normalized(self, row: Sequence[Any], epsilon: fmpq) -> list[Floats]:
        """The normalized row. Squares of the bounds of |x| enclose the sum of squares."""
        x, n = self.column(row), len(row)
        high = np.abs(x.centre) + x.radius
        most = np.sum(high**2, axis=0)
        least = np.sum(np.maximum(np.abs(x.centre) - x.radius, 0) ** 2, axis=0)
        error = ((n + 4) * U + self.gamma(n)) * most + 4 * n * self.eta
        squares = self.ball((most + least) / 2, _outward((most - least) / 2 + error))
        square = squares / n + self.number(epsilon)
        scale = _increasing(lambda t: -1 / np.sqrt(t), square, 2)
        scale = self.rounded(-scale.centre, scale.radius, 2 * FUNCTION)  # a root and a division
        return [number * scale for number in x.numbers]

    def _turn(self, angle: fmpq, unit: str) -> tuple[Floats, Floats]:
        """Cosine and sine, with the error of the function and the error of the computed angle."""
        with ctx.workprec(_BITS):
            size = abs(arb(angle)) * (2 * arb.pi() if unit == "turn" else 1)
            error = arb(0, 2 * FUNCTION * self.u * (1 + size))
            cosine, sine = (REAL.stored([x + error]) for x in BALLS.turn(angle, unit))
        return replace(cosine, form=self), replace(sine, form=self)

    def _smooth(self, function: Callable[[Floats], Floats]) -> Callable[[Floats], Floats]:
        """The function with the machine's error, which is relative to |x|."""

        def computed(x: Floats) -> Floats:
            made = function(x.real)
            error = SMOOTH_FUNCTION * self.u * (np.abs(x.centre) + x.radius) + self.eta
            return self.ball(made.centre, _outward(made.radius + error))

        return computed


REAL = Format("", np.inf, 0.0, np.inf)
FORMATS = {
    "float32": Format("float32", 24, 2.0**-126, 2.0**128),
    "float64": Format("float64", 53, 2.0**-1022, np.inf),
}


@dataclass(frozen=True, eq=False)
class Floats:
    """Balls, as a number or a matrix with FLINT's methods. Rows and columns come first. The last
    dimension runs over the inputs; it is 1 if the number is the same for all inputs."""

    centre: FloatArray
    radius: FloatArray
    form: Format = REAL

    def nrows(self) -> int:
        return int(self.centre.shape[0])

    def ncols(self) -> int:
        return int(self.centre.shape[1])

    @property
    def numbers(self) -> list[Floats]:
        """The parts along the first dimension."""
        pairs = zip(self.centre, self.radius, strict=True)
        return [Floats(*pair, self.form) for pair in pairs]

    def tolist(self) -> list[list[Floats]]:
        return [row.numbers for row in self.numbers]

    def entries(self) -> list[Floats]:
        return [x for row in self.tolist() for x in row]

    def transpose(self) -> Floats:
        return self.both(lambda x: np.swapaxes(x, 0, 1))

    def both(self, function: Callable[[FloatArray], FloatArray]) -> Floats:
        """The result of applying a function to the arrays of centres and radii."""
        return Floats(function(self.centre), function(self.radius), self.form)

    @property
    def real(self) -> Floats:
        """The same numbers; operations on them are not rounded by the machine."""
        return replace(self, form=REAL)

    @property
    def whole(self) -> bool:
        """Whether all numbers are exact integers."""
        return not self.radius.any() and bool((self.centre == np.rint(self.centre)).all())

    def __add__(self, other: Any) -> Floats:
        y = self.form.number(other)
        centre, radius = self.centre + y.centre, self.radius + y.radius
        if self.whole and y.whole and bool((np.abs(centre) <= self.form.whole).all()):
            return Floats(centre, radius, self.form)
        return self.form.rounded(centre, radius)

    def __neg__(self) -> Floats:
        return replace(self, centre=-self.centre)

    def __sub__(self, other: Any) -> Floats:
        return self + -self.form.number(other)

    def __mul__(self, other: Any) -> Floats:
        """The product of two matrices or of two numbers."""
        y = self.form.number(other)
        if self.centre.ndim == y.centre.ndim == 3:
            return _product(self, y)
        centre = self.centre * y.centre
        radius = self.radius * (np.abs(y.centre) + y.radius) + np.abs(self.centre) * y.radius
        if self.whole and y.whole and bool((np.abs(centre) <= self.form.whole).all()):
            return Floats(centre, radius, self.form)
        return self.form.rounded(centre, radius)

    def __truediv__(self, count: int) -> Floats:
        return self.form.rounded(self.centre / count, self.radius / count, FUNCTION)


def _product(a: Floats, b: Floats, scaled: int = 0) -> Floats:
    """The product of matrices, valid for any order of summation. scaled: if not 0, `a` was divided
    by the root of this number (see `_scores`)."""
    form, left, right = a.form, np.abs(a.centre), np.abs(b.centre)
    centre, size = _times(a.centre, b.centre), _times(left, right)
    if not scaled and a.whole and b.whole and bool((size <= form.whole).all()):
        return Floats(centre, np.zeros_like(centre), form)
    radius = _times(a.radius, right + b.radius) + _times(left, b.radius)
    k, tiny = a.ncols() + (4 if scaled else 0), form.eta
    if scaled:
        tiny *= 2 + scaled * ((left + a.radius).max() + (right + b.radius).max())
    error = (k + 2) * U * size + form.gamma(k) * (size + radius) + 4 * k * tiny
    fits = max(1, scaled) * (size + radius + error) < form.most  # a bound on partial sums
    return form.ball(centre, np.where(fits, _outward(radius + error), np.inf))


def _times(a: FloatArray, b: FloatArray) -> FloatArray:
    """The products of matrices for all inputs, by BLAS if the second matrix is the same for all."""
    if b.shape[2] == 1:
        return np.asarray(np.matmul(b[:, :, 0].T, a))
    return np.asarray(np.einsum("ikt,kjt->ijt", a, b))


def _bounds(x: Floats) -> tuple[FloatArray, FloatArray]:
    """Lower and upper bounds on the numbers in the balls."""
    apart = x.radius + 3 * U * (np.abs(x.centre) + x.radius)
    apart = np.where(x.radius == 0, 0, apart)
    return x.centre - apart, x.centre + apart


def _increasing(function: Callable[[FloatArray], FloatArray], x: Floats, units: float) -> Floats:
    """An increasing function, enclosed by its values at the bounds; these have a relative error of
    at most `units` U."""
    low, high = map(function, _bounds(x))
    error = (units + 1) * U * np.maximum(np.abs(low), np.abs(high))
    return Floats((low + high) / 2, _outward((high - low) / 2 + error))


def _silu(x: Floats) -> Floats:
    return x * _increasing(e.sigmoid, x, e.SIGMOID_ERROR)


def _gelu_tanh(x: Floats) -> Floats:
    """Uses the fact that (1 + tanh y) / 2 is the sigmoid of 2y."""
    with ctx.workprec(_BITS):
        root = REAL.stored([(8 / arb.pi()).sqrt()])
    y = (x + x * x * x * fmpq(44_715, 10**6)) * root
    return x * _increasing(e.sigmoid, y, e.SIGMOID_ERROR)


def _capped(x: Floats, cap: fmpq) -> Floats:
    return _increasing(e.tanh, x * (1 / cap), e.TANH_ERROR) * cap


def _relu(x: Floats) -> Floats:
    radius = np.where(x.centre + x.radius <= 0, 0, x.radius)
    return replace(x, centre=np.maximum(x.centre, 0), radius=radius)


def _threshold(x: Floats) -> Floats:
    decided = (x.centre - x.radius >= 0) | (x.centre + x.radius < 0)
    radius = np.where(decided, 0.0, 0.5)
    return replace(x, centre=np.where(decided, x.centre >= 0, 0.5), radius=radius)


def _by_arb(function: Callable[[arb], arb], x: Floats) -> Floats:
    """A function of the entries, computed by Arb once for each distinct ball."""
    pairs, place = np.unique(x.centre + 1j * x.radius, return_inverse=True)
    with ctx.workprec(_BITS):
        few = REAL.stored([function(arb(z.real, z.imag)) for z in pairs.tolist()], len(pairs))
    return few.both(lambda part: part[place].reshape(x.centre.shape))


def _around(balls: Sequence[arb]) -> tuple[FloatArray, FloatArray]:
    """Arb balls as centres and radii. A number that float64 represents has radius 0."""
    centres = np.array([float(x.mid()) for x in balls], dtype=float)
    apart = [(x - arb(c)).abs_upper() for x, c in zip(balls, centres.tolist(), strict=True)]
    return centres, np.array([0.0 if r == 0 else _outward(float(r)) for r in apart], dtype=float)


def _outward(x: Any) -> Any:
    return x * (1 + 2.0**-30) + 2.0**-1000
