"""Three routes to interpolation: each finds planted errors independently of the others, and reports
what it cannot decide."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest
from flint import fmpq, fmpq_mat
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.built import changed, with_head, with_label
from support.small_layers import (
    SHAPES,
    Matrix,
    Planted,
    Shape,
    draws,
    features,
    flint,
    fractions,
    outputs,
    planted,
    readout,
    times,
)

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Head, Layer
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.outputs import multiprecision, rational, symbolic

HOLDS = {"rational": Level.PROVED, "symbolic": Level.PROVED, "multiprecision": Level.ENCLOSED}


def routes(p: Planted) -> dict[str, Claim]:
    return {
        "rational": rational.rational(p.data, p.layer),
        "symbolic": symbolic.symbolic(p.data, p.layer, p.right_inverse),
        "multiprecision": multiprecision.multiprecision(p.data, p.layer),
    }


def levels(p: Planted) -> dict[str, Level]:
    return {name: claim.level for name, claim in routes(p).items()}


def excess(p: Planted) -> Matrix:
    """A - y, T×m, from the fixture's Fractions."""
    pairs = zip(outputs(p.data, p.layer), p.data.labels.fractions(), strict=True)
    return [[a - y for a, y in zip(*pair, strict=True)] for pair in pairs]


# --- what is planted is found ---------------------------------------------------------------------


@pytest.mark.parametrize("name", SHAPES)
def test_all_three_confirm_a_planted_layer(name: str) -> None:
    p = planted(SHAPES[name])
    assert not any(map(any, excess(p)))  # the fixture's oracle agrees that it interpolates
    claims = routes(p)
    assert {route: claim.level for route, claim in claims.items()} == HOLDS
    assert [claim.id for claim in claims.values()] == [f"interpolation.{r}" for r in HOLDS]
    assert all(claim.numbers["examples"] == p.data.T for claim in claims.values())
    assert json.loads(json.dumps([c.as_dict() for c in claims.values()]))
    assert routes(p) == claims  # a second run gives the same words


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("by", [Fraction(1), Fraction(-1, 2**300)])
def test_a_changed_label_is_refuted_by_all_three(name: str, by: Fraction) -> None:
    p = planted(SHAPES[name])
    t, c = p.data.T - 1, p.data.m - 1
    wrong = replace(p, data=with_label(p.data, t, c, by))
    claims = routes(wrong)
    assert {claim.level for claim in claims.values()} == {Level.REFUTED}
    assert claims["rational"].witness == {
        "example": t,
        "label": c,
        "output_minus_label": str(-by),
        "failing_examples": [t],
    }
    assert claims["symbolic"].witness is not None  # the readout is no longer R·Y
    assert claims["symbolic"].witness["label"] == c
    witness = claims["multiprecision"].witness
    assert witness is not None and witness["example"] == t
    low, high = map(Fraction, witness["error"])
    assert low <= abs(by) <= high <= low * (1 + Fraction(1, 1000))


def test_the_right_inverse_serves_other_labels() -> None:
    p = planted(SHAPES["distinct"])
    labels = [[Fraction(t * t, 3)] for t in range(p.data.T)]
    data = Dataset.of(p.data.contexts.fractions(), p.data.queries.fractions(), labels)
    v = times(fractions(p.right_inverse), labels)
    heads = tuple(
        replace(h, value=flint(v[k * data.d : (k + 1) * data.d]))
        for k, h in enumerate(p.layer.heads)
    )
    other = replace(p, data=data, layer=replace(p.layer, heads=heads))
    assert levels(other) == HOLDS


# --- any small layer, any change ------------------------------------------------------------------


shapes = st.builds(
    Shape,
    T=st.integers(1, 3),
    H=st.integers(1, 2),
    n=st.integers(1, 3),
    d=st.integers(1, 3),
    head_width=st.integers(1, 2),
    m=st.integers(1, 2),
    padding=st.integers(0, 1),
    shared=st.booleans(),
    denominator=st.sampled_from([1, 2]),
)


@settings(max_examples=60, deadline=None)
@given(shapes, st.integers(0, 10**6), st.sampled_from(["", "label", "value", "key"]), st.data())
def test_all_three_agree_with_fractions_on_any_change(
    shape: Shape, seed: int, part: str, draw: st.DataObject
) -> None:
    p = next(draws(shape, seed))
    assume(p is not None)
    assert p is not None
    by = draw.draw(st.sampled_from([Fraction(1), Fraction(-3), Fraction(1, 2**40)]))
    h, i = draw.draw(st.integers(0, shape.H - 1)), draw.draw(st.integers(0, shape.d - 1))
    if part == "label":
        t = draw.draw(st.integers(0, shape.T - 1))
        p = replace(p, data=with_label(p.data, t, 0, by))
    elif part == "value":
        value = changed(p.layer.heads[h].value, i, 0, fmpq(by.numerator, by.denominator))
        p = replace(p, layer=with_head(p.layer, h, value=value))
    elif part == "key":
        by = Fraction(shape.denominator)
        key = changed(p.layer.heads[h].key, i, 0, fmpq(by.numerator, by.denominator))
        p = replace(p, layer=with_head(p.layer, h, key=key))
    interpolates = not any(map(any, excess(p)))
    identity = [[Fraction(int(s == t)) for s in range(shape.T)] for t in range(shape.T)]
    every_label = times(features(p.data, p.layer), fractions(p.right_inverse)) == identity
    instance = readout(p.layer) == times(fractions(p.right_inverse), p.data.labels.fractions())
    claims = routes(p)
    assert claims["rational"].level is (Level.PROVED if interpolates else Level.REFUTED)
    assert claims["symbolic"].level is (Level.PROVED if every_label and instance else Level.REFUTED)
    assert claims["multiprecision"].level is (Level.ENCLOSED if interpolates else Level.REFUTED)


# --- each route says what it cannot decide --------------------------------------------------------


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
    assert claims["multiprecision"].level is Level.REFUTED  # this route allows rational logits


def test_irrational_weights_leave_the_symbolic_route_undecided() -> None:
    data = Dataset.of([[1, 0], [0, 1]], [[1, 0]], [1])
    half = fmpq_mat([[fmpq(1, 2)], [0]])
    layer = Layer((Head(fmpq_mat([[1], [0]]), half, fmpq_mat([[1], [1]])),), fmpq_mat([[1]]))
    claim = symbolic.symbolic(data, layer, fmpq_mat([[1], [1]]))  # output 1, not shown over ℚ
    assert claim.level is Level.UNDECIDED
    assert claim.witness is not None
    assert claim.witness["example"] == 0
    assert multiprecision.multiprecision(data, layer).level is Level.ENCLOSED


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
    claim = symbolic.symbolic(p.data, p.layer, p.right_inverse, limit=estimate - 1)
    assert claim.level is Level.UNDECIDED


def test_logits_of_10_to_the_17_need_no_memory_and_are_not_overstated() -> None:
    # σ = (1 - ε, ε) with ε = 2^-10^17: the output is not exactly 1, but nothing can show it.
    head = Head(fmpq_mat([[10**17], [0]]), fmpq_mat([[1], [0]]), fmpq_mat([[1], [0]]))
    data = Dataset.of([[[1, 0], [0, 1]]], [[1, 0]], [1])
    p = Planted(data, Layer((head,), fmpq_mat([[1]])), fmpq_mat([[1], [0]]))
    claims = routes(p)
    assert claims["rational"].level is Level.UNDECIDED
    assert claims["symbolic"].level is Level.UNDECIDED
    assert claims["multiprecision"].level is Level.ENCLOSED
