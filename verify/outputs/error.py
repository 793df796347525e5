"""Whether outputs, exact or enclosed, meet a requirement on their errors or on their margins.

The requirement is that each output is near its label, or nearer to it than to any other label.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import groupby
from typing import Any

from flint import arb, arb_mat, ctx, fmpq, fmpq_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.network.network import Network
from attncert.constructions.numerals import rounded_up, short
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.words import counted, listed
from attncert.verify.outputs.enclosure import MAX_BITS, decimal, enclosed_error
from attncert.verify.outputs.nearest import Margins, enclosed_margins, margins
from attncert.verify.outputs.within import Bounds, balls, certified_error, certified_margin

_MOST_COMPARED = 3 * 10**7  # limit on outputs × labels × (width + 10): a few seconds
_EXACT = "exact over ℚ (FLINT), with exp(k ln 2) = 2^k"
_ZERO_BITS = 1024  # precision for balls that may contain 0 at every precision
SOURCE = "ours; docs/models-and-layers.md"


@dataclass(frozen=True)
class Limit:
    """What each output must satisfy. Each entry is within `bound` of its label; if `bound` is None,
    the output is nearer to its own label than to any other, by the margin if one is given."""

    bound: Fraction | None
    must: str
    default: bool = False
    margin: Fraction | None = None


def at_most(tolerance: Fraction) -> Limit:
    """A limit on the error; 0 requires equality."""
    return Limit(tolerance, f"differs from its label by at most {short(tolerance)}")


def nearest(default: bool = False) -> Limit:
    return Limit(None, "is nearer to its own label than to any other", default)


def at_least(margin: Fraction) -> Limit:
    """A limit on the margin of verify/outputs/nearest.py."""
    must = f"is nearer to its own label than to any other, by a margin of at least {short(margin)}"
    return Limit(None, must, margin=margin)


def default_limit(data: Dataset) -> Limit:
    """If labels are whole numbers, each output must be nearer to its own label than to any other;
    otherwise it must be within a hundredth of the labels' spread. Raises InputError if all labels
    are equal, or if there are too many to compare.

    >>> default_limit(Dataset.of([[1]], [[1], [2], [3]], [0, 1, 5])).must
    'is nearer to its own label than to any other'
    >>> default_limit(Dataset.of([[1]], [[1], [2], [3]], [0, "1/2", 5])).must
    "differs from its label by at most 1 % of the labels' spread"
    """
    width, labels = spread(data), data.labels
    if not width:
        raise InputError("tolerance", "given if all labels are equal", "left out")
    if (labels.numerators % labels.denominator).any():
        must = "differs from its label by at most 1 % of the labels' spread"
        return Limit(width / 100, must, default=True)
    different = [y for y, _ in groupby(sorted(labels.numerators.tolist()))]  # hashes could collide
    if data.T * len(different) * (data.m + 10) > _MOST_COMPARED:
        must = f"given if {data.T} outputs are to be compared with {len(different)} labels"
        raise InputError("tolerance", must, "left out")
    return nearest(default=True)


def spread(data: Dataset) -> Fraction:
    """The largest difference between two labels in any entry."""
    labels = data.labels
    columns = labels.numerators.T.tolist()
    return Fraction(max(max(some) - min(some) for some in columns), labels.denominator)


def share(size: str, width: Fraction) -> str:
    """An error or its bound, relative to the labels' spread and rounded up; "" if undefined.

    >>> share("0.5", Fraction(1)), share("0.0333334", Fraction(1)), share("1e-13", Fraction(2))
    ("50 % of the labels' spread", "3.34 % of the labels' spread", "5e-12 % of the labels' spread")
    """
    if not width or size == "inf":
        return ""
    return f"{rounded_up(100 * Fraction(size) / width, 3)} % of the labels' spread"


# Error.


def judged_errors(
    network: Network, data: Dataset, limit: Limit, exact: fmpq_mat | None = None
) -> tuple[Claim, Claim]:
    """The claims about the size of the error and about the limit, with the examples that exceed it
    ("beyond") or may exceed it ("open"). exact: the outputs; None if they are enclosed in balls.
    Raises InputError if shapes do not agree."""
    judged = statement_of(limit, data)
    if exact is not None:
        return _exactly(judged, data, exact, limit)
    at = cache(lambda bits: balls(network, data))  # evaluated once for each precision
    return judged_in_balls(judged, data, lambda: at(ctx.prec), limit)


def statement_of(limit: Limit, data: Dataset) -> Claim:
    """The claim, still undecided, that all outputs satisfy the limit."""
    statement = f"On {counted(data.T, 'example', 'all')} the output {limit.must}."
    return Claim(ids.LAYER_MEMORIZES, statement, Level.UNDECIDED, source=SOURCE)


def _exactly(judged: Claim, data: Dataset, outputs: fmpq_mat, limit: Limit) -> tuple[Claim, Claim]:
    sizes = [max(map(abs, row)) for row in (outputs - data.label_matrix).tolist()]
    decimals = [outward(x, x) for x in sizes]
    worst = sizes.index(max(sizes))
    error = Claim(
        ids.LAYER_ERROR,
        f"The largest error is {interval(*decimals[worst])}.",
        Level.PROVED,
        numbers={"error": decimals[worst], "errors": decimals},
        arithmetic=_EXACT,
        source=SOURCE,
    )
    bound = limit.bound
    if bound is None:
        return error, _by_margins(judged, margins(data, outputs, limit.margin))
    beyond = [t for t, x in enumerate(sizes) if x > fmpq(bound.numerator, bound.denominator)]
    numbers = {
        "equal to the label": sum(not x for x in sizes),
        "examples": data.T,
        "beyond": beyond,
        "open": [],
    }
    level = Level.REFUTED if beyond else Level.PROVED
    witness = {"example": worst, "error": decimals[worst]} if beyond else None
    return error, replace(judged, level=level, numbers=numbers, witness=witness, arithmetic=_EXACT)


def judged_in_balls(
    judged: Claim, data: Dataset, outputs: Callable[[], arb_mat], limit: Limit
) -> tuple[Claim, Claim]:
    """Like `judged_errors`, but in balls. outputs: computes them at the working precision."""
    error = enclosed_error(data, outputs, max_bits=_ZERO_BITS)
    error = replace(error, id=ids.LAYER_ERROR, source=SOURCE)
    if limit.bound is None:
        return error, _by_margins(judged, enclosed_margins(data, outputs, limit.margin))
    bits = MAX_BITS if limit.bound else _ZERO_BITS
    within = enclosed_error(data, outputs, tolerance=limit.bound, max_bits=bits)
    numbers = {key: within.numbers[key] for key in ("tolerance", "beyond", "open")}
    return error, replace(
        within, id=judged.id, statement=judged.statement, numbers=numbers, source=SOURCE
    )


def _by_margins(judged: Claim, margins: Margins) -> Claim:
    """The claims if margins are required. The least margin decides and is reported."""
    decimals = [outward(*pair) for pair in margins.bounds]
    least = {"example": margins.least, "margin": decimals[margins.least]}
    numbers = {
        **least,
        "margins": decimals,
        "beyond": [t for t, level in enumerate(margins.levels) if level is Level.REFUTED],
        "open": [t for t, level in enumerate(margins.levels) if level is Level.UNDECIDED],
    }
    return replace(
        judged,
        level=margins.level,
        numbers=numbers,
        witness=None if margins.level.holds else least,
        arithmetic=f"ball arithmetic (Arb), {margins.bits} bits" if margins.bits else _EXACT,
    )


def measured(error: Claim, memorizes: Claim, width: Fraction) -> Claim:
    """The claim about the limit, with the margin and the size of the error added."""
    size = _margin_size(memorizes.numbers) + _error_size(error, width)
    if memorizes.level.holds:
        statement = f"{memorizes.statement.removesuffix('.')}; {size}."
        return replace(memorizes, statement=statement)
    reason = f"{_failing(memorizes.numbers)}; {size}"
    return replace(memorizes, witness=dict(memorizes.witness or {}) | {"reason": reason})


def bounds_to_certify(limit: Limit, error: Claim, memorizes: Claim) -> Bounds:
    """The bounds for a certificate if the limit holds: none for exact equality, else the least
    margin or the largest error, rounded to a few digits."""
    exact, high = error.level is Level.PROVED, error.numbers["error"][1]
    if exact and high == "0" and limit.margin is None:
        return {}
    if limit.bound is None:
        margin = memorizes.numbers["margin"][0]
        known = Fraction(margin if exact else certified_margin(margin))
        return {"margin": max(known, limit.margin or known)}
    within = Fraction(certified_error(high))
    return {"within": min(within, limit.bound) if limit.bound else within}


def _error_size(error: Claim, width: Fraction) -> str:
    """The largest error in words, absolute and relative to the labels' spread."""
    low, high = error.numbers["error"]
    if high == "0":
        return "every output equals its label"
    relative = share(high, width)
    return f"the largest error is {interval(low, high)}" + (f", {relative}" if relative else "")


def _margin_size(numbers: Mapping[str, Any]) -> str:
    """The least margin and its example, as a clause; "" if no margin is required."""
    if "margin" not in numbers:
        return ""
    return f"the least margin is {interval(*numbers['margin'])}, of example {numbers['example']}; "


def _failing(numbers: Mapping[str, Any]) -> str:
    """Text that lists the examples whose outputs do not satisfy the limit, or may not satisfy it.

    >>> _failing({"beyond": [1, 3], "open": []})
    'not on 1, 3'
    """
    words = ("beyond", "not on"), ("open", "not decided on")
    return "; ".join(f"{word} {listed(numbers[key])}" for key, word in words if numbers[key])


def interval(low: str, high: str) -> str:
    """Two decimal bounds as text; a single number if they are equal.

    >>> interval("0.25", "0.25"), interval("0.333333", "0.333334")
    ('0.25', 'in [0.333333, 0.333334]')
    """
    return low if low == high else f"in [{low}, {high}]"


def outward(low: Any, high: Any) -> list[str]:
    """A lower and an upper bound, fractions or exact balls, as decimals rounded outwards.

    >>> outward(fmpq(-1, 3), fmpq(1, 4))
    ['-0.333334', '0.25']
    """
    with ctx.workprec(64):
        below, above = arb(low).lower(), arb(high).upper()
        return [decimal(below, up=False), decimal(above, up=True)]
