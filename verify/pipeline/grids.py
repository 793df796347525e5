"""Rounding of the data: that it was done as said; and the finest grid on which exact is affordable.

Exact weights for data with 53-bit entries have exponents of a hundred bits, and their readout is
beyond reach. On a grid the entries are short, and so is everything else. How long the numbers of
the readout become on a grid is known as soon as keys and queries are built (`predicted_bits`), and
building takes a second or so; what follows takes by far the most of the time (docs/performance.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from decimal import ROUND_UP, Context, Decimal
from fractions import Fraction
from functools import partial
from typing import NamedTuple

from attncert.constructions.construction import Construction
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.rounding import Rounding, rounded
from attncert.constructions.errors import HypothesisFails, InputError
from attncert.constructions.numerals import numeral
from attncert.constructions.progress import silent
from attncert.constructions.readout.solve import predicted_bits
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim
from attncert.verify.pipeline.run import Run
from attncert.verify.questions.prove import Prove
from attncert.verify.steps.shared import timed

MOST_SECONDS = 60.0  # of a run that `auto` allows, as estimated
MOST_EXAMPLES = 200  # up to which a grid is looked for where nobody asked
_HALVINGS = 24  # grids tried, from half the largest number on


def on_grid(run: Run) -> Run:
    """With the data rounded, where that is asked for.

    Where `auto` finds no grid since the construction does not apply to the data as they are either,
    they stay: what fails there is the answer. Raises InputError where it applies to them.
    """
    step = run.question.round
    if step is None:
        return run
    if step != "auto":
        data, done = rounded(run.data, Fraction(step))
        return replace(run, data=data, rounding=done)
    run.progress("the grid", 0, 1)
    found = finest(run.data, partial(_built, run))
    if found is None:
        try:
            _built(run, run.data)
        except HypothesisFails:
            return run
        raise InputError("round", "a grid: none was found on which these data", "auto")
    return replace(run, data=found.data, rounding=found.rounding)


def claims(run: Run) -> list[Claim]:
    """What was done to the data before anything else."""
    if run.rounding is None:
        return []
    return [timed(partial(rounding_claim, run.rounding, run.data))]


def of_rounded(run: Run, claims: list[Claim]) -> list[Claim]:
    """The same, where the answer says that it is about rounded data, and rests on that."""
    if run.rounding is None:
        return claims
    return [_told(claim, run.rounding) if claim.id == ids.MEMORIZATION else claim
            for claim in claims]  # fmt: skip


def _told(claim: Claim, rounding: Rounding) -> Claim:
    words = (
        f" The data are the given ones, contexts and queries rounded to multiples of "
        f"{rounding.grid} (ties to even): no number changed by more than "
        f"{at_most(rounding.largest_change)}."
    )
    rests = (ids.ROUNDING,) if claim.level.holds else ()
    return replace(claim, statement=claim.statement + words, rests_on=claim.rests_on + rests)


def remedied(run: Run, claim: Claim) -> Claim:
    """The claim that no exact readout was computed, for data with fractions: with the finest grid
    on which there is one in about a minute, the command that asks for it, and the time."""
    data = run.data
    whole = data.contexts.denominator == data.queries.denominator == 1
    if whole or run.rounding or run.before or run.call or data.T > MOST_EXAMPLES:
        return claim
    run.progress("the grid", 0, 1)
    found = finest(data, partial(_built, run))
    if found is None:
        return claim
    told = {
        "to interpolate rounded data": _again(run.question, found.rounding.grid).line(),
        "largest change": at_most(found.rounding.largest_change),
        "seconds, estimated": found.seconds,
    }
    return replace(claim, numbers={**claim.numbers, **told})


def _again(question: Prove, step: Fraction) -> Prove:
    """The question on this grid; numbers near 1e-310 need a longer step than an option takes."""
    try:
        return replace(question, round=str(step), claim="auto")
    except InputError:
        return replace(question, round="auto", claim="auto")


def _built(run: Run, data: Dataset) -> Construction:
    """The construction as asked for, for other data than the run's."""
    with run.theirs("build"):
        return run.method.build(data, run.request, silent)


class OnGrid(NamedTuple):
    """Data on a grid, and about how many seconds a run on them takes."""

    data: Dataset
    rounding: Rounding
    seconds: float


def finest(
    data: Dataset, build: Callable[[Dataset], Construction], most: float = MOST_SECONDS
) -> OnGrid | None:
    """The finest grid 2^k on which a run is expected to take at most so many seconds.

    build: keys and queries for data. Grids from the largest number down, each half the one before,
    until the estimate is above `most`; those on which the construction does not apply (too coarse)
    are passed over. None where no grid will do.
    """
    found, grid = None, _largest(data)
    for _ in range(_HALVINGS):
        grid /= 2
        short, rounding = rounded(data, grid)
        try:
            built = build(short)
        except HypothesisFails:
            continue
        weights = data.T * len(built.layer.heads) * data.n
        estimate = seconds(predicted_bits(built, short), data.T, weights)
        if estimate > most:
            break
        found = OnGrid(short, rounding, estimate)
        if not rounding.largest_change:
            break
    return found


def rounding_claim(rounding: Rounding, data: Dataset) -> Claim:
    """The claim "rounding": `data` are the nearest multiples of the grid, ties to even ones.

    Compared number by number, in fractions; labels are unchanged.
    """
    grid, before, wrong = rounding.grid, rounding.original, ""
    changes = [Fraction(0)]
    for name in ("contexts", "queries"):
        old, new = getattr(before, name), getattr(data, name)
        if old.shape != new.shape:
            wrong = wrong or f"{name} have another shape"
            continue
        numbers = zip(old.stored.ravel().tolist(), new.stored.ravel().tolist(), strict=True)
        for place, (p, q) in enumerate(numbers):
            x, y = Fraction(int(p), old.denominator), Fraction(int(q), new.denominator)
            steps, change = y / grid, abs(x - y)
            tie = 2 * change == grid
            if steps.denominator > 1 or 2 * change > grid or (tie and steps.numerator % 2):
                wrong = wrong or f"number {place} of the {name}"
            changes.append(change)
    labels = [None if of.stated is None else of.stated.strings() for of in (data, before)]
    if labels[0] != labels[1]:
        wrong = wrong or "the labels were changed"
    if max(changes) != rounding.largest_change:
        wrong = wrong or f"the largest change is {max(changes)}"
    return Claim.checked(
        ids.ROUNDING,
        f"Contexts and queries are the given ones rounded to multiples of {grid}, ties to even "
        f"multiples; no number changed by more than {at_most(rounding.largest_change)}, and the "
        "labels are as given.",
        not wrong,
        {"reason": wrong},
        numbers={
            "grid": str(grid),
            "largest change": numeral(rounding.largest_change),
            "numbers": len(changes) - 1,
        },
        arithmetic="comparison of fractions",
        source="ours; constructions/data/rounding.py",
    )


def at_most(change: Fraction) -> str:
    """A short decimal, rounded up where it is not exact.

    >>> at_most(Fraction(1, 128)), at_most(Fraction(1, 3)), at_most(Fraction(0))
    ('0.0078125', '0.33334', '0')
    >>> at_most(Fraction(1, 3 * 10**300))
    '3.3334e-301'
    """
    up = Context(prec=5, rounding=ROUND_UP)
    number = up.divide(Decimal(change.numerator), Decimal(change.denominator)).normalize()
    return f"{number:f}" if number.adjusted() > -20 else f"{number:e}"


def seconds(bits: int, examples: int, weights: int) -> float:
    """About how long a run takes on one core, by the bits of its readout, T, and the number T·H·n
    of its softmax weights; two digits. A model fitted to measured runs, off by a factor of about
    two at most (docs/performance.md); hypotheses are not counted.

    >>> seconds(52_837, 60, 60 * 9 * 8), seconds(819_431, 60, 60 * 9 * 8)
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
