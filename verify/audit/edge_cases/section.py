"""The catalogue as a section of the audit: every case run, expected beside found."""

from __future__ import annotations

from collections.abc import Iterable

from attncert.verify.audit.edge_cases import CASES
from attncert.verify.audit.edge_cases.check import Outcome, check
from attncert.verify.audit.edge_cases.records import PROVED_BY, EdgeCase, FileCase
from attncert.verify.audit.records import AuditSection, Finding, Matrix, Scope, Standing, Table
from attncert.verify.claims.evidence import Level
from attncert.verify.methods.registry import method

__all__ = ["COLUMNS", "edge_cases", "section"]

COLUMNS = ("case", "must happen", "found", "as expected", "why", "by")
_ASKED = (*PROVED_BY, "universal", "labels")  # the columns of the matrix
_HEADINGS = (*(method(name).voice.title for name in PROVED_BY), "some weights", "these labels")
_LABEL_RUNS = {"label rank": "labels", "given labels": "labels"}
_LABEL_MARKS = {"labels": "not forbidden", "label rank": "not forbidden", "given labels": "met"}
_MEANINGS = {
    "proved": "weights were built and every step proved; some weights: a full rank was certified",
    "met": "weights for these very labels are built and checked",
    "not forbidden": "these labels obey the relation or rank that binds all weights",
    "n/a": "a hypothesis is false, with the witness that the case names",
    "impossible": "for every choice of weights, with the relation or bound that shows it",
    "undecided": "tried, not decided",
    "≠": "not as expected",
}


def section(scope: Scope) -> AuditSection:
    """Every case (quick: some of them). Exact; the seed plays no part."""
    return edge_cases(chosen(scope.quick), scope)


def chosen(quick: bool) -> list[EdgeCase | FileCase]:
    """All cases; quick: every second data set, and all files."""
    return [case for k, case in enumerate(CASES) if not quick or k % 2 == 0 or _file(case)]


def edge_cases(cases: Iterable[EdgeCase | FileCase], scope: Scope) -> AuditSection:
    """The section for these cases."""
    outcomes, every = [], list(cases)
    for done, case in enumerate(every):
        scope.progress("edge cases", done, len(every))
        outcomes.append(check(case))
    wrong = [o for o in outcomes if not o.as_expected]
    groups = dict.fromkeys(o.case.group for o in outcomes)
    return AuditSection(
        "edge-cases",
        "Edge cases",
        text=(
            f"{len(outcomes)} named cases, each actually run; {len(outcomes) - len(wrong)} are as "
            f"expected. Compared are the standing of every conclusion, the exact set of hypotheses "
            f"that fail, and their witnesses; for a file, the line that refuses "
            "it.",
        ),
        tables=tuple(
            Table(
                f"Edge cases: {group}",
                COLUMNS,
                tuple(_row(o) for o in outcomes if o.case.group == group),
            )
            for group in groups
        ),
        matrices=(_matrix([o for o in outcomes if not _file(o.case)]),),
        findings=tuple(
            Finding(
                f"Edge case {o.case.group}, {o.case.name}: not as expected.",
                Standing.AGAINST,
                {"differences": list(o.differences)},
            )
            for o in wrong
        ),
        numbers={
            "cases": len(outcomes),
            "as expected": len(outcomes) - len(wrong),
            "in the catalogue": len(CASES),
        },
    )


def _file(case: EdgeCase | FileCase) -> bool:
    return isinstance(case, FileCase)


def _row(outcome: Outcome) -> tuple[str, ...]:
    case = outcome.case
    found = "; ".join(outcome.found)
    verdict = "yes" if outcome.as_expected else "no: " + "; ".join(outcome.differences)
    return case.name, case.must, found, verdict, case.why, case.source


def _matrix(outcomes: list[Outcome]) -> Matrix:
    return Matrix(
        "audit-edge-cases",
        "Edge cases: data sets",
        "case",
        _HEADINGS,
        tuple((o.case.name, _cells(o)) for o in outcomes),
        _MEANINGS,
        bad=frozenset("≠"),
    )


def _cells(outcome: Outcome) -> tuple[str, ...]:
    """The first run of each kind that the case asks for."""
    assert isinstance(outcome.case, EdgeCase)
    marks = dict.fromkeys(_ASKED, "")
    for expect, answer in zip(outcome.case.expect, outcome.answers, strict=True):
        asked = _LABEL_RUNS.get(expect.run, expect.run)
        if asked in marks and not marks[asked]:
            marks[asked] = "≠" if answer is not expect.answer else _mark(expect.run, answer)
    return tuple(marks.values())


def _mark(run: str, answer: Level) -> str:
    if answer is Level.PROVED and run in _LABEL_MARKS:
        return _LABEL_MARKS[run]
    marks = {Level.NOT_APPLICABLE: "n/a", Level.REFUTED: "impossible", Level.UNDECIDED: "undecided"}
    return marks.get(answer, "proved")
