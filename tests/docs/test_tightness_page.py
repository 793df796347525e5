"""The cases of docs/gallery/tightness: what each is there to say, and certificates that hold."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from support.paths import ROOT
from support.tightness_cases import found

sys.path.append(str(ROOT / "benchmarks"))
import tightness_page

from attncert.verify.checker import check_file
from attncert.verify.claims.evidence import Level

CASES = {case.name: case for case in tightness_page.cases()}
UNIVERSAL = {
    "given-labels-3": Level.REFUTED, "given-labels-4": Level.REFUTED,
    "given-labels-6": Level.REFUTED, "permuted": Level.PROVED,
    "permuted-above": Level.REFUTED, "distinct": Level.PROVED, "shifted": Level.REFUTED,
    "signed-pairs": Level.REFUTED, "label-rank": Level.UNDECIDED,
}  # fmt: skip


def test_every_case_says_what_it_is_there_to_say() -> None:
    assert {name: case.universal for name, case in CASES.items()} == UNIVERSAL
    claims = {name: found(case.claims) for name, case in CASES.items()}
    for T in (3, 4, 6):  # the bound on universal memorization is 2, and the labels are met exactly
        given = claims[f"given-labels-{T}"]
        assert given["universal"].numbers["no weights exceed rank"] == 2 < T
        assert given["interpolation.rational"].level is Level.PROVED
    assert claims["permuted-above"]["tightness.bound"].numbers["bound"] == 9  # 4·2 + 1
    assert claims["permuted"]["universal"].numbers["rank"] == 9
    assert claims["distinct"]["universal"].numbers["rank"] == 32  # H(n-1) + 1 = 13
    assert claims["shifted"]["tightness.bound"].numbers["bound"] == 8
    assert claims["label-rank"]["labels.rank"].level is Level.REFUTED


@pytest.mark.parametrize("name", ["given-labels-3", "given-labels-6", "permuted", "distinct"])
def test_certificates_check(name: str, tmp_path: Path) -> None:
    files = tightness_page.render(list(CASES.values()))
    file = tmp_path / "certificate.json"
    file.write_bytes(files[f"certificates/{name}.json"])
    assert check_file(str(file)).status == "holds"
