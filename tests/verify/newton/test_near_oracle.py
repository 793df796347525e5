"""Compares certificates of given labels with Newton's method in mpmath to 200 digits."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.near_cases import CASES, Certificate, case, certificate
from support.newton import DIGITS, data_set, distance, number
from support.shares import random_cases, share
from support.small_certificates import written

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.given.attention import Shape
from attncert.constructions.given.least_squares import descend
from attncert.verify import checker
from attncert.verify.checking.fast import check as fast
from attncert.verify.newton.certify import Near, certify, near_certificate


def confirm(file: Certificate, folder: Path) -> None:
    path = written(file, folder)
    assert checker.check_file(path).status == "holds"
    assert fast.check_file(path).status == "holds"
    moved, error = distance(file)
    assert error < number("1/" + "1" + "0" * 200)
    assert moved <= number(file["near"]["radius"])


@pytest.mark.parametrize("name", CASES)
def test_weights_exist_within_the_radius(name: str, tmp_path: Path) -> None:
    file = case(name)
    assert Fraction(file["near"]["radius"]) < Fraction(1, 10**9)
    confirm(file, tmp_path)


@pytest.mark.parametrize("seed", range(12))
def test_weights_exist_within_the_radius_on_random_data(seed: int, tmp_path: Path) -> None:
    file = certificate(data_set(4, 2, 3, seed=seed), 2, 1, 1)
    assert 0 < Fraction(file["near"]["radius"]) < 1
    confirm(file, tmp_path)


@pytest.mark.parametrize("seed", share(range(3), 3))
def test_a_step_in_rationals_claims_what_no_box_about_the_floats_does(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw, (T, n, d), shape = np.random.default_rng(seed), (10, 2, 3), Shape(3, 1, 3, 1, 1)
    parts = [draw.integers(-4, 5, size) for size in ((T, n, d), (T, d), (T, 1))]
    data = Dataset.of(*parts)
    found = descend(
        data.contexts.floats(), data.queries.floats(), data.labels.floats(), shape, seed
    )
    weights = np.asarray(found.weights) + 1e-4 * draw.standard_normal(shape.parameters)
    near = certify(data, weights, shape)
    confirm(near_certificate(near, construction="fit", produced_by={}), tmp_path)
    assert near.stepped and not certify(data, np.asarray(found.weights), shape).stepped
    monkeypatch.setattr("attncert.verify.newton.certify.stepped", lambda given, *_: given)
    assert "not shown to contract" in certify(data, weights, shape).why


# Random small data: plain, badly scaled, nearly contradictory, degenerate. The weights to certify
# are those of a fit, or the same weights with noise, which makes the radius large.

KINDS = ("plain", "scaled", "contradictory", "degenerate")


def drawn(kind: str, draw: random.Random) -> Dataset:
    """Up to four examples of three tokens of width three."""
    sizes = [draw.randint(1, 4), draw.randint(1, 3), draw.randint(1, 3), draw.choice((1, 1, 2))]
    data = data_set(*sizes, shared=draw.random() < 0.3, seed=draw.getrandbits(60))
    contexts, queries, labels = (
        np.array(x.fractions(), dtype=object) for x in (data.contexts, data.queries, data.labels)
    )
    if kind == "scaled":
        contexts = contexts * Fraction(10) ** draw.randint(-3, 3)
        queries = queries * Fraction(10) ** draw.randint(-3, 3)
        labels = labels * Fraction(10) ** draw.randint(-6, 6)
    if kind == "contradictory":  # the last example is nearly the first one, apart from its label
        queries[-1] = queries[0] * (1 + Fraction(1, 10 ** draw.randint(1, 6)))
        contexts[-1] = contexts[0]
    if kind == "degenerate":
        contexts[draw.randrange(len(contexts)), -1] = contexts[0, 0]
        queries[draw.randrange(len(queries))] = draw.choice((0, 1))
        labels[draw.randrange(len(labels))] = 0
    return Dataset.of(contexts.tolist(), queries.tolist(), labels.tolist())


def claimed(seed: int) -> Near | None:
    """The attempt to certify; None if no fit was found."""
    draw = random.Random(seed)
    kind = KINDS[seed % len(KINDS)]
    data, noise = drawn(kind, draw), draw.choice((None, None, 1, 2, 3, 5, 8))
    head_width, value_width = draw.randint(1, 2), draw.randint(1, data.m)
    heads = draw.randint(1, 3)
    shape = Shape(data.d, data.m, heads, head_width, value_width)
    arrays = data.contexts.floats(), data.queries.floats(), data.labels.floats()
    with np.errstate(all="ignore"):
        found = descend(*arrays, shape, seed, max_steps=60)
    if not found.converged:
        return None
    weights = np.asarray(found.weights)
    if noise is not None:
        normal = np.random.default_rng(seed).standard_normal(len(weights))
        weights = weights * (1 + 10.0**-noise * normal)
    return certify(data, weights, shape)


def refuted(near: Near) -> str:
    """Why the claim is false, by Newton's method to 200 digits; '' if it is confirmed."""
    file: dict[str, Any] = near_certificate(near, construction="fit", produced_by={})
    moved, error = distance(file)
    if not error < number("1/" + "1" + "0" * DIGITS):
        return f"Newton's method ends with an error of {float(error):.1e}"
    if not moved <= number(file["near"]["radius"]):
        return f"weights are {float(moved):.3e} away, not {file['near']['radius']}"
    return ""


@pytest.mark.parametrize("cases", [24, random_cases(1000)])
def test_no_claim_on_random_small_data_is_refuted(cases: int) -> None:
    seeds = (random.Random(f"near 0 {number}").getrandbits(60) for number in range(cases))
    claims = [near for near in map(claimed, seeds) if near and near.holds]
    assert len(claims) > cases / 4
    assert not any(map(refuted, claims))
