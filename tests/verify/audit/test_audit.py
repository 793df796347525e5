"""The audit: its conclusion and its report."""

from __future__ import annotations

import pytest

from attncert.reports.answers import report
from attncert.verify.audit import sharpen
from attncert.verify.audit.audit import AuditAnswer, audit
from attncert.verify.claims.evidence import Level
from attncert.verify.questions.audit import Audit

NARROW = Audit(construction="width-one", quick=True)


@pytest.fixture(scope="module")
def answer() -> AuditAnswer:
    return audit(NARROW)


def test_the_conclusion_names_what_breaks(answer: AuditAnswer) -> None:
    assert answer.standing is Level.PROVED and answer.exit_status == 0
    assert answer.statement.endswith("fails: A2 of width-one, A1 of width-one.")


def test_a_hypothesis_that_breaks_nothing_leaves_it_undecided(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sharpen, "_broken", lambda said: None)
    answer = audit(NARROW)
    assert answer.exit_status == 3 and answer.reason.startswith("no such data were found")


def test_the_page_and_the_folder(answer: AuditAnswer) -> None:
    files = report(answer).files
    page = files["report.md"].decode()
    assert answer.command == "attncert audit --construction width-one --quick"
    assert "# Audit\n" in page and "quick run" in page and "| width-one | A1 | " in page
    assert {"report.md", "answer.json", "timings.json"} == set(files)
    assert report(audit(NARROW)).files == files
