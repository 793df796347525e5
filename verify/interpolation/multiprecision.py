"""Interpolation with the true exponential: mpmath, at a precision derived from the data.

Nothing here knows that the weights are powers of two: the query weights are the real numbers
ln 2·Q rounded to p bits, the logits are real, the softmax is a quotient of exponentials.

**Error at p bits** (ours). A conversion or an operation has relative error at most u = 2^(1-p)
(mpmath promises half of that; its `fdot` and `fsum` add exactly and round once). With |·| taken
entrywise, let

    Λ ≥ 1 and ≥ ln2 |E_i| |K| |Q|ᵀ |e|   for all heads, examples, rows i,
    Θ ≥ Σ_h max_i |E_i| |W_V,h| |W_O,h| + |y_t|   for all examples and label columns.

- E_i K carries 3 roundings, (ln2 Q)ᵀe five, their product one more: a logit errs by ≤ 10 uΛ, a
  difference ℓ_i - max ℓ by ≤ 22 uΛ, its exponential x_i by a factor 1 ± 24 uΛ.
- Σ x_i: one more, 25 uΛ. W_V W_O: 3, E_i V: 2 more, so Σ x_i (E_i V): ≤ 31 uΛ Σ x_i |E_i||V|.
- The quotient: 57 uΛ; the sum over heads, the label and the difference: 3 more. Together

    |computed difference - (A - y)|  ≤  64 uΛΘ  ≤  2^(7 + λ + θ - p)  =: tolerance,
    for 2^λ ≥ Λ, 2^θ ≥ Θ (second-order terms fit into the slack, as uΛ < 2^-60).

So A = y implies |computed difference| ≤ tolerance, and a larger one refutes A = y.

**Which p** (ours). If the logits are whole multiples of ln 2, then A - y is rational and its
denominator divides δ_E δ_V δ_y Π_h S_h with S_h = Σ_i 2^(k_i - min k) ≤ n 2^span. With Δ bits of it
in the worst example, A ≠ y means |A - y| ≥ 2^-Δ. At p = Δ + λ + θ + 9 the tolerance is 2^(-Δ-2);
the computed difference is within it *only if* A = y: even the last bit of a value would show
(`separates`, told as "any difference would show"). This p is used up to `max_bits`; beyond it
p = max_bits, and nothing separates. Either way the evidence is numerical: it trusts mpmath's
roundings, and is never called proved.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from flint import fmpq_mat, fmpz
from mpmath import MPContext

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Layer
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level

GUARD = 64  # bits by which a tolerance must be below 1 and below the labels
WORK_LIMIT = 3 * 10**10  # see `affordable_bits`: 10 to 20 seconds
MOST_BITS = 2**18  # of the default working precision, even where there is little to compute

_ID = ids.MULTIPRECISION
_SOURCE = "ours: error bound and precision (verify/interpolation/multiprecision.py)"


def multiprecision(data: Dataset, layer: Layer, *, max_bits: int | None = None) -> Claim:
    """Whether the outputs agree with the labels, to a tolerance that the derivation predicts.

    data: T examples; layer: H heads with value (d×d_v) and output (H·d_v)×m; logits over ln 2 need
    not be whole. max_bits: the largest working precision (default: `affordable_bits`).
    Returns the claim "interpolation.multiprecision": *numerical* (|A - y| within the tolerance on
    every example); *refuted*, with the example of the largest difference; *undecided* where
    `max_bits` leaves no useful tolerance.
    """
    values, output = layer.readout
    limit = affordable_bits(data, layer) if max_bits is None else max_bits
    plan = _plan(data, layer, values, output, limit)
    statement = (
        rf"$|A(E^{{(t)}}, e^{{(t)}}) - y^{{(t)}}| \le 2^{{{plan.tolerance}}}$ for all $T$ "
        "examples, with the true exponential"
    )
    arithmetic = f"floating point, {plan.precision} bits (mpmath), tolerance 2^{plan.tolerance}"
    numbers: dict[str, Any] = {
        "examples": data.T,
        "precision_bits": plan.precision,
        "tolerance_log2": plan.tolerance,
        "any difference would show": plan.separates,
    }
    if plan.tolerance > plan.ceiling:
        reason = f"more than {limit} bits are needed for a tolerance of 2^{plan.ceiling}"
        witness: dict[str, Any] | None = {"reason": reason}
        return Claim(_ID, statement, Level.UNDECIDED, numbers, witness, arithmetic, source=_SOURCE)
    mp = context(plan.precision)
    labels = _rows(mp, data.label_matrix)
    differences: list[list[Any]] = []  # T×m
    off_peak: list[int] = []  # log2(1 - p_max) per example and head, rounded up
    for t, (outputs, rests) in enumerate(_evaluate(mp, data, layer, values, output)):
        differences.append([a - y for a, y in zip(outputs, labels[t], strict=True)])
        off_peak += [int(mp.mag(rest)) for rest in rests if rest]
    t, c = max(
        ((t, c) for t in range(data.T) for c in range(data.m)),
        key=lambda place: abs(differences[place[0]][place[1]]),
    )
    largest = abs(differences[t][c])
    numbers["largest_difference_log2"] = int(mp.mag(largest)) if largest else None
    numbers["log2(1-p), least and largest"] = [min(off_peak), max(off_peak)] if off_peak else None
    level, witness = Level.NUMERICAL, None
    if largest > mp.ldexp(1, plan.tolerance):
        level = Level.REFUTED
        difference = mp.nstr(differences[t][c], 6)
        witness = {"example": t, "label": c, "output_minus_label": difference}
    return Claim(_ID, statement, level, numbers, witness, arithmetic, source=_SOURCE)


def affordable_bits(data: Dataset, layer: Layer, limit: int = WORK_LIMIT) -> int:
    """The precision p at which T·H·n exponentials stay below `limit`; 0 or less where none does.

    An exponential with all that goes with it costs about (p + 4,000)^1.5 in the units of `limit`.
    Never more than `MOST_BITS`.
    """
    exponentials = data.T * len(layer.heads) * data.longest
    return min(MOST_BITS, int((limit / exponentials) ** (2 / 3)) - 4000)


@dataclass(frozen=True)
class _Plan:
    precision: int  # p
    tolerance: int  # its log2
    ceiling: int  # log2 of the largest tolerance that would say anything
    separates: bool


def _plan(
    data: Dataset, layer: Layer, values: list[fmpq_mat], output: fmpq_mat, max_bits: int
) -> _Plan:
    """Working precision and tolerance, as derived at the top."""
    context_size, label_size = _size(_contexts(data)), _size([data.label_matrix])
    logit_size = logit_bits(data, layer)
    terms = data.d * int(output.nrows())
    output_size = context_size + _size(values) + _size([output]) + terms.bit_length()
    output_size = max(output_size, label_size) + 1  # θ
    scale = logit_size + output_size
    ceiling = min(0, label_size) - GUARD

    needed, separates = 2 * GUARD - ceiling + scale, False
    if needed <= max_bits:
        softmax_bits = _softmax_bits(data, layer, logit_size)
        units = data.contexts.denominator * data.labels.denominator * _unit([output])
        separates = softmax_bits is not None
        denominator = (_unit(values) * units).bit_length() + (softmax_bits or 0)
        needed = max(needed, denominator + scale + 9)
    precision = max(2, min(needed, max_bits))
    separates = separates and precision == needed
    return _Plan(precision, 7 + scale - precision, ceiling, separates)


def logit_bits(data: Dataset, layer: Layer) -> int:
    """λ ≥ 0 with |E_i| |K| |Q|ᵀ |e| ≤ 2^λ for all heads, examples and rows (ln 2 < 1)."""
    sizes = (
        _size(_contexts(data))
        + _size([data.query_matrix])
        + _size([head.key for head in layer.heads])
        + _size([head.query for head in layer.heads])
        + (data.d**2 * layer.head_width).bit_length()
    )
    return max(0, sizes)


def _contexts(data: Dataset) -> list[fmpq_mat]:
    return [data.context(t) for t in range(1 if data.shared else data.T)]


def _softmax_bits(data: Dataset, layer: Layer, logit_size: int) -> int | None:
    """Bits of Π_h S_h in the worst example; None where a logit over ln 2 is not whole.

    Logits over ln 2 are multiples of 1/δ; at a precision of λ + log2 δ + 64 bits they are whole
    if and only if they are within 1/(2δ) of an integer.
    """
    keys, queries = [h.key for h in layer.heads], [h.query for h in layer.heads]
    unit = _unit(keys) * _unit(queries) * data.contexts.denominator * data.queries.denominator
    mp = context(logit_size + unit.bit_length() + GUARD)
    margin = mp.fdiv(1, int(2 * unit))
    totals = [0] * data.T
    for t, tables in enumerate(real_logits(mp, data, layer)):
        for logits in tables:
            multiples = [x / mp.ln2 for x in logits]
            if any(abs(x - mp.nint(x)) >= margin for x in multiples):
                return None
            span = int(mp.nint(max(multiples) - min(multiples)))
            totals[t] += span + data.longest.bit_length()
    return max(totals)


def _evaluate(
    mp: MPContext, data: Dataset, layer: Layer, values: list[fmpq_mat], output: fmpq_mat
) -> Iterator[tuple[list[Any], list[Any]]]:
    """Example by example: the m outputs, and 1 - p_max for each head."""
    width, columns = int(values[0].ncols()), _columns(mp, output)
    blocks = []  # W_V W_O, by columns
    for h, value in enumerate(values):
        rows = _rows(mp, value)
        part = [column[h * width : (h + 1) * width] for column in columns]
        blocks.append([[mp.fdot(row, column) for row in rows] for column in part])
    for tables, projected in zip(
        real_logits(mp, data, layer), _projections(mp, data, blocks), strict=True
    ):
        terms: list[list[Any]] = []
        rests = []
        for logits, rows in zip(tables, projected, strict=True):
            peak = max(range(len(logits)), key=logits.__getitem__)
            powers = [mp.exp(x - logits[peak]) for x in logits]
            total = mp.fsum(powers)
            rests.append(mp.fsum(powers[:peak] + powers[peak + 1 :]) / total)
            terms.append([mp.fdot(powers, column) / total for column in zip(*rows, strict=True)])
        yield [mp.fsum(column) for column in zip(*terms, strict=True)], rests


def real_logits(mp: MPContext, data: Dataset, layer: Layer) -> Iterator[list[list[Any]]]:
    """Example by example, head by head: the n logits E_i K (ln2 Q)ᵀ e, as real numbers."""
    real_queries = [
        [[mp.ln2 * x for x in column] for column in _columns(mp, head.query)]
        for head in layer.heads
    ]
    keys = [_columns(mp, head.key) for head in layer.heads]
    examples = zip(_rows(mp, data.query_matrix), _projections(mp, data, keys), strict=True)
    for e, projected in examples:
        tables = []
        for columns, rows in zip(real_queries, projected, strict=True):
            query = [mp.fdot(e, column) for column in columns]
            tables.append([mp.fdot(row, query) for row in rows])
        yield tables


def _projections(
    mp: MPContext, data: Dataset, matrices: list[list[list[Any]]]
) -> Iterator[list[list[list[Any]]]]:
    """Example by example, E M for each matrix M (given by its columns): n rows."""
    projected: list[list[list[Any]]] = []
    for t in range(data.T):
        if t == 0 or not data.shared:
            context = _rows(mp, data.context(t))
            projected = [
                [[mp.fdot(row, column) for column in columns] for row in context]
                for columns in matrices
            ]
        yield projected


def context(precision: int) -> MPContext:
    """A context of its own: mpmath's global precision is left alone."""
    context = MPContext()
    context.prec = precision
    return context


def _rows(mp: MPContext, matrix: fmpq_mat) -> list[list[Any]]:
    """Each rational rounded once."""
    return [[mp.fdiv(int(x.p), int(x.q)) for x in row] for row in matrix.tolist()]


def _columns(mp: MPContext, matrix: fmpq_mat) -> list[list[Any]]:
    return _rows(mp, matrix.transpose())


def _size(matrices: Iterable[fmpq_mat]) -> int:
    """An integer b with every |entry| ≤ 2^b."""
    entries = (x for matrix in matrices for x in matrix.entries())
    return max((x.p.bit_length() - x.q.bit_length() + 1 for x in entries if x), default=0)


def _unit(matrices: Sequence[fmpq_mat]) -> fmpz:
    """The common denominator of all entries."""
    unit = fmpz(1)
    for matrix in matrices:
        unit = unit.lcm(matrix.numer_denom()[1])
    return unit
