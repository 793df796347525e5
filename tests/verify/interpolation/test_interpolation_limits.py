"""What a route to interpolation cannot decide, it says; the tolerance of floats; bad input."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from flint import fmpq, fmpq_mat
from support.built import with_head, with_label
from support.small_layers import SHAPES, Planted, fractions, outputs, planted, times
from support.three_routes import HOLDS, levels, routes

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Head, Layer
from attncert.verify.claims.evidence import Level
from attncert.verify.interpolation import multiprecision, rational, symbolic

# --- what a route cannot decide, it says ----------------------------------------------------------


def test_logits_that_are_not_whole_are_named() -> None:
    p = planted(SHAPES["distinct"])
    half = p.layer.heads[1].query * fmpq(1, 2)
    claims = routes(replace(p, layer=with_head(p.layer, 1, query=half)))
    assert claims["rational"].level is Level.UNDECIDED
    witness = claims["rational"].witness
    assert witness is not None
    assert witness["head"] == 1
    t, i = witness["example"], witness["row"]
    row, query = p.data.contexts.fractions()[t][i], p.data.queries.fractions()[t]
    key = times([row], fractions(p.layer.heads[1].key))[0]
    logit = sum(a * b for a, b in zip(key, times([query], fractions(half))[0], strict=True))
    assert Fraction(witness["logit_over_ln2"]) == logit
    assert logit.denominator == 2
    assert claims["multiprecision"].level is Level.REFUTED  # it needs no whole logits
    assert not claims["multiprecision"].numbers["any difference would show"]


def test_irrational_weights_leave_the_symbolic_route_undecided() -> None:
    data = Dataset.of([[1, 0], [0, 1]], [[1, 0]], [1])
    half = fmpq_mat([[fmpq(1, 2)], [0]])
    layer = Layer((Head(fmpq_mat([[1], [0]]), half, fmpq_mat([[1], [1]])),), fmpq_mat([[1]]))
    claim = symbolic.symbolic(data, layer, fmpq_mat([[1], [1]]))  # A = 1: true, but not by ℚ
    assert claim.level is Level.UNDECIDED
    assert claim.witness is not None
    assert claim.witness["example"] == 0
    assert multiprecision.multiprecision(data, layer).level is Level.NUMERICAL


def test_one_token_needs_no_whole_logits() -> None:
    data = Dataset.of([[[2, 1]]], [["1/3", 0]], [5])
    layer = Layer(
        (Head(fmpq_mat([[1], [0]]), fmpq_mat([[1], [0]]), fmpq_mat([[fmpq(5, 2)], [0]])),),
        fmpq_mat([[1]]),
    )
    p = Planted(data, layer, fmpq_mat([[fmpq(1, 2)], [0]]))
    assert levels(p) == HOLDS | {"rational": Level.UNDECIDED}


def test_limits_are_stated_and_kept() -> None:
    p = planted(SHAPES["distinct"])
    claim = rational.rational(p.data, p.layer, max_bits=3)
    assert claim.level is Level.UNDECIDED
    assert claim.witness is not None
    assert claim.witness["bits"] > 3
    estimate = symbolic.work(p.data, p.layer, p.right_inverse)
    assert symbolic.feasible(p.data, p.layer, p.right_inverse)
    assert not symbolic.feasible(p.data, p.layer, p.right_inverse, estimate - 1)
    claim = symbolic.symbolic(p.data, p.layer, p.right_inverse, limit=estimate - 1)
    assert claim.level is Level.UNDECIDED
    full = multiprecision.multiprecision(p.data, p.layer)
    claim = multiprecision.multiprecision(
        p.data, p.layer, max_bits=full.numbers["precision_bits"] - 1
    )
    assert claim.level is Level.NUMERICAL
    assert not claim.numbers["any difference would show"]
    claim = multiprecision.multiprecision(p.data, p.layer, max_bits=70)
    assert claim.level is Level.UNDECIDED
    assert multiprecision.affordable_bits(p.data, p.layer, limit=1) < 0


def test_logits_of_10_to_the_17_need_no_memory_and_are_not_overstated() -> None:
    # σ = (1 - ε, ε) with ε = 2^-10^17: the output is not exactly 1, but nothing can show it.
    head = Head(fmpq_mat([[10**17], [0]]), fmpq_mat([[1], [0]]), fmpq_mat([[1], [0]]))
    data = Dataset.of([[[1, 0], [0, 1]]], [[1, 0]], [1])
    p = Planted(data, Layer((head,), fmpq_mat([[1]])), fmpq_mat([[1], [0]]))
    claims = routes(p)
    assert claims["rational"].level is Level.UNDECIDED
    assert claims["symbolic"].level is Level.UNDECIDED
    assert claims["multiprecision"].level is Level.NUMERICAL
    assert not claims["multiprecision"].numbers["any difference would show"]
    assert claims["multiprecision"].numbers["log2(1-p), least and largest"][1] <= -(10**17) + 1


# --- the derived tolerance ------------------------------------------------------------------------


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("bits", [140, 200, 400])
def test_the_tolerance_bounds_the_real_rounding_error(name: str, bits: int) -> None:
    p = planted(SHAPES[name])
    wrong = replace(p, data=with_label(p.data, 0, 0, 1))
    claim = multiprecision.multiprecision(wrong.data, wrong.layer, max_bits=bits)
    precision = claim.numbers["precision_bits"]
    assert precision == bits or claim.numbers["any difference would show"]
    context = multiprecision.context(precision)
    values = [head.value for head in wrong.layer.heads]
    computed = multiprecision._evaluate(context, wrong.data, wrong.layer, values, p.layer.output)
    tolerance = Fraction(2) ** claim.numbers["tolerance_log2"]
    for (row, _), exact in zip(computed, outputs(wrong.data, wrong.layer), strict=True):
        for a, b in zip(row, exact, strict=True):
            sign, mantissa, exponent, _ = a._mpf_
            value = (-1) ** sign * int(mantissa) * Fraction(2) ** int(exponent)
            assert abs(value - b) <= tolerance
    assert claim.level is Level.REFUTED  # a label that is off by 1 is far outside of it
