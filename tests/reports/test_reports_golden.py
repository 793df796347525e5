"""The reports' text is what was last reviewed."""

from __future__ import annotations

import functools

import pytest
from make_golden_report import FILES, GOLDEN, golden_files

NAMES = [f"{kind}/{name}" for kind, names in FILES.items() for name in names]
written_now = functools.cache(golden_files)


@pytest.mark.parametrize("name", NAMES)
def test_the_report_is_the_golden_one(name: str) -> None:
    """After a deliberate change: `python tests/reports/make_golden_report.py`; read the diff."""
    assert written_now()[GOLDEN / name].decode() == (GOLDEN / name).read_text("utf-8")
