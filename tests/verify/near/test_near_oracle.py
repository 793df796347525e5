"""What certificates of these labels claim, against Newton's method in mpmath to 200 digits."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from support.near_cases import CASES, Certificate, case, certificate, data_set, distance, number
from support.small_certificates import written

from attncert.verify import checker_near
from attncert.verify.near import fast


def confirm(file: Certificate, folder: Path) -> None:
    path = written(file, folder)
    assert checker_near.check_file(path).status == "holds"
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
