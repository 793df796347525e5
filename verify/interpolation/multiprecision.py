"""Interpolation with the true exponential: mpmath, at a precision derived from the bits at hand.

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

**Which p** (ours). If the logits are whole multiples of ln 2, then A - y is a rational number whose
denominator divides δ_E δ_V δ_y Π_h S_h with S_h = Σ_i 2^(k_i - min k) ≤ n 2^span. With Δ bits of it
in the worst example, A ≠ y means |A - y| > 2^-Δ. At p = Δ + λ + θ + 9 the tolerance is 2^(-Δ-2): the
computed difference is within it *only if* A = y, and even the last bit of a value would show
(`separates`). This p is used up to `max_bits`; beyond, p = max_bits, and the claim does not separate.
Either way the evidence is numerical: it trusts mpmath's roundings, and is never called proved.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from flint import fmpq_mat, fmpz
from mpmath import MPContext

from constructions.dataset import Dataset
from constructions.layer import Head, Layer
from verify.evidence import Claim, Level
from verify.interpolation import require_readout

MAX_BITS = 80_000  # working precision
GUARD = 64  # bits by which the tolerance must be below 1 and below the labels

_ID = "interpolation.multiprecision"
_SOURCE = "step 10; ours: error bound and precision (verify/interpolation/multiprecision.py)"


def multiprecision(data: Dataset, layer: Layer, *, max_bits: int = MAX_BITS) -> Claim:
    """Whether the outputs agree with the labels, to a tolerance that the derivation predicts.

    data: T examples; layer: H heads with value (d×d_v) and output (H·d_v)×m; any rational logits.
    Returns the claim "interpolation.multiprecision": *numerical* (|A - y| within the tolerance on
    every example); *refuted*, with the example of the largest difference; *undecided* where
    `max_bits` leaves no useful tolerance. Raises InputError where shapes do not fit.
    """
    require_readout(data, layer)
    plan = _plan(data, layer, max_bits)
    statement = (
        rf"$|A(E^{{(t)}}, e^{{(t)}}) - y^{{(t)}}| \le 2^{{{plan.tolerance}}}$ for all $T$ examples, "
        "with the true exponential"
    )
    arithmetic = f"floating point with {plan.precision} bits (mpmath), tolerance 2^{plan.tolerance}"
    numbers: dict[str, Any] = {
        "examples": data.T,
        "precision_bits": plan.precision,
        "tolerance_log2": plan.tolerance,
        "separates": plan.separates,
    }
    if plan.tolerance > plan.ceiling:
        reason = f"the tolerance has to be at most 2^{plan.ceiling}; allow more than {max_bits} bits"
        return Claim(_ID, statement, Level.UNDECIDED, numbers, {"reason": reason}, arithmetic)
    context = MPContext()
    context.prec = plan.precision
    differences, off_peak = _evaluate(context, data, layer)
    size, t, column = max((abs(x), -t, -c) for t, row in enumerate(differences) for c, x in enumerate(row))
    numbers["largest_difference_log2"] = int(context.mag(size)) if size else None
    numbers["off_peak_log2"] = off_peak
    if size <= context.ldexp(1, plan.tolerance):
        return Claim(_ID, statement, Level.NUMERICAL, numbers, None, arithmetic, source=_SOURCE)
    witness = {
        "example": -t,
        "label": -column,
        "output_minus_label": context.nstr(differences[-t][-column], 6),
    }
    return Claim(_ID, statement, Level.REFUTED, numbers, witness, arithmetic, source=_SOURCE)


@dataclass(frozen=True)
class _Plan:
    precision: int  # p
    tolerance: int  # log2 of the tolerance
    ceiling: int  # the largest useful log2 of a tolerance
    separates: bool


def _plan(data: Dataset, layer: Layer, max_bits: int) -> _Plan:
    """Working precision and tolerance, as derived above."""
    heads, assert_output = layer.heads, layer.output
    width = heads[0].width
    contexts = [data.context(t) for t in range(1 if data.shared else data.T)]
    context_bits, label_bits = _magnitude(contexts), _magnitude([data.label_matrix])
    logit_bits = context_bits + _magnitude([data.query_matrix]) + _log2(data.d**2 * width)
    logit_bits += _magnitude([h.key for h in heads]) + _magnitude([h.query for h in heads])
    logit_bits = max(0, logit_bits)
    output_bits = context_bits + _magnitude([h.value for h in heads]) + _magnitude([layer.output])
    output_bits += _log2(len(heads) * data.d * layer.value_width)
    output_bits = max(output_bits, label_bits) + 1

    denominator, whole = _denominator_bits(data, layer, logit_bits)
    wanted = max(denominator, 2 * GUARD) + logit_bits + output_bits + 9
    precision = min(max(wanted, logit_bits + 2 * GUARD), max_bits)
    return _Plan(
        precision,
        7 + logit_bits + output_bits - precision,
        min(0, label_bits) - GUARD,
        whole and precision >= wanted,
    )
