"""What certificates of these labels claim, against Newton's method in mpmath to 200 digits."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from support.near_cases import CASES, Certificate, case, certificate
from support.shares import share
from support.small_certificates import written

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.given.attention import Shape
from attncert.constructions.given.least_squares import fit
from attncert.verify import checker
from attncert.verify.audit.attack.given.near import claimed, refuted
from attncert.verify.audit.attack.given.newton import data_set, distance, number
from attncert.verify.audit.attack.given.search import attack_statement
from attncert.verify.fast import check as fast
from attncert.verify.near.certificate import certify, near_certificate


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
    confirm(certificate(data_set(4, 2, 3, seed=seed), 2, 1, 1), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 300))
def test_weights_exist_within_the_radius_on_much_random_data(seed: int, tmp_path: Path) -> None:
    T, n, d, shared = 3 + seed % 5, 2 + seed % 3, 3 + seed % 2, seed % 4 == 0
    confirm(certificate(data_set(T, n, d, shared=shared, seed=seed), 3, 1 + seed % 2, 1), tmp_path)


@pytest.mark.parametrize("seed", share(range(3), 3))
def test_a_step_in_rationals_claims_what_no_box_about_the_floats_does(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw, (T, n, d), shape = np.random.default_rng(seed), (10, 2, 3), Shape(3, 1, 3, 1, 1)
    parts = [draw.integers(-4, 5, size) for size in ((T, n, d), (T, d), (T, 1))]
    data = Dataset.of(*parts)
    found = fit(data.contexts.floats(), data.queries.floats(), data.labels.floats(), shape, seed)
    weights = np.asarray(found.weights) + 1e-4 * draw.standard_normal(shape.parameters)
    near = certify(data, weights, shape)
    confirm(near_certificate(near, construction="fit", produced_by={}), tmp_path)
    assert near.stepped and not certify(data, np.asarray(found.weights), shape).stepped
    monkeypatch.setattr("attncert.verify.near.certificate.stepped", lambda given, *_: given)
    assert "not seen to contract" in certify(data, weights, shape).why


def test_no_claim_on_random_small_data_is_refuted() -> None:
    """Plain, badly scaled, nearly contradictory and degenerate data, exact fits and noisy ones."""
    found = attack_statement("near", cases=24)
    assert found.failures == () and found.tried.total() == 24
    assert sum(n for name, n in found.tried.items() if name.endswith(": claimed")) > 6


@pytest.mark.slow
def test_no_claim_on_ten_thousand_data_sets_is_refuted() -> None:
    assert attack_statement("near", cases=10_000).failures == ()


@pytest.mark.parametrize("planted", ["radius", "labels"])
def test_a_false_claim_is_refuted(planted: str) -> None:
    near = next(near for near in (claimed(seed)[1] for seed in range(9)) if near and near.holds)
    assert refuted(near) == ""
    if planted == "radius":
        near = replace(near, radius=near.radius / 10**6)
    if planted == "labels":
        other = near.data.labels.fractions()
        changed = np.array(other, dtype=object) + Fraction(1, 10)
        data = near.data
        near = replace(
            near,
            data=Dataset.of(data.contexts.fractions(), data.queries.fractions(), changed.tolist()),
        )
    assert refuted(near) != ""
