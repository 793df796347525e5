"""Whether each output is nearer to its own label than to any other, and by how much: the margin.

Derivation. Let o be the output of an example and y its label. For another label y' of the data,

    |o - y'|² - |o - y|² = 2 ((y - y')·o - (|y|² - |y'|²) / 2).

The least of (y - y')·o - (|y|² - |y'|²) / 2 over all these y' is the *margin* of the example: o is
nearer to y than to any other label exactly if it is above 0. For one-hot labels it is how far the
output at the label exceeds the largest other one, so nearest is argmax.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import Any

from flint import arb, arb_mat, ctx, fmpq, fmpq_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.verify.claims.evidence import Level
from attncert.verify.interpolation.enclosure import FIRST_BITS, MAX_BITS, RELATIVE_WIDTH

_NARROW_BITS = 1024  # of balls that are no longer made narrower, only decided


@dataclass(frozen=True)
class Margins:
    """bounds: of the margin of each example, from below and above, exact numbers. levels: whether
    it is above 0, or at least the bound that was asked for: enclosed (proved where the arithmetic
    is exact), refuted, undecided. bits: of the balls; None where all is exact."""

    bounds: list[tuple[Any, Any]]
    levels: list[Level]
    bits: int | None

    @property
    def level(self) -> Level:
        """Of all examples together."""
        for level in (Level.REFUTED, Level.UNDECIDED):
            if level in self.levels:
                return level
        return self.levels[0]

    @property
    def least(self) -> int:
        """The example that attains the least margin, by the bounds from below."""
        return min(range(len(self.bounds)), key=lambda t: self.bounds[t][0])


def margins(data: Dataset, outputs: fmpq_mat | arb_mat, bound: Fraction | None = None) -> Margins:
    """Of all examples. outputs: T×m. bound: on the margins; None: that they are above 0.

    Arithmetic: that of the outputs, balls at the working precision. Raises InputError if all
    labels are equal. Source: ours, above.

    >>> margins(Dataset.of([[1]], [[0], [1]], [0, 1]), fmpq_mat(2, 1, [0, 2])).bounds
    [(1/2, 1/2), (3/2, 3/2)]
    """
    unit, rows = data.labels.denominator, data.labels.numerators.tolist()
    order = sorted(range(data.T), key=rows.__getitem__)  # in no set: hashes
    groups = [list(same) for _, same in groupby(order, key=rows.__getitem__)]
    if len(groups) == 1:
        raise InputError("labels", "not all equal, to ask which is nearest", "one alone")
    matrix, of_example, by_example = type(outputs), outputs.tolist(), {}
    for members in groups:
        label = rows[members[0]]
        others = [rows[other[0]] for other in groups if other is not members]
        apart = [[x - y for x, y in zip(label, other, strict=True)] for other in others]
        squares = [sum(x * x for x in label) - sum(y * y for y in other) for other in others]
        some = matrix([of_example[t] for t in members])
        products = some * matrix(fmpq_mat(apart).transpose())
        for t, row in zip(members, products.tolist(), strict=True):
            twice = (2 * unit * x - square for x, square in zip(row, squares, strict=True))
            by_example[t] = _least([x / (2 * unit**2) for x in twice])
    bounds = [by_example[t] for t in range(data.T)]
    exact = matrix is fmpq_mat
    good = Level.PROVED if exact else Level.ENCLOSED
    levels = [_decide(*pair, bound) or good for pair in bounds]
    return Margins(bounds, levels, None if exact else ctx.prec)


def enclosed_margins(
    data: Dataset,
    outputs: Callable[[], arb_mat],
    bound: Fraction | None = None,
    max_bits: int = MAX_BITS,
) -> Margins:
    """In balls, whose precision is doubled until all is decided, and without a bound until the
    least margin is known to a relative width of 2^-10, too.

    outputs: T×m at the working precision. Raises InputError as `margins`.
    """
    bits = FIRST_BITS
    while True:
        with ctx.workprec(bits):
            enclosed = margins(data, outputs(), bound)
        low, high = enclosed.bounds[enclosed.least]
        fine = bound is not None or bits >= _NARROW_BITS or high - low <= abs(low) * RELATIVE_WIDTH
        if (enclosed.level is not Level.UNDECIDED and fine) or 2 * bits > max_bits:
            return enclosed
        bits *= 2


def _decide(low: Any, high: Any, bound: Fraction | None) -> Level | None:
    """None where it holds."""
    limit = fmpq(0) if bound is None else fmpq(bound.numerator, bound.denominator)
    if low > limit or (low >= limit and bound is not None):
        return None
    return Level.REFUTED if high < limit or (high <= limit and bound is None) else Level.UNDECIDED


def _least(values: list[Any]) -> tuple[Any, Any]:
    if isinstance(values[0], fmpq):
        return min(values), min(values)
    if not all(x.is_finite() for x in values):  # too few bits: nothing known
        return arb("-inf"), arb("inf")
    return min(x.lower() for x in values), min(x.upper() for x in values)
