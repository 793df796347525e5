"""A third-party layer, audited: how far it is from its labels, and how it compares with Theorem 1.

The questions put to any weights, constructed or trained, rounded or not:

    error       |A(E, e) - y| of each example, enclosed, or an equality where all is exact
    rank        Z = T? If so the keys and queries memorize *every* labelling (universally), and only
                the readout is to blame for an error
    saturation  the largest softmax weight of each head and example, enclosed
    groups      which head carries which example (heads.py)
    ablation    the error without each head, and which example it gives most to (heads.py)
    scale       where the layer does not memorize, whether it does with another scale
    Theorem 1   capacity, rank of M_h, the partition condition for these groups, and saturation of
                the examples of earlier heads

What Theorem 1 does is not what every layer must do: its part describes, and finds nothing against.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import cache
from itertools import groupby
from typing import Any

from flint import arb, arb_mat, ctx, fmpq, fmpq_mat

from attncert.constructions.brief import in_brief
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.network.arithmetic import BALLS
from attncert.constructions.network.network import Network
from attncert.constructions.network.states import beside
from attncert.constructions.numerals import short
from attncert.constructions.progress import StageProgress, silent
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import OVER_Q, Claim, Level
from attncert.verify.claims.ids import ClaimId
from attncert.verify.claims.words import counted, listed, widened
from attncert.verify.interpolation.enclosure import MAX_BITS, decimal, enclosed_error
from attncert.verify.interpolation.nearest import Margins, enclosed_margins, margins
from attncert.verify.layer.attention import Attention
from attncert.verify.layer.heads import (
    HeadView,
    head_view,
    peak,
    theorem_claims,
    worth_of_each,
)
from attncert.verify.network.within import (
    Bounds,
    balls,
    exact_outputs,
    rounded_down,
    rounded_up,
)
from attncert.verify.questions.layer import SCALES
from attncert.verify.rank import rational
from attncert.verify.rank.ball import SingularValue, smallest_singular_value
from attncert.verify.tightness.universal import bound_from_above

_MOST_COMPARED = 3 * 10**7  # outputs times labels, times their width and 10: seconds
_EXACT = "exact over ℚ (FLINT), with exp(k ln 2) = 2^k"
BITS = 256  # of the balls for weights, features and singular values
_ZERO_BITS = 1024  # of balls that may contain 0 at every precision
_BRIEF = 12  # characters of a number that a sentence holds
SOURCE = "ours; docs/models-and-layers.md"


@dataclass(frozen=True)
class Limit:
    """What is asked of an output. bound: how far it may be from its label, in any entry; None: it
    must be nearer to its own label than to any other, by the margin if there is one. must: that in
    words. default: whether nobody asked for it."""

    bound: Fraction | None
    must: str
    default: bool = False
    margin: Fraction | None = None


@dataclass(frozen=True)
class LayerAudit:
    """claims: error, memorization, rank, and what of Theorem 1 the layer realises.

    off_peak: H×T, softmax weight outside the largest, enclosed. rescaled: another scale, with which
    the layer memorizes where it does not with its own.
    """

    attention: Attention
    limit: Limit
    claims: tuple[Claim, ...]
    errors: tuple[tuple[str, str], ...]
    sigma: SingularValue
    heads: tuple[HeadView, ...]
    off_peak: tuple[tuple[arb, ...], ...]
    rescaled: str | None = None

    def __repr__(self) -> str:
        return in_brief(
            self, claims=len(self.claims), heads=len(self.heads), limit=self.limit.bound
        )

    def __getitem__(self, claim_id: ClaimId) -> Claim:
        return next(claim for claim in self.claims if claim.id == claim_id)


def audit_layer(
    attention: Attention,
    *,
    limit: Limit | None = None,
    groups: Sequence[tuple[int, ...]] | None = None,
    progress: StageProgress = silent,
) -> LayerAudit:
    """Everything above. limit: of the errors; None: `default_limit`. groups: one per head, if
    known; else the examples that it gives most to. Raises InputError.
    """
    limit = limit or default_limit(attention.data)
    progress("layer: weights", 0, 5)
    with ctx.workprec(BITS):
        states = attention.states
        weights = attention.block.weights(states)
        features = attention.block.features(states, weights)
        sigma = smallest_singular_value(beside(features, BALLS), BITS)
        peaks = [[peak(row) for row in head] for head in weights]
        off_peak = tuple(tuple(off for _, off, _ in row) for row in peaks)
        progress("layer: heads taken out", 1, 5)
        worth = worth_of_each(attention, features)
    progress("layer: errors", 2, 5)
    error, memorizes = errors(attention, limit)
    progress("layer: rank", 3, 5)
    rank = rank_claim(attention, sigma)
    H = len(attention.layer.heads)
    carried = [tuple(gives) for _, gives in worth] if groups is None else list(groups)
    carried += [()] * (H - len(carried))
    progress("layer: heads", 4, 5)
    heads = tuple(
        head_view(head, h, carried, peaks[h], *worth[h])
        for h, head in enumerate(attention.layer.heads)
    )
    each = tuple((low, high) for low, high in error.numbers["errors"])
    compared = theorem_claims(attention, heads, carried, stated=groups is not None)
    claims = (error, memorizes, rank, *compared)
    others = () if memorizes.level.holds else (x for x in SCALES if x != attention.scale)
    fits = (x for x in others if errors(replace(attention, scale=x), limit)[1].level.holds)
    other = next(fits, None)
    return LayerAudit(attention, limit, claims, each, sigma, heads, off_peak, other)


def at_most(tolerance: Fraction) -> Limit:
    """0 asks for equality."""
    return Limit(tolerance, f"differs from its label by at most {short(tolerance)}")


def nearest(default: bool = False) -> Limit:
    return Limit(None, "is nearer to its own label than to any other", default)


def at_least(margin: Fraction) -> Limit:
    """Of the distance that verify/interpolation/nearest.py measures."""
    must = f"is nearer to its own label than to any other, by a margin of at least {short(margin)}"
    return Limit(None, must, margin=margin)


def default_limit(data: Dataset) -> Limit:
    """Whole labels count as classes: each output must be nearer to its own than to any other. Real
    ones must be met to within a hundredth of their spread. Raises InputError where all are equal,
    or too many are to be compared.

    >>> default_limit(Dataset.of([[1]], [[1], [2], [3]], [0, 1, 5])).must
    'is nearer to its own label than to any other'
    >>> default_limit(Dataset.of([[1]], [[1], [2], [3]], [0, "1/2", 5])).must
    "differs from its label by at most 1 % of the labels' spread (1/20)"
    """
    width, labels = spread(data), data.labels
    if not width:
        raise InputError("tolerance", "given where all labels are equal", "left out")
    if not (labels.numerators % labels.denominator).any():
        different = [y for y, _ in groupby(sorted(labels.numerators.tolist()))]  # in no set: hashes
        if data.T * len(different) * (data.m + 10) > _MOST_COMPARED:
            must = f"given where {data.T} outputs are to be compared with {len(different)} labels"
            raise InputError("tolerance", must, "left out")
        return nearest(default=True)
    part = width / 100
    must = f"differs from its label by at most 1 % of the labels' spread ({_brief(part)})"
    return Limit(part, must, True)


def spread(data: Dataset) -> Fraction:
    """The largest difference of two labels, in any entry."""
    labels = data.labels
    columns = labels.numerators.T.tolist()
    return Fraction(max(max(some) - min(some) for some in columns), labels.denominator)


def share(size: str, width: Fraction) -> str:
    """An error, or any bound of one, relative to the labels' spread, rounded up; "" without one.

    >>> share("0.5", Fraction(1)), share("0.0333334", Fraction(1)), share("1e-13", Fraction(2))
    ("50 % of the labels' spread", "3.34 % of the labels' spread", "5e-12 % of the labels' spread")
    """
    if not width or size == "inf":
        return ""
    up = Context(prec=3, rounding=ROUND_CEILING, Emax=MAX_EMAX, Emin=MIN_EMIN)
    times = Decimal(100 * width.denominator)
    exact = Context(prec=20 + times.adjusted(), Emax=MAX_EMAX, Emin=MIN_EMIN)
    percent = up.divide(exact.multiply(Decimal(size), times), Decimal(width.numerator))
    plain = -5 < percent.adjusted() < 6
    return f"{percent.normalize():{'f' if plain else 'e'}} % of the labels' spread"


def _brief(x: Fraction) -> str:
    """For one line: of floats it has dozens of digits, which the JSON holds."""
    text = short(x)
    if len(text) <= _BRIEF:
        return text
    return f"about {arb(fmpq(x.numerator, x.denominator)).str(3, radius=False)}"


# Error.


def errors(attention: Attention, limit: Limit) -> tuple[Claim, Claim]:
    """How large the error of a layer is, and whether its outputs satisfy the limit."""
    network, data = attention.network, attention.data
    exact = exact_outputs(network, data) if attention.short else None
    return judged_errors(network, data, limit, exact)


def judged_errors(
    network: Network, data: Dataset, limit: Limit, exact: fmpq_mat | None = None
) -> tuple[Claim, Claim]:
    """How large the error is, and whether the outputs satisfy the limit, with the examples that do
    not ("beyond") or may not ("open"). exact: the outputs, if they are rational; otherwise they are
    enclosed. Raises InputError for shapes."""
    judged = statement_of(limit, data)
    if exact is not None:
        return _exactly(judged, data, exact, limit)
    at = cache(lambda bits: balls(network, data))  # once at each precision
    return _in_balls(judged, data, lambda: at(ctx.prec), limit)


def statement_of(limit: Limit, data: Dataset) -> Claim:
    """That all outputs are what the limit asks for: undecided as yet."""
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


def _in_balls(
    judged: Claim, data: Dataset, outputs: Callable[[], arb_mat], limit: Limit
) -> tuple[Claim, Claim]:
    """outputs: at the working precision."""
    error = enclosed_error(data, outputs, max_bits=_ZERO_BITS)
    error = replace(error, id=ids.LAYER_ERROR, source=SOURCE)
    if limit.bound is None:
        return error, _by_margins(judged, enclosed_margins(data, outputs, limit.margin))
    within = enclosed_error(
        data, outputs, tolerance=limit.bound, max_bits=MAX_BITS if limit.bound else _ZERO_BITS
    )
    numbers = {key: within.numbers[key] for key in ("tolerance", "beyond", "open")}
    return error, replace(
        within, id=judged.id, statement=judged.statement, numbers=numbers, source=SOURCE
    )


def _by_margins(judged: Claim, margins: Margins) -> Claim:
    """The least margin decides, and is told with its example."""
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
    """Whether the errors are small enough, with their size relative to the labels."""
    size = margin_size(memorizes.numbers) + error_size(error, width)
    if memorizes.level.holds:
        statement = f"{memorizes.statement.removesuffix('.')}; {size}."
        return replace(memorizes, statement=statement)
    reason = f"{failing(memorizes.numbers)}; {size}"
    return replace(memorizes, witness=dict(memorizes.witness or {}) | {"reason": reason})


def bounds_to_certify(limit: Limit, error: Claim, memorizes: Claim) -> Bounds:
    """Of the certificate, if the outputs are what the limit asks for: of equality if that is exact,
    else of the least margin or of the largest error, in few digits."""
    exact, high = error.level is Level.PROVED, error.numbers["error"][1]
    if exact and high == "0" and limit.margin is None:
        return {}
    if limit.bound is None:
        margin = memorizes.numbers["margin"][0]
        known = Fraction(margin if exact else rounded_down(margin))
        return {"margin": max(known, limit.margin or known)}
    within = Fraction(rounded_up(high))
    return {"within": min(within, limit.bound) if limit.bound else within}


def error_size(error: Claim, width: Fraction) -> str:
    """The largest error, as it is and relative to the labels' spread."""
    low, high = error.numbers["error"]
    if high == "0":
        return "every output equals its label"
    relative = share(high, width)
    return f"the largest error is {interval(low, high)}" + (f", {relative}" if relative else "")


def margin_size(numbers: Mapping[str, Any]) -> str:
    """The least margin and its example, half a sentence; "" where none was asked for.

    >>> margin_size({"margin": ("0.25", "0.25"), "example": 3})
    'the least margin is 0.25, of example 3; '
    """
    if "margin" not in numbers:
        return ""
    return f"the least margin is {interval(*numbers['margin'])}, of example {numbers['example']}; "


def failing(numbers: Mapping[str, Any]) -> str:
    """The examples on which the error is not small enough, or may not be.

    >>> failing({"beyond": [1, 3], "open": []})
    'not on 1, 3'
    """
    words = ("beyond", "not on"), ("open", "not decided on")
    return "; ".join(f"{word} {listed(numbers[key])}" for key, word in words if numbers[key])


def interval(low: str, high: str) -> str:
    """Two decimal bounds in words: one number where they agree.

    >>> interval("0.25", "0.25"), interval("0.333333", "0.333334")
    ('0.25', 'in [0.333333, 0.333334]')
    """
    return low if low == high else f"in [{low}, {high}]"


def bounds(sigma: SingularValue) -> tuple[str, str]:
    """Of the smallest singular value, rounded outwards."""
    return decimal(arb(sigma.lower), up=False), decimal(arb(sigma.upper), up=True)


def outward(low: Any, high: Any) -> list[str]:
    """Bounds, fractions or exact points of any sign, as decimals rounded outwards.

    >>> outward(fmpq(-1, 3), fmpq(1, 4))
    ['-0.333334', '0.25']
    """
    with ctx.workprec(64):
        below, above = arb(low).lower(), arb(high).upper()
        return [decimal(below, up=False), decimal(above, up=True)]


# Rank.


def rank_claim(attention: Attention, sigma: SingularValue) -> Claim:
    """rank Z = T: mod p, or in balls; refuted by exact rank, or by a bound on all weights."""
    data, heads = attention.data, len(attention.layer.heads)
    numbers: dict[str, Any] = {
        "T": data.T,
        "columns": heads * data.d,
        "smallest singular value": list(bounds(sigma)),
    }
    witness: dict[str, Any] | None = None
    level, arithmetic = Level.UNDECIDED, f"ball arithmetic (Arb), {BITS} bits"
    if p := attention.full_rank_modulo():
        level, arithmetic = Level.PROVED, f"rank mod {p}; the rank over ℚ is at least that"
        numbers["rank"] = data.T
    elif sigma.lower > 0:
        level, numbers["rank"] = Level.ENCLOSED, data.T
    else:
        exact = attention.exact_features()
        bound = bound_from_above(data, heads)
        if exact is not None:
            table = [[int(x) for x in row] for row in _whole(exact)]
            rank = rational.rank(table).rank
            level = Level.PROVED if rank == data.T else Level.REFUTED
            numbers["rank"], arithmetic, witness = rank, OVER_Q, {"rank": rank}
            if rank < min(data.T, heads * data.d):
                witness = rational.relations(table)[0].as_dict()
        elif heads * data.d < data.T:
            level, witness = Level.REFUTED, {"T": data.T, "columns": heads * data.d}
        elif bound.rank < data.T:
            level, witness = Level.REFUTED, {"no weights exceed": bound.rank} | bound.witness
    return Claim(
        ids.LAYER_RANK,
        f"$\\operatorname{{rank}}Z=T={data.T}$: these keys and queries serve every labelling"
        f"{widened(data.m, attention.layer.value_width)}.",
        level,
        numbers=numbers,
        witness=witness if level is Level.REFUTED else None,
        arithmetic=arithmetic,
        source=SOURCE,
    )


def _whole(matrix: fmpq_mat) -> list[list[Any]]:
    """The same rows times a common denominator: ranks and relations stay as they are."""
    numerators, _ = matrix.numer_denom()
    return numerators.tolist()
