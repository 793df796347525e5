"""Rounding as a run asks for it: to its grid, or to the finest on which exact is affordable.

Exact weights for data with 53-bit entries have exponents of a hundred bits, and their readout is
beyond reach. On a grid the entries are short, and so is everything else. How long the numbers of
the readout become on a grid is known as soon as keys and queries are built (`predicted_bits`), and
building takes a second or so; what follows takes by far the most of the time (docs/performance.md).
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from attncert.constructions.construction import BuiltLayer
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import HypothesisFails, InputError
from attncert.constructions.progress import silent
from attncert.constructions.readout.solve import predicted_bits
from attncert.verify.methods.judged import placed_by
from attncert.verify.origins.rounded import on_grid
from attncert.verify.pipeline.run import Run

MOST_SECONDS = 60.0  # of a run that `auto` allows, as estimated
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
        return replace(run, data=on_grid(run.data, Fraction(step))[0])
    run.progress("the grid", 0, 1)
    finest = _on_finest(run)
    if finest is None:
        try:
            _built(run, run.data)
        except HypothesisFails:
            return run
        raise InputError("round", "a grid: none was found on which these data", "auto")
    return replace(run, data=finest)


def _built(run: Run, data: Dataset) -> BuiltLayer:
    """The layer as asked for, for other data than the run's."""
    return placed_by(run.construction, data, replace(run.request, progress=silent))


def _on_finest(run: Run) -> Dataset | None:
    """The data on the finest grid 2^k on which a run is expected to take MOST_SECONDS or less.

    Grids from the largest number down, each half the one before, until the estimate is above that;
    those on which the construction does not apply (too coarse) are passed over. None where no grid
    will do.
    """
    best, step = None, _largest(run.data)
    for _ in range(_HALVINGS):
        step /= 2
        short, origin = on_grid(run.data, step)
        try:
            built = _built(run, short)
        except HypothesisFails:
            continue
        weights = short.T * len(built.layer.heads) * short.n
        if estimated_seconds(predicted_bits(built, short), short.T, weights) > MOST_SECONDS:
            break
        best = short
        if not origin.largest_change:
            break
    return best


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
