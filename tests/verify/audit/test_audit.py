"""The audit: its conclusion and its report."""

from __future__ import annotations

import pytest

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.reports.answers import report
from attncert.verify.audit import sharpen
from attncert.verify.audit.audit import audit
from attncert.verify.claims.evidence import Level
from attncert.verify.questions.audit import Audit

TINY = Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, 1], [1, 1]], [5, "1/3", 7], "tiny")
NARROW = Audit(construction="width-one", quick=True)


def test_the_conclusion_names_what_breaks(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = audit(question=NARROW)
    assert answer.standing is Level.PROVED and answer.exit_status == 0
    assert answer.statement.endswith("breaks: A2 of width-one, A1 of width-one.")
    monkeypatch.setattr(sharpen, "_broken", lambda said: None)
    answer = audit(question=NARROW)
    assert answer.exit_status == 3 and answer.reason.startswith("no such data were found")


def test_the_first_examples_of_nothing() -> None:
    with pytest.raises(InputError, match="examples: must be given with a data set"):
        audit(question=Audit(examples=3))


def test_the_page_and_the_folder() -> None:
    answer, alone = audit(TINY, Audit(quick=True)), audit(question=NARROW)
    files = report(answer).files
    page = files["report.md"].decode()
    assert answer.command == "attncert audit DATA --quick"
    assert alone.command == "attncert audit --construction width-one --quick"
    assert "# Audit of tiny" in page and "quick run" in page
    assert page.index("## What was shown") < page.index("## Your data")
    assert {"report.md", "answer.json", "timings.json"} == set(files)
    assert report(audit(TINY, Audit(quick=True))).files == files
    page = report(alone).files["report.md"].decode()
    assert "# Audit\n" in page and "| width-one | A1 | " in page
