"""The certificates of docs/gallery/tightness hold."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from support.paths import ROOT

sys.path.append(str(ROOT / "benchmarks"))
import tightness_page

from attncert.verify.checker import check_file

CASES = {case.name: case for case in tightness_page.cases()}


@pytest.mark.parametrize("name", ["given-labels-3", "given-labels-6", "permuted", "distinct"])
def test_certificates_check(name: str, tmp_path: Path) -> None:
    files = tightness_page.render(list(CASES.values()))
    file = tmp_path / "certificate.json"
    file.write_bytes(files[f"certificates/{name}.json"])
    assert check_file(str(file)).status == "holds"
