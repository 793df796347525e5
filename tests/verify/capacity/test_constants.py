"""Effective constants, against exact arithmetic over ℚ that tries every c."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

from attncert.constructions import layer as exact_layer
from attncert.constructions import paper as the_paper
from attncert.constructions import width_one
from attncert.constructions.construction import Construction
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.generators import family
from attncert.constructions.errors import InputError
from attncert.constructions.layer import Head, Layer
from attncert.constructions.readout.solve import predicted_bits
from attncert.reports.capacity.page import holds, markdown_page, render
from attncert.verify.capacity.constants import (
    CONSTRUCTIONS,
    ConstantsSettings,
    Growth,
    growth,
    layer_constants,
    least_certified,
)
from attncert.verify.capacity.sweeps import Capacity, SweepSettings
from attncert.verify.tightness.relations.probes import random_layer

QUICK = ConstantsSettings.quick()
KINDS = ("paper", "width-one")


@cache
def quick() -> Growth:
    return growth(QUICK)


@cache
def case(kind: str, seed: int = 0, shared: bool = True) -> tuple[Dataset, Construction]:
    data = family(7, 3, 5, shared=shared, seed=seed)
    if kind == "paper":
        return data, the_paper.build(data, seed=seed)
    return data, width_one.build(data, saturated=True, seed=seed)


def with_multiplier(built: Construction, number: int, c: int) -> Construction:
    """The same construction with another c in head `number`, record and weights."""
    record, weights = built.heads[number - 1], built.layer.heads[number - 1]
    d = weights.key.nrows()
    step = record.separator * record.selector.transpose() * fmpq(c - record.c)
    identity = fmpq_mat(d, d, [int(i == j) for i in range(d) for j in range(d)])
    moved = Head(weights.key * weights.query.transpose() + step, identity)
    heads = [Head(h.key * h.query.transpose(), identity) for h in built.layer.heads]
    heads[number - 1] = moved
    records = list(built.heads)
    records[number - 1] = replace(record, c=c)
    return replace(built, layer=Layer(tuple(heads)), heads=tuple(records), head_width=d)


def full_rank_over_q(data: Dataset, built: Construction, number: int) -> bool:
    record = built.heads[number - 1]
    rows = [*record.earlier, *record.group]
    tables = [exact_layer.features(h, data).tolist() for h in built.layer.heads[:number]]
    Z = [[x for table in tables for x in table[t]] for t in rows]
    return bool(fmpq_mat(len(rows), len(Z[0]), [x for row in Z for x in row]).rank() == len(rows))


def least_lead(data: Dataset, built: Construction, number: int) -> int:
    record = built.heads[number - 1]
    logits = exact_layer.integer_logits(built.layer.heads[number - 1], data)
    return min(
        logits[s][target] - k
        for s, target in zip(record.earlier, record.targets, strict=True)
        for i, k in enumerate(logits[s])
        if i != target
    )


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("kind", KINDS)
def test_least_c_is_that_of_exact_arithmetic(kind: str, seed: int, shared: bool) -> None:
    data, built = case(kind, seed, shared)
    for number in range(2, len(built.heads) + 1):
        found = least_certified(data, built, number)
        tried = (with_multiplier(built, number, c) for c in range(100))
        c, least = next((c, b) for c, b in enumerate(tried) if full_rank_over_q(data, b, number))
        assert found == (c, least_lead(data, least, number))


@pytest.mark.parametrize("kind", KINDS)
def test_least_c_does_not_take_the_builders_word(kind: str) -> None:
    data, built = case(kind)
    larger = with_multiplier(built, 2, built.heads[1].c + 5)
    assert larger.heads[1].c > built.heads[1].c
    assert least_certified(data, larger, 2) == least_certified(data, built, 2)


def test_no_certified_c_is_said_and_not_made_up() -> None:
    """A head whose rows cannot be independent: one example twice."""
    data, built = case("paper")
    group, earlier = built.heads[1].group, built.heads[1].earlier
    order = list(range(data.T))
    order[group[0]] = earlier[0]
    assert least_certified(data.take(order), built, 2) is None


def test_bits_are_those_predicted_for_the_readout() -> None:
    data, built = case("paper")
    found = layer_constants("paper", data, built.layer, built)
    assert found.bits == predicted_bits(built, data) > 0
    assert found.certified and len(found.selectors) == len(built.heads) - 1


def test_condition_by_numpy_and_infinite_where_singular() -> None:
    data, built = case("paper")
    rows = [exact_layer.features(h, data).tolist() for h in built.layer.heads]
    Z = np.array([[float(x.p) / float(x.q) for b in rows for x in b[t]] for t in range(data.T)])
    singular = np.linalg.svd(Z, compute_uv=False)[: data.T]
    found = layer_constants("paper", data, built.layer, built)
    assert found.condition == pytest.approx(singular[0] / singular[-1], rel=5e-3)
    twice = data.take([0, 0, 1])
    broken = layer_constants("random", twice, random_layer(twice, 2, 1, 3, np.random.default_rng()))
    assert math.isinf(broken.condition) and not broken.certified
    assert broken.as_dict()["condition"] is None


def test_growth_measures_every_construction_on_every_size() -> None:
    found = quick()
    sizes = {pair for series in QUICK.sizes.values() for pair in series}
    assert set(found.found) == {(name, *size) for name in CONSTRUCTIONS for size in sizes}
    for (name, H, n), constants in found.found.items():
        assert constants.certified
        assert (constants.heads, constants.context) == (H, n)
        assert constants.examples == H * (n - 1) + 1
        width = n if name == "paper" else 1
        assert constants.parameters == H * (2 * QUICK.width * width + QUICK.width + 1)
        assert all(h.c is not None and h.c <= h.built_c for h in constants.selectors)
    assert growth(QUICK).found == found.found


def test_worst_is_unknown_as_soon_as_one_head_is() -> None:
    constants = quick().found["paper", 3, 3]
    heads = constants.selectors
    assert constants.worst("built_c") == max(h.built_c for h in heads)
    unknown = replace(constants, selectors=(replace(heads[0], c=None), *heads[1:]))
    assert unknown.worst("c") is None and constants.worst("c") is not None
    assert replace(constants, selectors=()).worst("c") is None


def test_settings_without_sense() -> None:
    with pytest.raises(InputError):
        ConstantsSettings(contexts=(2, 9), width=8)
    with pytest.raises(InputError):
        ConstantsSettings(heads=(0, 1))


def test_the_report_tells_what_was_measured() -> None:
    files = render(constants=quick())
    report = files["report.md"].decode()
    assert files == render(constants=quick())
    paper = quick().found["paper", 3, 3]
    cells = [paper.worst(k) for k in ("c", "built_c", "apriori_c", "bits", "apriori_bits")]
    assert f"| 3 | paper | 7 | certified | {' | '.join(f'{x}' for x in cells)} |" in report
    assert "Numerical" in report and "not comparable" not in report


def test_a_layer_without_its_rank_fails_the_report() -> None:
    found = quick()
    key = "paper", 3, 3
    lost = Growth(QUICK, found.found | {key: replace(found.found[key], certified=False)})
    empty = Capacity(SweepSettings.quick(), {})
    assert holds(empty, found)
    assert not holds(empty, lost)
    assert "not certified" in markdown_page(constants=lost).decode()
