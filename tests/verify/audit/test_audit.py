"""The audit: its conclusion, its report, the figures, and how strongly hypotheses were used."""

from __future__ import annotations

from dataclasses import replace

import pytest

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.reports.answers import report
from attncert.verify.audit import edge_cases
from attncert.verify.audit.audit import audit
from attncert.verify.audit.edge_cases import CaseVerdict
from attncert.verify.claims.evidence import Level
from attncert.verify.questions.audit import Audit

TINY = Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, 1], [1, 1]], [5, "1/3", 7], "tiny")


@pytest.fixture
def bundled(monkeypatch: pytest.MonkeyPatch) -> list[CaseVerdict]:
    """Replace edge cases by their expected results: they are slow and have their own tests."""
    outcomes = [CaseVerdict("n=d", name, "proved", Level.PROVED) for name in ("paper", "width-one")]
    monkeypatch.setattr(edge_cases, "run", lambda *_: tuple(outcomes))
    return outcomes


@pytest.mark.parametrize(
    ("level", "status"), [(Level.PROVED, 0), (Level.UNDECIDED, 3), (Level.REFUTED, 1)]
)
def test_the_worst_case_decides(level: Level, status: int, bundled: list[CaseVerdict]) -> None:
    for data in (None, TINY):
        words = "proved" if level.holds else "something else"
        bundled[1] = replace(bundled[1], level=level, words=words)
        answer = audit(data)
        assert answer.exit_status == status
        assert ("width-one on n=d: something else" in answer.reason) == (status > 0)


def test_the_first_examples_of_nothing() -> None:
    with pytest.raises(InputError, match="examples: must be given with a data set"):
        audit(question=Audit(examples=3))


def test_the_page_and_the_folder(bundled: list[CaseVerdict]) -> None:
    files = report(audit(TINY)).files
    page = files["report.md"].decode()
    assert audit(TINY).command == "attncert audit DATA" and audit().command == "attncert audit"
    assert "# Audit of tiny" in page and "| n=d | proved | proved |" in page
    assert page.index("## What was shown") < page.index("## Edge cases")
    assert {"report.md", "answer.json", "timings.json"} == set(files)
    assert report(audit(TINY)).files == files
    assert b"quick run" in report(audit(TINY, Audit(quick=True))).files["report.md"]
    assert "# Audit\n" in report(audit()).files["report.md"].decode()
