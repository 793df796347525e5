"""Given labels beyond every bound on universal memorization (ours; docs/tightness.md, 5).

One head of width one, d_v = m = 1, one shared context of rank n ≥ 2, and *any* number T of
independent queries. Take u with E u = (1, 0, ..., 0) and V with E V = (high, low, ..., low). For a
query with w·e = ℓ the first token gets the weight e^ℓ / (e^ℓ + n - 1), so

    A(e) = low + (high - low) e^ℓ / (e^ℓ + n - 1),        a bijection of ℓ ∈ R onto (low, high).

Its inverse is ℓ = ln q with q = (n - 1)(y - low)/(high - y), *rational* for rational labels. With
ê_t dual to the queries (ê_t·e_s = 1 if s = t, else 0) the query weights

    w = Σ_t ln(q_t) ê_t

give w·e_t = ln q_t, exactly, hence the softmax weights q_t/(q_t + n - 1) and the labels: what is
left to check is arithmetic of rationals. For n = 2 this is low + (high - low)·sigmoid(ℓ).

Universal memorization needs rank Z = T, and one head has rank Z ≤ n. So for T > n these keys and
queries depend on the labels, and must.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import arb, arb_mat, ctx, fmpq, fmpq_mat

from attncert.constructions.brief import in_brief
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.layer import Head, Layer
from attncert.constructions.numerals import numeral
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import RATIONAL, About, Claim, Level, counted
from attncert.verify.interpolation.rational import rational
from attncert.verify.tightness.shared_contexts.largest_rank import applies, largest_rank

__all__ = ["Fit", "fit_given_labels"]

_SOURCE = "ours; docs/tightness.md, section 5"
_BITS = 192  # working precision of the balls
_TOLERANCE = fmpq(1, 10**30)

Rational = int | Fraction


@dataclass(frozen=True)
class Fit:
    """layer: over ℚ in units of ln 2, where every q_t is a power of two; else None (the query
    weights are then sums of logarithms). claims: what is known of it."""

    claims: tuple[Claim, ...]
    layer: Layer | None

    def __repr__(self) -> str:
        return in_brief(self, claims=len(self.claims), layer=self.layer)


@dataclass(frozen=True)
class _Weights:
    """u, V: d×1; duals: d×T, columns ê_t; odds: q_t; low and high."""

    key: fmpq_mat
    value: fmpq_mat
    duals: fmpq_mat
    odds: tuple[fmpq, ...]
    low: fmpq
    high: fmpq


def fit_given_labels(
    data: Dataset, low: Rational | None = None, high: Rational | None = None
) -> Fit:
    """One head of width one with exactly these labels: T independent queries, a shared context.

    low, high: strict bounds of the labels, by default one below the least and one above the
    largest. Where all (n-1)(y - low)/(high - y) are powers of two the layer is rational, and its
    output is also compared with the labels by the exact route of the project. Exact; the balls
    (Arb) are a second opinion. Raises InputError where the labels are not single numbers strictly
    between the bounds. Not applicable where contexts differ, n = 1, or queries are dependent.
    """
    if data.m != 1:
        raise InputError("labels", "single numbers (m = 1)", f"of dimension {data.m}")
    labels = data.label_matrix.entries()
    bottom = min(labels) - 1 if low is None else _exact(low)
    top = max(labels) + 1 if high is None else _exact(high)
    if not all(bottom < y < top for y in labels):
        raise InputError("low, high", "strict bounds of the labels", f"{bottom}, {top}")
    independent = _independent(data)
    if not independent.level.holds or data.n < 2 or not data.shared or not applies(data):
        rank = int(data.contexts[0].integer_matrix().rank())
        refused = Claim(
            ids.GIVEN_APPLIES,
            "One shared context of rank $n\\ge2$, and independent queries.",
            Level.NOT_APPLICABLE,
            numbers={"shared": data.shared, "n": data.n, "rank of the first context": rank},
            rests_on=(independent.id,),
            source=_SOURCE,
        )
        return Fit((independent, refused), None)
    weights = _weights(data, bottom, top)
    claims = [independent, _equality(data, weights), _enclosed(data, weights)]
    layer = _dyadic_layer(data, weights)
    if layer is not None:
        claims.append(rational(data, layer))
    return Fit((*claims, _beyond(data)), layer)


def _exact(x: Rational) -> fmpq:
    return fmpq(Fraction(x).numerator, Fraction(x).denominator)


def _weights(data: Dataset, low: fmpq, high: fmpq) -> _Weights:
    context, queries = data.context(0), data.query_matrix
    inverse = context.transpose() * (context * context.transpose()).inv()
    first = fmpq_mat(data.n, 1, [1] + [0] * (data.n - 1))
    values = fmpq_mat(data.n, 1, [high] + [low] * (data.n - 1))
    odds = tuple((data.n - 1) * (y - low) / (high - y) for y in data.label_matrix.entries())
    return _Weights(
        key=inverse * first,
        value=inverse * values,
        duals=queries.transpose() * (queries * queries.transpose()).inv(),
        odds=odds,
        low=low,
        high=high,
    )


def _independent(data: Dataset) -> Claim:
    rank = int(data.queries.integer_matrix().rank())
    return Claim(
        ids.GIVEN_QUERIES,
        "The queries are independent.",
        Level.PROVED if rank == data.T else Level.NOT_APPLICABLE,
        numbers={"rank": rank, "T": data.T},
        arithmetic=RATIONAL,
        source=_SOURCE,
    )


def _equality(data: Dataset, weights: _Weights) -> Claim:
    """Every step of the derivation, on the numbers at hand."""
    context, n = data.context(0), data.n
    identity = fmpq_mat(data.T, data.T, [int(s == t) for s in range(data.T) for t in range(data.T)])
    good = data.query_matrix * weights.duals == identity
    good = good and (context * weights.key).entries() == [1] + [0] * (n - 1)
    wrong = []
    for t, (odds, y) in enumerate(zip(weights.odds, data.label_matrix.entries(), strict=True)):
        sigma = fmpq_mat(1, n, [odds] + [fmpq(1)] * (n - 1)) / (odds + n - 1)
        if odds <= 0 or (sigma * context * weights.value)[0, 0] != y:
            wrong.append(t)
    return Claim(
        ids.GIVEN_OUTPUT,
        "Given labels: one head of width 1 with query weights $\\sum_t\\ln(q_t)\\,\\hat e_t$ "
        f"outputs exactly the label on {counted(data.T, 'example', 'all')}.",
        Level.PROVED if good and not wrong else Level.REFUTED,
        numbers={"examples": data.T, "n": n, "parameters": 2 * data.d + data.d + 1},
        witness={
            "examples": wrong,
            "q": [numeral(q) for q in weights.odds],
            "key": [numeral(x) for x in weights.key.entries()],
            "value": [numeral(x) for x in weights.value.entries()],
        },
        arithmetic="exact over ℚ (FLINT), with exp(ln q) = q",
        rests_on=(ids.GIVEN_QUERIES,),
        source=_SOURCE,
    )


def _enclosed(data: Dataset, weights: _Weights) -> Claim:
    """The same layer evaluated in ball arithmetic, with real logarithms and exponentials."""
    with ctx.workprec(_BITS):
        logs = arb_mat(data.T, 1, [arb(q).log() for q in weights.odds])
        w = arb_mat(weights.duals) * logs
        asked = arb_mat(data.query_matrix) * w
        scores = (arb_mat(data.context(0)) * arb_mat(weights.key)).entries()
        tokens = (arb_mat(data.context(0)) * arb_mat(weights.value)).entries()
        worst = arb(0)
        for t, y in enumerate(data.label_matrix.entries()):
            powers = [(asked[t, 0] * score).exp() for score in scores]
            total = sum(powers, arb(0))
            output = sum((p * v for p, v in zip(powers, tokens, strict=True)), arb(0)) / total
            worst = worst.max(abs(output - arb(y)))
        small = bool(worst < arb(_TOLERANCE))
        bound = float(worst.upper())
    return Claim(
        ids.GIVEN_BALLS,
        "Evaluated with balls for the weights, the layer's outputs differ from the labels by at "
        f"most {_TOLERANCE.numer()}/{_TOLERANCE.denom()}.",
        Level.ENCLOSED if small else Level.UNDECIDED,
        numbers={"error at most": f"{bound:.3g}", "bits": _BITS},
        arithmetic="ball arithmetic (Arb)",
        source=_SOURCE,
    )


def _dyadic_layer(data: Dataset, weights: _Weights) -> Layer | None:
    """The layer over ℚ, where every q_t is a power of two: w in units of ln 2."""
    exponents = []
    for odds in weights.odds:
        top, bottom = int(odds.p), int(odds.q)
        k = top.bit_length() - bottom.bit_length()
        if fmpq(1 << max(k, 0), 1 << max(-k, 0)) != odds:
            return None
        exponents.append(k)
    query = weights.duals * fmpq_mat(data.T, 1, exponents)
    return Layer((Head(weights.key, query, weights.value),), fmpq_mat(1, 1, [1]))


def _beyond(data: Dataset) -> Claim:
    """Universal memorization by one head of any width, for comparison."""
    most = largest_rank(data, 1).rank
    return Claim(
        ids.GIVEN_UNIVERSAL,
        "Universal memorization: some keys and queries of one head, of any width, serve every "
        f"labelling of {counted(data.T, 'example', 'these')}.",
        Level.REFUTED if most < data.T else Level.ARGUED,
        numbers={"largest rank of Z": most, "T": data.T},
        witness={"T": data.T, "largest rank of Z": most} if most < data.T else None,
        source="ours; docs/tightness.md, section 4",
        about=About.UNIVERSAL,
    )
