"""Arithmetics in which a network is evaluated: rationals, and Arb's balls that enclose reals.

A block consists of products and of the functions defined here. A softmax does not change when all
logits are shifted. So it is rational if they differ by integers in units of ln 2 (powers of two
over their sum), or not at all (equal weights). Balls enclose the true numbers in all cases. If a
ball is too wide to decide a tie or the sign at a threshold, the evaluation raises `Inexact`.
Arithmetics in float64, with bounds on all rounding errors, are in verify/outputs/rounding.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isqrt
from typing import Any

from flint import arb, arb_mat, fmpq, fmpq_mat, fmpz
from flint.utils.flint_exceptions import DomainError

MAX_BITS = 2**24  # the longest number; the checkers have the same limit


class Inexact(Exception):
    """This arithmetic cannot evaluate the network; str() gives the reason, without a period."""


class TooLong(Inexact):
    """Exact numbers would need more than MAX_BITS bits."""


@dataclass(frozen=True)
class Arithmetic:
    """The operations of a block. Its matrices have the same methods as FLINT's; `bits` is 0 if
    numbers are of bounded length.

    "normalized" divides a row x by the root of x·x / n + ε. "scores" are queries·keysᵀ over the
    root of a positive integer. The order of products in attention is "cheapest"; "keys first", with
    keys before logits; or "values first", with values before means as well (as on a machine)."""

    matrix: Callable[..., Any]
    softmax: Callable[[Sequence[Any], str | None], list[Any]]
    hardmax: Callable[[Sequence[Any]], list[Any]]
    relu: Callable[[Any], Any]
    threshold: Callable[[Any], Any]
    silu: Callable[[Any], Any]
    gelu: Callable[[Any], Any]
    gelu_tanh: Callable[[Any], Any]
    normalized: Callable[[Sequence[Any], fmpq], list[Any]]
    scores: Callable[[Any, Any, int, str | None], Any]
    capped: Callable[[Any, fmpq], Any]
    turn: Callable[[fmpq, str], tuple[Any, Any]]
    bits: Callable[[Any], int]
    order: str


def _powers(logits: Sequence[fmpq], unit: str | None) -> list[fmpq]:
    """2^k over the sum of all such powers, where k is the logit minus the smallest one.

    >>> _powers([fmpq(1, 2), fmpq(3, 2)], "ln 2"), _powers([fmpq(5), fmpq(5)], "1")
    ([1/3, 2/3], [1/2, 1/2])
    """
    low = min(logits)
    above = [x - low for x in logits]
    if unit != "ln 2" and any(above):
        raise Inexact("a softmax of different logits is irrational if their unit is 1")
    if any(x.q != 1 for x in above):
        raise Inexact("a softmax is exact only if logits differ by integers in units of ln 2")
    if max(above) > MAX_BITS:
        raise TooLong(f"logits differ by over {MAX_BITS} units of ln 2")
    powers = [fmpz(1) << int(x.p) for x in above]
    total = sum(powers, fmpz(0))
    return [fmpq(power, total) for power in powers]


def _largest(logits: Sequence[fmpq]) -> list[fmpq]:
    """
    >>> _largest([fmpq(2), fmpq(1), fmpq(2)])
    [1/2, 0, 1/2]
    """
    top = max(logits)
    share = fmpq(1, logits.count(top))
    return [share if x == top else fmpq(0) for x in logits]


def factor(unit: str | None) -> arb:
    """The unit of logits as a number, at the working precision."""
    return arb.const_log2() if unit == "ln 2" else arb(1)


def _exponentials(logits: Sequence[arb], unit: str | None) -> list[arb]:
    """The softmax, after a shift by the midpoint of a largest logit, so that no power is large."""
    top, scale = max(x.mid() for x in logits), factor(unit)
    powers = [((x - top) * scale).exp() for x in logits]
    total = sum(powers, arb(0))
    return [power / total for power in powers]


def _largest_ball(logits: Sequence[arb]) -> list[arb]:
    top = max(logits, key=lambda x: x.mid())
    ties = [x is top or (x - top).is_zero() for x in logits]
    if not all(tie or x < top for x, tie in zip(logits, ties, strict=True)):
        raise Inexact("which logit is the largest is not decided at this precision")
    return [arb(tie) / sum(ties) for tie in ties]


def _sign_of_ball(x: arb) -> arb:
    if not (x >= 0 or x < 0):
        raise Inexact("the sign at a threshold is not decided at this precision")
    return arb(int(x >= 0))


def _zero(x: fmpq) -> fmpq:
    """SiLU or GELU at a rational number: e^x and erf are irrational there, except at 0."""
    if x != 0:
        raise Inexact("SiLU and GELU are rational only at 0")
    return x


def _silu(x: arb) -> arb:
    """x / (1 + e^-x), computed from tanh, so that no power is large."""
    return x * (1 + (x / 2).tanh()) / 2


def _gelu(x: arb) -> arb:
    return x * (1 + (x / arb(2).sqrt()).erf()) / 2


def _gelu_tanh(x: arb) -> arb:
    inner = x + arb(fmpq(44_715, 10**6)) * x**3
    return x * (1 + ((2 / arb.pi()).sqrt() * inner).tanh()) / 2


def _normalized(row: Sequence[fmpq], epsilon: fmpq) -> list[fmpq]:
    """
    >>> _normalized([fmpq(1), fmpq(7)], fmpq(0))
    [1/5, 7/5]
    """
    square = sum((x * x for x in row), fmpq(0)) / len(row) + epsilon
    if square == 0:
        raise Inexact("a normalization divides by 0")
    if not any(row):
        return list(row)
    try:
        return [x / square.sqrt() for x in row]
    except DomainError:
        raise Inexact("a normalization divides by an irrational root") from None


def _normalized_balls(row: Sequence[arb], epsilon: fmpq) -> list[arb]:
    square = sum((x * x for x in row), arb(0)) / len(row) + arb(epsilon)
    if not square > 0:
        raise Inexact("whether a normalization divides by 0 is not decided at this precision")
    return [x * square.rsqrt() for x in row]


def _scores(queries: fmpq_mat, keys: fmpq_mat, square: int, _: str | None) -> fmpq_mat:
    products = queries * keys.transpose()
    if (root := isqrt(square)) ** 2 != square and any(products.entries()):
        raise Inexact("a logit is divided by an irrational root")
    return products if root == 1 else products / root


def _scores_in_balls(queries: arb_mat, keys: arb_mat, square: int, _: str | None) -> arb_mat:
    products = queries * keys.transpose()
    return products if square == 1 else products * arb(square).rsqrt()


def _capped(x: fmpq, cap: fmpq) -> fmpq:
    """tanh is irrational at every rational number but 0."""
    if x != 0:
        raise Inexact("a soft cap is rational only at 0")
    return x


def _turn(angle: fmpq, unit: str) -> tuple[fmpq, fmpq]:
    """Cosine and sine are both rational only at quarter turns (Niven), and at 0 radians.

    >>> _turn(fmpq(7, 4), "turn")
    (0, -1)
    """
    quarters = 4 * angle
    if quarters.q != 1 or (unit == "radian" and angle != 0):
        raise Inexact("a rotation is rational only at quarter turns")
    cosine, sine = ((1, 0), (0, 1), (-1, 0), (0, -1))[int(quarters.p) % 4]
    return fmpq(cosine), fmpq(sine)


def _turn_balls(angle: fmpq, unit: str) -> tuple[arb, arb]:
    if unit == "turn":
        return arb.cos_pi_fmpq(2 * angle), arb.sin_pi_fmpq(2 * angle)
    return arb(angle).cos(), arb(angle).sin()


RATIONAL = Arithmetic(
    matrix=fmpq_mat,
    softmax=_powers,
    hardmax=_largest,
    relu=lambda x: x if x > 0 else fmpq(0),
    threshold=lambda x: fmpq(int(x >= 0)),
    silu=_zero,
    gelu=_zero,
    gelu_tanh=_zero,
    normalized=_normalized,
    scores=_scores,
    capped=_capped,
    turn=_turn,
    bits=lambda matrix: max(int(x.height_bits()) for x in matrix.entries()),
    order="cheapest",
)
BALLS = Arithmetic(
    matrix=arb_mat,
    softmax=_exponentials,
    hardmax=_largest_ball,
    relu=lambda x: x.max(arb(0)),
    threshold=_sign_of_ball,
    silu=_silu,
    gelu=_gelu,
    gelu_tanh=_gelu_tanh,
    normalized=_normalized_balls,
    scores=_scores_in_balls,
    capped=lambda x, cap: (x / cap).tanh() * cap,
    turn=_turn_balls,
    bits=lambda matrix: 0,
    order="cheapest",
)
