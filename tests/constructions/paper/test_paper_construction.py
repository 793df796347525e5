"""The paper's construction in Fractions: the steps of its proof hold, c is as small as possible,
and the bits are as predicted."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from support import exact_data
from support.built import Built, claims
from support.oracles import rank
from support.planted import scaled
from support.small_layers import column, dot, features

from attncert.constructions.construction import BuiltLayer, heads_to_place, places
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.paper.theorem import PaperHead, build
from attncert.constructions.readout.solve import predicted_bits

Rows = list[list[Fraction]]


SQUARE = exact_data.family(5, 3, 3, queries="moment-curve", m=2, seed=4)

CASES: dict[str, tuple[Dataset, dict[str, Any]]] = {
    "distinct": (exact_data.family(7, 3, 4, queries="moment-curve", seed=1), {}),
    "shared": (exact_data.family(7, 3, 4, queries="moment-curve", shared=True, seed=1), {}),
    # n = d, so the Smith forms are not trivial
    "rational": (scaled(SQUARE, Fraction(1, 7), Fraction(1, 6)), {}),
    "short last group": (exact_data.family(6, 3, 4, queries="moment-curve", seed=2), {}),
    "narrow heads": (exact_data.family(5, 4, 5, queries="moment-curve", seed=3), {"head_width": 2}),
    "wide heads": (exact_data.family(5, 3, 4, queries="moment-curve", seed=3), {"head_width": 6}),
    "one head": (exact_data.family(3, 3, 4, seed=5), {"heads": 1}),
    "idle heads": (exact_data.family(4, 3, 4, seed=5), {"heads": 5}),
    "one token": (Dataset.of([[2, -1]], [[3, 1]], [5]), {}),
    "two tokens": (exact_data.family(6, 2, 3, queries="moment-curve", seed=6), {}),
    "step seven": (exact_data.step_seven_trap(), {"heads": 2, "head_width": 3}),
}


@pytest.fixture(scope="module", params=CASES)
def case(request: pytest.FixtureRequest) -> tuple[Dataset, dict[str, Any], BuiltLayer]:
    data, options = CASES[request.param]
    return data, options, build(data, **options)


def context(data: Dataset, t: int) -> Rows:
    rows: Rows = data.contexts.fractions()[0 if data.shared else t]
    return rows


Case = tuple[Dataset, dict[str, Any], BuiltLayer]


def test_every_step_of_the_proof_holds(case: Case) -> None:
    """The steps compare the record with the finished weights; step_defects.py plants errors."""
    data, _, built = case
    assert all(claim.level.holds for claim in claims(Built(data, built)))


def logits(data: Dataset, head: PaperHead, c: int | None, t: int) -> list[Fraction]:
    """E M e for M = c·u vᵀ + Σ w ê^T, from the record alone."""
    query = data.queries.fractions()[t]
    direction = [Fraction(0)] * data.d
    for w, dual in zip(head.steering, head.duals, strict=True):
        factor = dot(column(dual), query)
        direction = [x + factor * y for x, y in zip(direction, column(w), strict=True)]
    if c is not None:
        factor = c * dot(column(head.selector), query)
        direction = [x + factor * y for x, y in zip(direction, column(head.separator), strict=True)]
    return [dot(row, direction) for row in context(data, t)]


def gap(values: list[Fraction], target: int) -> Fraction:
    return min(values[target] - x for i, x in enumerate(values) if i != target)


def test_saturation_bits_and_the_least_c(case: Case) -> None:
    """Steps 6 and 8: B is the least gap; with a smaller c, some target leads by less than a bit, or
    the features of the examples placed so far are dependent."""
    data, _, built = case
    for number, head in enumerate(built.heads):
        if head.c is None or data.n == 1:
            assert head.gap_bits is None
            continue
        pairs = list(zip(head.earlier, head.targets, strict=True))
        assert head.gap_bits == min(gap(logits(data, head, head.c, s), i) for s, i in pairs)
        assert head.gap_bits >= 1
        if head.c == 1 or min(gap(logits(data, head, head.c - 1, s), i) for s, i in pairs) < 1:
            continue
        known = [row[: number * data.d] for row in features(data, built.layer)]
        placed = [*head.earlier, *head.group]
        rows = []
        for t in placed:
            values = logits(data, head, head.c - 1, t)
            powers = [Fraction(2) ** int(x) for x in values]
            mixed = [
                sum((p * x for p, x in zip(powers, entries, strict=True)), Fraction(0))
                / sum(powers)
                for entries in zip(*context(data, t), strict=True)
            ]
            rows.append(known[t] + mixed)
        assert rank(rows) < len(placed)


@pytest.mark.parametrize(
    ("heads", "r", "most"), [(8, 4, 25), (16, 4, 49), (8, 1, 1), (1, 5, 5), (3, 1, 1)]
)
def test_the_bound_and_the_fewest_heads_are_inverse(heads: int, r: int, most: int) -> None:
    assert places(heads, r) == most
    if r > 1:
        assert heads_to_place(most, r) == heads
        assert heads_to_place(most + 1, r) == heads + 1
    else:
        assert heads_to_place(1, r) == 1 and heads_to_place(2, r) is None


def test_predicted_bits_is_the_sum_of_the_logit_ranges(case: Case) -> None:
    data, _, built = case
    total = 0
    for head in built.heads:
        for t in range(data.T):
            values = logits(data, head, head.c, t)
            total += int(max(values) - min(values))
    assert predicted_bits(built, data) == total
