"""Interpolation for all labels at once: SymPy, with log 2, exp and symbols y_1, ..., y_T.

Derivation (ours). Let R (Hd×T, rational, its rows split by head into R_h) be a right inverse of the
features Z. For labels y = (y_1, ..., y_T) the readout is v_h = R_h y, and the output at example t

    A_t(y) = Σ_h z_tʰ · (R_h y),   z_tʰ = Σ_i w_i E_i,   w_i = exp(ℓ_i) / Σ_j exp(ℓ_j),

is a linear form in the symbols. If A_t(y) = y_t as polynomials for every t, this one choice of keys
and queries memorizes *every* labelling. If z_tʰ = a_th/C_t and R = N/D over common denominators,
the identity is compared as Σ_h a_th · (N_h y) = C_t D y_t, in ℤ[y_1, ..., y_T].

The same holds for labels in ℚ^m: column c of A is Σ_h z_tʰ · (column c of V_h), so with V = R Y it
is the same form at y = (column c of Y), and one symbolic column covers all columns. The second
check is that the layer is such an instance: value·output = R Y, entry by entry.

The logits are the expressions log(2)·(E_i K Qᵀ e); SymPy simplifies exp(k log 2) to 2^k.
"""

from __future__ import annotations

from typing import Any

import sympy
from flint import fmpq_mat
from sympy.polys.domains import QQ, ZZ
from sympy.polys.matrices import DomainMatrix
from sympy.polys.rings import PolyElement, ring

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Layer, logit_ranges
from attncert.constructions.numerals import short
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level

WORK_LIMIT = 2 * 10**10  # word products (see `work`): about half a minute

_ID = ids.SYMBOLIC
_STATEMENT = (
    r"$A(E^{(t)}, e^{(t)}) = y_t$ for all $T$ examples as polynomials in the labels "
    r"$y_1, \dots, y_T$, and the layer is the case of the given labels"
)
_ARITHMETIC = "exact, SymPy: log(2) and exp, then polynomials over ℤ in the labels"
_SOURCE = "ours: symbolic labels (verify/outputs/symbolic.py)"


def symbolic(
    data: Dataset, layer: Layer, right_inverse: fmpq_mat, *, limit: int = WORK_LIMIT
) -> Claim:
    """Whether the layer's keys and queries, with the readout R·y, fit all labels y; right_inverse:
    R, (H·d)×T, head by head. The claim "interpolation.symbolic" is *proved*; *refuted*, with the
    first coefficient or entry that differs; *undecided* if a softmax weight is not rational, or if
    `work` is above `limit`."""
    values, output = layer.readout
    estimate = work(data, layer, right_inverse)
    if estimate > limit:
        reason = f"about {estimate:.1e} word products, more than the limit of {limit:.1e}"
        return _claim(Level.UNDECIDED, {}, {"reason": reason})
    polynomials, *labels = ring(sympy.symbols(f"y1:{data.T + 1}"), ZZ)
    unit, forms = _readout_forms(right_inverse, polynomials, labels)
    rows = _features(data, layer)
    numbers: dict[str, Any] = {"examples": data.T, "labels": "symbolic", "bits": 0}
    for t, row in enumerate(rows):
        if row is None:
            reason = "a softmax weight is not rational: a logit over ln 2 is not an integer"
            return _claim(Level.UNDECIDED, {}, {"reason": reason, "example": t})
        row_unit = ZZ.one
        for z in row:
            row_unit = ZZ.lcm(row_unit, z.denominator)
        cleared = [z.numerator * (row_unit // z.denominator) for z in row]
        attended = polynomials.zero
        for z, form in zip(cleared, forms, strict=True):
            attended += form * z
        residue = attended - labels[t] * (row_unit * unit)
        numbers["bits"] = max(numbers["bits"], int(row_unit * unit).bit_length())
        if residue:
            s = next(s for s, y in enumerate(labels) if residue.coeff(y))
            excess = short(residue.coeff(labels[s]), row_unit * unit)
            where = {"example": t, "symbol": f"y{s + 1}", "coefficient_minus_expected": excess}
            return _claim(Level.REFUTED, numbers, where)
    mismatch = _not_an_instance(data, values, output, forms, unit)
    return _claim(Level.REFUTED if mismatch else Level.PROVED, numbers, mismatch)


def work(data: Dataset, layer: Layer, right_inverse: fmpq_mat) -> int:
    """The estimated work of `symbolic`, in products of 64-bit words (10^9 take about 1.5 seconds):
    for each example and each nonzero entry of R, 3,000 plus a product: the number of words of one
    of the example's integer features (about as many as Π_h S_h has), times the number of words of
    the longest entry of R; and 400,000 for each exponential."""
    exponentials = 400_000 * data.T * len(layer.heads) * data.longest
    try:
        ranges = [logit_ranges(head, data) for head in layer.heads]
    except ValueError:  # a logit is not an integer, so `symbolic` stops at the exponentials
        return exponentials
    numerators, unit = right_inverse.numer_denom()
    lengths = [int(x.bit_length()) for x in numerators.entries() if x]
    words = max([int(unit.bit_length()), *lengths]) // 64 + 1
    least = len(layer.heads) * data.longest.bit_length()
    of_examples = [least + sum(of_heads) for of_heads in zip(*ranges, strict=True)]
    products = sum(words * (bits // 64 + 1) + 3_000 for bits in of_examples)
    return len(lengths) * products + exponentials


def _features(data: Dataset, layer: Layer) -> list[list[Any] | None]:
    """Z as T rows of H·d rationals (domain QQ), with SymPy's log and exp; None if a softmax weight
    of the example is not rational. Heads that share key and query objects are computed once.
    """
    names = [(id(head.key), id(head.query)) for head in layer.heads]
    heads = {
        name: _matrix(head.key) * _matrix(head.query).transpose()
        for name, head in dict(zip(names, layer.heads, strict=True)).items()
    }
    rows: list[list[Any] | None] = []
    for t in range(data.T):
        context = _matrix(data.context(t))
        query = _matrix(fmpq_mat([data.query_matrix.tolist()[t]])).transpose()
        blocks: dict[tuple[int, int], list[Any]] = {}
        for name, product in heads.items():
            weights = _softmax(_entries(context * product * query))
            if not all(w.is_Rational for w in weights):
                break
            exact = DomainMatrix([[QQ.from_sympy(w) for w in weights]], (1, len(weights)), QQ)
            blocks[name] = _entries(exact * context)
        whole = len(blocks) == len(heads)
        rows.append([x for name in names for x in blocks[name]] if whole else None)
    return rows


def _softmax(coefficients: list[Any]) -> list[sympy.Expr]:
    """exp(ℓ_i) / Σ exp(ℓ_j) for ℓ = log(2) k. ℓ_1 is first subtracted from all ℓ, so that 2^k stays
    short."""
    first = coefficients[0]
    powers = [sympy.exp(sympy.log(2) * QQ.to_sympy(k - first)) for k in coefficients]
    total = sum(powers, sympy.S.Zero)
    return [power / total for power in powers]


def _readout_forms(
    right_inverse: fmpq_mat, polynomials: Any, labels: list[PolyElement]
) -> tuple[Any, list[PolyElement]]:
    """D, and the linear form D·(R y)_r over ℤ for each of the H·d rows."""
    entries = [[QQ(int(x.p), int(x.q)) for x in row] for row in right_inverse.tolist()]
    unit = ZZ.one
    for row in entries:
        for x in row:
            unit = ZZ.lcm(unit, x.denominator)
    monomials = [y.LM for y in labels]
    return unit, [
        polynomials.from_dict(
            {
                monomial: x.numerator * (unit // x.denominator)
                for monomial, x in zip(monomials, row, strict=True)
                if x
            }
        )
        for row in entries
    ]


def _not_an_instance(
    data: Dataset, values: list[fmpq_mat], output: fmpq_mat, forms: list[PolyElement], unit: Any
) -> dict[str, Any] | None:
    """The first entry where value·output differs from the forms at the given labels, or None."""
    labels = _matrix(data.label_matrix).to_list()
    rows, width = _matrix(output).to_list(), int(values[0].ncols())
    for h, value in enumerate(values):
        block = DomainMatrix(rows[h * width : (h + 1) * width], (width, data.m), QQ)
        readout = (_matrix(value) * block).to_list()
        for j in range(data.d):
            terms = [(monomial.index(1), c) for monomial, c in forms[h * data.d + j].terms()]
            for c in range(data.m):
                expected = sum((coefficient * labels[s][c] for s, coefficient in terms), QQ.zero)
                if readout[j][c] * unit != expected:
                    excess = readout[j][c] - expected / unit
                    difference = short(excess.numerator, excess.denominator)
                    return {"head": h, "row": j, "label": c, "value_output_minus_RY": difference}
    return None


def _matrix(matrix: fmpq_mat) -> DomainMatrix:
    rows = [[QQ(int(x.p), int(x.q)) for x in row] for row in matrix.tolist()]
    return DomainMatrix(rows, (matrix.nrows(), matrix.ncols()), QQ)


def _entries(matrix: DomainMatrix) -> list[Any]:
    return [x for row in matrix.to_list() for x in row]


def _claim(level: Level, numbers: dict[str, Any], witness: dict[str, Any] | None) -> Claim:
    return Claim(_ID, _STATEMENT, level, numbers, witness, _ARITHMETIC, source=_SOURCE)
