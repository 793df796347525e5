"""Whether each output is nearer to its own label than to any other, and by how much: the margin.

Derivation. Let o be the output of an example and y its label. For another label y' of the data,

    |o - y'|² - |o - y|² = 2 ((y - y')·o - (|y|² - |y'|²) / 2).

The *margin* of the example is the least value of (y - y')·o - (|y|² - |y'|²) / 2 over all these y':
o is nearer to y than to any other label if and only if the margin is above 0. For one-hot labels
the margin is the output at the label minus the largest other output, so the nearest label is the
argmax.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import Any

from flint import arb, arb_mat, ctx, fmpq, fmpq_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.verify.claims.evidence import Level
from attncert.verify.outputs.enclosure import FIRST_BITS, MAX_BITS, RELATIVE_WIDTH

_NARROW_BITS = 1024  # from this precision on, a decided margin is not narrowed further


@dataclass(frozen=True)
class Margins:
    """Exact lower and upper bounds on each margin, and whether the margin is above 0 or, if a bound
    is given, at least the bound. bits: the precision of the balls; None if all numbers are
    exact."""

    bounds: list[tuple[Any, Any]]
    levels: list[Level]
    bits: int | None

    @property
    def level(self) -> Level:
        """The level for all examples together."""
        for level in (Level.REFUTED, Level.UNDECIDED):
            if level in self.levels:
                return level
        return self.levels[0]

    @property
    def least(self) -> int:
        """The example with the least lower bound."""
        return min(range(len(self.bounds)), key=lambda t: self.bounds[t][0])


def margins(data: Dataset, outputs: fmpq_mat | arb_mat, bound: Fraction | None = None) -> Margins:
    """The margins of all examples, for outputs T×m. bound: the required margin; None if any
    positive margin is enough.

    Arithmetic: exact if the outputs are exact, else balls at the working precision. Raises
    InputError if all labels are equal. Source: ours, above.

    >>> margins(Dataset.of([[1]], [[0], [1]], [0, 1]), fmpq_mat(2, 1, [0, 2])).bounds
    [(1/2, 1/2), (3/2, 3/2)]
    """
    unit, rows = data.labels.denominator, data.labels.numerators.tolist()
    labels = [y for y, _ in groupby(sorted(rows))]  # lists cannot be hashed
    if len(labels) == 1:
        raise InputError("labels", "of at least two kinds", "all equal")
    # With y = Y / unit, the margin is the least (s - s') / (2 unit²), where s = 2 unit Y·o - |Y|².
    columns = [[*(2 * unit * x for x in y), -sum(x * x for x in y)] for y in labels]
    matrix, exact = type(outputs), isinstance(outputs, fmpq_mat)
    with_ones = matrix([[*row, 1] for row in outputs.tolist()])
    scores = with_ones * matrix(fmpq_mat(columns).transpose())
    bounds = []
    for label, row in zip(rows, scores.tolist(), strict=True):
        own = row.pop(bisect_left(labels, label))
        low, high = (x / (2 * unit**2) for x in _ahead(own, row))
        bounds.append((low, high) if exact else (low.lower(), high.upper()))
    good = Level.PROVED if exact else Level.ENCLOSED
    levels = [_decide(*pair, bound) or good for pair in bounds]
    return Margins(bounds, levels, None if exact else ctx.prec)


def enclosed_margins(
    data: Dataset,
    outputs: Callable[[], arb_mat],
    bound: Fraction | None = None,
    max_bits: int = MAX_BITS,
) -> Margins:
    """The margins in balls. The precision is doubled until all levels are decided and, if no bound
    is given, the least margin is known to a relative width of 2^-10. Raises InputError as `margins`
    does."""
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
    """Refuted or undecided; None if the margin holds."""
    limit = fmpq(0) if bound is None else fmpq(bound.numerator, bound.denominator)
    if low > limit or (low >= limit and bound is not None):
        return None
    return Level.REFUTED if high < limit or (high <= limit and bound is None) else Level.UNDECIDED


def _ahead(own: Any, others: list[Any]) -> tuple[Any, Any]:
    """Lower and upper bounds on the score `own` minus the largest other score."""
    if isinstance(own, fmpq):
        return own - max(others), own - max(others)
    apart = [own - x for x in others]
    if not all(x.is_finite() for x in apart):  # with too few bits, nothing is known
        return arb("-inf"), arb("inf")
    return min(x.lower() for x in apart), min(x.upper() for x in apart)
