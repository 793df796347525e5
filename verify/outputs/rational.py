"""Interpolation over ℚ: the layer's outputs equal the labels, compared as integers.

Derivation (ours). In units of ln 2 the logits k_i = E_i K Qᵀ e are integers, so σ_i = 2^k_i / S
with S = Σ_j 2^k_j. If V_h = W_V,h W_O,h (d×m), the output is

    A(E, e) = Σ_h (1/S_h) Σ_i 2^k_hi (E_i V_h).

Multiplying by the denominators δ_E of the contexts, δ_V of a column of V, δ_y of the labels and by
Π_h S_h leaves only integers, and A = y says that two of these are equal:

    δ_y · Σ_h (Π_{g≠h} S_g) Σ_i 2^k_hi (δ_E E_i)(δ_V V_h)  =  (δ_y y) · δ_E δ_V · Π_h S_h.

No fraction is reduced (with entries of 10^5 bits the gcds would cost more than everything else);
2^k is a shift; the sum over heads is a balanced tree, so that long factors occur in few products.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flint import fmpq, fmpq_mat, fmpz, fmpz_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Head, Layer
from attncert.constructions.numerals import short
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level

MAX_BITS = 20_000_000  # bits of one example's common denominator (a few seconds per example)

_ID = ids.RATIONAL
_STATEMENT = r"$A(E^{(t)}, e^{(t)}) = y^{(t)}$ for all $T$ examples, as rational numbers"
_ARITHMETIC = "exact over ℚ (FLINT), integers after clearing denominators"
_SOURCE = "ours: logits in units of ln 2 (verify/outputs/rational.py)"


def rational(data: Dataset, layer: Layer, *, max_bits: int = MAX_BITS) -> Claim:
    """Whether the outputs of a layer with a readout equal the labels exactly. The claim
    "interpolation.rational" is *proved*; or *refuted*, with the failing examples and the first
    difference; or *undecided*, if a logit is not an integer multiple of ln 2 or a common
    denominator is longer than `max_bits`."""
    columns = _values(data, *layer.readout)
    exponents = []
    for h, head in enumerate(layer.heads):
        table, exception = _logits(head, data)
        if exception is not None:
            t, i, logit = exception
            return _undecided(
                "a logit is not a whole multiple of ln 2, so the output need not be rational; "
                "the multiprecision route and the enclosure still apply",
                {"head": h, "example": t, "row": i, "logit_over_ln2": short(logit.p, logit.q)},
            )
        exponents.append(table)
    spans = [sum(int(max(table[t])) for table in exponents) for t in range(data.T)]
    longest = max(range(data.T), key=spans.__getitem__)
    if spans[longest] > max_bits:
        return _undecided(
            f"a common denominator would have more than {max_bits} bits; the rank modulo a prime "
            "and the multiprecision route still apply",
            {"example": longest, "bits": spans[longest]},
        )
    return _compare(data, columns, exponents)


def _compare(
    data: Dataset, columns: list[tuple[fmpz_mat, fmpz]], exponents: list[list[list[fmpz]]]
) -> Claim:
    """The claim, computed from `_values` and the exponents [h][t][i] of the powers of two."""
    labels, label_unit = data.labels.integer_matrix(), data.labels.denominator
    failing: list[int] = []
    first: dict[str, object] = {}
    bits = 0
    for t in range(data.T):
        context = _integer_context(data, t)
        sums = [sum((fmpz(1) << k for k in table[t]), fmpz(0)) for table in exponents]
        for c, (values, value_unit) in enumerate(columns):
            by_head = (context * values).transpose().tolist()  # E_i V_h, [h][i]
            tops = [
                sum((x << k for x, k in zip(row, table[t], strict=True)), fmpz(0))
                for row, table in zip(by_head, exponents, strict=True)
            ]
            top, bottom = _sum_of_fractions(list(zip(tops, sums, strict=True)))
            unit = bottom * value_unit * data.contexts.denominator
            left, right = label_unit * top, labels[t, c] * unit
            bits = max(bits, int(left.height_bits()), int(right.height_bits()))
            if left != right:
                if not failing:
                    difference = short(left - right, unit * label_unit)
                    first = {"example": t, "label": c, "output_minus_label": difference}
                if t not in failing[-1:]:
                    failing.append(t)
    numbers, witness = {"examples": data.T, "bits": bits}, first | {"failing_examples": failing}
    rest: dict[str, Any] = {"numbers": numbers, "arithmetic": _ARITHMETIC, "source": _SOURCE}
    return Claim.checked(_ID, _STATEMENT, not failing, witness, **rest)


def _logits(head: Head, data: Dataset) -> tuple[list[list[fmpz]], tuple[int, int, fmpq] | None]:
    """The table [t][i] of k_i - min k, or the example, row and value of the first non-integer."""
    (key, key_unit), (query, query_unit) = head.key.numer_denom(), head.query.numer_denom()
    unit = key_unit * query_unit * data.contexts.denominator * data.queries.denominator
    queries = data.queries.integer_matrix() * query  # T×d_h
    table = []
    for t in range(data.T):
        row = fmpz_mat(head.width, 1, [queries[t, j] for j in range(head.width)])
        scaled = (_integer_context(data, t) * (key * row)).entries()
        for i, numerator in enumerate(scaled):
            if numerator % unit:
                return [], (t, i, fmpq(numerator, unit))
        low = min(scaled)
        table.append([(numerator - low) // unit for numerator in scaled])
    return table, None


def _values(data: Dataset, values: list[fmpq_mat], output: fmpq_mat) -> list[tuple[fmpz_mat, fmpz]]:
    """For each label, V = value·output as integers, d×H, one column per head, and its δ_V."""
    width, rows = int(values[0].ncols()), output.tolist()
    blocks = [value * fmpq_mat(rows[h * width : (h + 1) * width]) for h, value in enumerate(values)]
    return [
        fmpq_mat(
            data.d, len(blocks), [v[j, c] for j in range(data.d) for v in blocks]
        ).numer_denom()
        for c in range(data.m)
    ]


def _integer_context(data: Dataset, t: int) -> fmpz_mat:
    """δ_E E⁽ᵗ⁾, n×d."""
    return data.rows(t).integer_matrix()


def _sum_of_fractions(terms: Sequence[tuple[fmpz, fmpz]]) -> tuple[fmpz, fmpz]:
    """Σ a/b as one unreduced fraction, by repeated halving, so that long products come last."""
    if len(terms) == 1:
        return terms[0]
    half = len(terms) // 2
    (a, b), (c, d) = _sum_of_fractions(terms[:half]), _sum_of_fractions(terms[half:])
    return a * d + c * b, b * d


def _undecided(reason: str, where: dict[str, object]) -> Claim:
    witness = {"reason": reason} | where
    return Claim(_ID, _STATEMENT, Level.UNDECIDED, {}, witness, _ARITHMETIC, source=_SOURCE)
