"""Saturation on demand agrees with weights in plain fractions, at c and at c - 1."""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import exact_data

from attncert import Prove, prove
from attncert.constructions import paper, width_one
from attncert.constructions.construction import BuiltLayer, SteeringHead
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Head, Layer, integer_logits, logit_ranges
from attncert.constructions.width_one import build
from attncert.verify import checker
from attncert.verify.checker import Limits, Rejected, layer
from attncert.verify.checking.fast import check as fast_check
from attncert.verify.checking.fast import full_rank
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Level
from attncert.verify.claims.proof import Proof
from attncert.verify.saturation.saturated import Drops, falls_short, saturated

DATA = exact_data.family(7, 3, 4, queries="moment-curve", seed=1)
SHARED = exact_data.family(7, 3, 4, queries="moment-curve", shared=True, seed=1)
CASES = [
    (DATA, 6, "paper"),
    (SHARED, 20, "paper"),
    (DATA, 9, "width-one"),
]


@cache
def built(case: int) -> BuiltLayer:
    data, bits, construction = CASES[case]
    if construction == "paper":
        return paper.build(data, saturation=bits)
    return width_one.build(data, saturation=bits)


def outside(data: Dataset, head: Head, t: int, row: int | None = None) -> Fraction:
    """1 - p for example t in plain fractions, where p is the weight of this row, or the largest
    one."""
    context = data.contexts.fractions()[0 if data.shared else t]
    query = data.queries.fractions()[t]
    product = (head.key * head.query.transpose()).tolist()
    d = data.d
    direction = [
        sum(Fraction(int(product[i][j].p), int(product[i][j].q)) * query[j] for j in range(d))
        for i in range(d)
    ]
    logits = [sum(x * y for x, y in zip(row, direction, strict=True)) for row in context]
    powers = [Fraction(2) ** int(k - max(logits)) for k in logits]
    return 1 - (max(powers) if row is None else powers[row]) / sum(powers)


def moved(head: Any, c: int) -> Head:
    """The head with another c."""
    return replace(head, c=c).weights(3 if isinstance(head, paper.PaperHead) else 1)


@pytest.mark.parametrize("case", range(len(CASES)))
def test_every_earlier_example_saturates_and_at_one_less_some_does_not(case: int) -> None:
    data, bits, _ = CASES[case]
    limit = Fraction(1, 2**bits)
    for record, head in zip(built(case).heads, built(case).layer.heads, strict=True):
        earlier = [*zip(record.earlier, record.targets, strict=True)]
        assert all(outside(data, head, s, row) < limit for s, row in earlier)
        if earlier and record.c > 1:
            below = moved(record, record.c - 1)
            assert any(outside(data, below, s, row) >= limit for s, row in earlier)


@pytest.mark.parametrize("case", range(len(CASES)))
def test_what_was_asked_for_is_proved(case: int) -> None:
    data, bits, _ = CASES[case]
    claim = saturated(data, built(case), bits)
    assert claim.level is Level.PROVED and claim.numbers["pairs"] == 8


@given(st.lists(st.integers(0, 60), min_size=1, max_size=5), st.integers(1, 6))
@settings(max_examples=200, deadline=None)
def test_the_inequality_in_the_checkers(shifts: list[int], bits: int) -> None:
    powers = sorted(Fraction(2) ** k for k in shifts)
    share = 1 - powers[-1] / sum(powers)
    assert full_rank.attends_to_one(shifts, bits) == (share < Fraction(1, 2**bits))
    assert steers(shifts, bits) == (share < Fraction(1, 2**bits))


def steers(shifts: list[int], bits: int) -> bool:
    """Whether the checker finds a head saturated that has these logits on its only example."""
    claimed = SimpleNamespace(saturation=(bits, True))
    less = [k - min(shifts) for k in shifts]
    with patch.object(layer, "shifts", lambda *_: [([shifts], [1] * len(less), [less])]):
        try:
            return layer.saturated(Limits(), {"groups": [[0]]}, claimed) != ""
        except Rejected:
            return False


# Planted errors.


def test_bits_that_are_not_reached_are_refuted() -> None:
    claim = saturated(DATA, built(0), 12)
    assert claim.level is Level.REFUTED and claim.witness


def test_a_smaller_c_than_the_least_is_refuted() -> None:
    record = built(0).heads[1]
    assert record.c > 1
    heads = list(built(0).heads)
    heads[1] = replace(record, c=record.c - 1)
    layer = Layer(tuple(head.weights(3) for head in heads))
    spoilt = replace(built(0), heads=tuple(heads), layer=layer)
    assert saturated(DATA, spoilt, 6).level is Level.REFUTED


def test_a_larger_c_than_the_least_is_named() -> None:
    record = built(0).heads[1]
    heads = [built(0).heads[0], replace(record, c=record.c + 1)]
    layer = Layer(tuple(head.weights(3) for head in heads))
    claim = saturated(DATA, replace(built(0), heads=tuple(heads), layer=layer), 6)
    assert claim.level is Level.PROVED
    assert claim.numbers["larger for the rank"] == f"head 2: {record.c + 1}"
    assert "the least larger one at which the rank is certified" in claim.statement


def test_another_row_is_refuted() -> None:
    record = built(0).heads[1]
    rows = ((record.targets[0] + 1) % 3, *record.targets[1:])
    spoilt = replace(built(0), heads=(built(0).heads[0], replace(record, targets=rows)))
    assert saturated(DATA, spoilt, 6).level is Level.REFUTED


# The whole run.


@cache
def proved(claim: str = "auto") -> Proof:
    return prove(SHARED, Prove(saturate=5, claim=claim))  # type: ignore[arg-type]


@pytest.mark.parametrize("claim", ["auto", "full-rank"])
def test_the_certificate_states_it(claim: str, tmp_path: Path) -> None:
    proof = proved(claim)
    assert proof.standing is Level.PROVED
    assert proof.trace.standing(ids.SATURATION_ASKED) is Level.PROVED
    assert proof.certificate is not None
    assert proof.certificate["saturation"] == {"bits": 5, "own": False}
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(proof.certificate))
    for module in (checker, fast_check) if claim == "full-rank" else (checker,):
        verdict = module.check_file(str(path))
        assert verdict.status == "holds"
        assert verdict.message.endswith("(head, example) pairs with 1-p < 2^-5: 8")


def test_the_rate_is_what_one_more_unit_of_c_adds() -> None:
    first, *rates = (head.rate for head in proved().heads)
    assert first is None
    for rate, record in zip(rates, paper.build(SHARED, saturation=5).heads[1:], strict=True):
        assert isinstance(record, SteeringHead)
        once, more = (replace(record, c=record.c + k).weights(3) for k in (400, 401))
        lost = [outside(SHARED, more, s) / outside(SHARED, once, s) for s in record.earlier]
        assert round(math.log2(max(lost)), 9) == -rate  # the weights of other rows fall faster


def drawn(bits: int, seed: int) -> Drops:
    """Rows that lead at a c of about 5, most of them by only a little; numbers of up to `bits`
    bits."""
    draw = random.Random(seed)
    gaps, rests = (np.empty((6, 4), dtype=object) for _ in range(2))
    for at in np.ndindex(gaps.shape):
        gaps[at] = draw.randint(1, 2 ** draw.randint(1, bits))
        rests[at] = draw.randint(-3, 3) - draw.randint(0, 5) * gaps[at]
    return Drops(gaps, rests)


def off_peak(drops: Drops, c: int) -> Fraction:
    """The worst 1 - p at c; drops above 400 bits change nothing that is tested here."""
    rows = (c * drops.gaps + drops.rests).tolist()
    sums = [sum(Fraction(1, 2) ** min(400, max(-400, drop)) for drop in row) for row in rows]
    return max(total / (1 + total) for total in sums)


@pytest.mark.parametrize("bits", [2, 6, 60, 880, 1500])
def test_what_falls_short(bits: int) -> None:
    for seed in range(12):
        drops = drawn(bits, seed)
        for wanted, c in product((1, 5, 40), (1, 4, 5, 6)):
            short = off_peak(drops, c) >= Fraction(1, 2**wanted)
            assert falls_short(drops, c, wanted) == short


@pytest.mark.parametrize("shared", [True, False])
def test_ranges_of_logits(shared: bool) -> None:
    data = exact_data.family(7, 3, 4, queries="moment-curve", shared=shared, seed=1)
    for head in build(data, short_heads=False).layer.heads:
        ranges = [max(row) - min(row) for row in integer_logits(head, data)]
        assert logit_ranges(head, data) == ranges
    with pytest.raises(ValueError, match="not an integer"):
        logit_ranges(Head(head.key / 977, head.query), data)


def test_ranges_of_logits_at_the_limit_of_a_word() -> None:
    head = Layer.of_weights([([[1]], [[1]])]).heads[0]
    for largest in (2**62 - 1, 2**62, 2**63 - 1):
        for tokens in ([[largest], [-largest]], np.array([[largest], [-largest]])):
            data = Dataset.of(tokens, [[1]], [1])
            assert logit_ranges(head, data) == [2 * largest]
