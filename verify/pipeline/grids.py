"""Rounding as a run asks for it: to its grid, or to the finest on which exact is affordable.

Exact weights for data with 53-bit entries have exponents of a hundred bits, and their readout is
beyond reach. On a grid the entries are short, and so is everything else. How long the numbers of
the readout become on a grid is known as soon as keys and queries are built (`predicted_bits`), and
building takes a second or so; what follows takes by far the most of the time (docs/performance.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

from attncert.constructions.construction import Construction
from attncert.constructions.data.dataset import AS_GIVEN, Dataset
from attncert.constructions.errors import HypothesisFails, InputError
from attncert.constructions.progress import silent
from attncert.constructions.readout.solve import predicted_bits
from attncert.verify.origins.rounded import Rounded, at_most, on_grid
from attncert.verify.pipeline.run import Run
from attncert.verify.questions.prove import Prove

MOST_SECONDS = 60.0  # of a run that `auto` allows, as estimated
MOST_EXAMPLES = 200  # up to which a grid is looked for where nobody asked
_HALVINGS = 24  # grids tried, from half the largest number on


def rounded(run: Run) -> Run:
    """With the data rounded, where that is asked for.

    Where `auto` finds no grid since the construction does not apply to the data as they are either,
    they stay: what fails there is the answer. Raises InputError where it applies to them.
    """
    step = run.question.round
    if step is None:
        return run
    if step != "auto":
        short, _ = on_grid(run.data, Fraction(step))
        return replace(run, data=short)
    run.progress("the grid", 0, 1)
    grid = finest(run.data, partial(_built, run))
    if grid is None:
        try:
            _built(run, run.data)
        except HypothesisFails:
            return run
        raise InputError("round", "a grid: none was found on which these data", "auto")
    return replace(run, data=grid.data)


def remedy(run: Run) -> Mapping[str, Any]:
    """Where no exact readout of data with fractions is computed: the finest grid on which there is
    one in about a minute, as the command that asks for it, and the time."""
    data = run.data
    whole = data.contexts.denominator == data.queries.denominator == 1
    if whole or data.origin is not AS_GIVEN or run.call or data.T > MOST_EXAMPLES:
        return {}
    run.progress("the grid", 0, 1)
    grid = finest(data, partial(_built, run))
    if grid is None:
        return {}
    return {
        "to interpolate rounded data": _again(run.question, grid.origin.grid).line(),
        "largest change": at_most(grid.origin.largest_change),
        "seconds, estimated": grid.seconds,
    }


def _again(question: Prove, step: Fraction) -> Prove:
    """The question on this grid; numbers near 1e-310 need a longer step than an option takes."""
    try:
        return replace(question, round=str(step), claim="auto")
    except InputError:
        return replace(question, round="auto", claim="auto")


def _built(run: Run, data: Dataset) -> Construction:
    """The construction as asked for, for other data than the run's."""
    with run.errors_of("build"):
        return run.method.build(data, run.request, silent)


class OnGrid(NamedTuple):
    """Data on a grid, and about how many seconds a run on them takes."""

    data: Dataset
    origin: Rounded
    seconds: float


def finest(
    data: Dataset, build: Callable[[Dataset], Construction], most: float = MOST_SECONDS
) -> OnGrid | None:
    """The finest grid 2^k on which a run is expected to take at most so many seconds.

    build: keys and queries for data. Grids from the largest number down, each half the one before,
    until the estimate is above `most`; those on which the construction does not apply (too coarse)
    are passed over. None where no grid will do.
    """
    grid, step = None, _largest(data)
    for _ in range(_HALVINGS):
        step /= 2
        short, origin = on_grid(data, step)
        try:
            built = build(short)
        except HypothesisFails:
            continue
        weights = data.T * len(built.layer.heads) * data.n
        estimate = estimated_seconds(predicted_bits(built, short), data.T, weights)
        if estimate > most:
            break
        grid = OnGrid(short, origin, estimate)
        if not origin.largest_change:
            break
    return grid


def estimated_seconds(bits: int, examples: int, weights: int) -> float:
    """About how long a run takes on one core, by the bits of its readout, T, and the number T·H·n
    of its softmax weights; two digits. A model fitted to measured runs, off by a factor of about
    two at most (docs/performance.md); hypotheses are not counted.

    >>> estimated_seconds(52_837, 60, 60 * 9 * 8), estimated_seconds(819_431, 60, 60 * 9 * 8)
    (9.4, 150.0)
    """
    model = 1.6 + 1.25e-3 * weights + 9.2e-9 * (float(min(bits, 10**12)) ** 2 * examples) ** 0.75
    return float(f"{model:.2g}")


def _largest(data: Dataset) -> Fraction:
    """The power of two at or above the largest number of contexts and queries; 1 if all are 0."""
    sizes = [
        Fraction(max(abs(int(x)) for x in array.stored.ravel().tolist()), array.denominator)
        for array in (data.contexts, data.queries)
    ]
    largest = max(sizes)
    if not largest:
        return Fraction(1)
    power = math.ceil(math.log2(largest.numerator) - math.log2(largest.denominator))
    return Fraction(2) ** power
