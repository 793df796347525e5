"""The audit's report: from the sections of `verify/audit/records.py` to Markdown, JSON and figures.

Nothing is judged here: what a section found stands there with its standing, the worst first. No
times: equal scopes give equal bytes.
"""

from __future__ import annotations

from typing import Any

from attncert.reports.audit.figures import drawn
from attncert.reports.report import AUDIT, Report
from attncert.reports.words.jsonable import about, jsonable, readable_json
from attncert.reports.words.numbers import count
from attncert.reports.words.templating import page
from attncert.reports.words.text import plain
from attncert.verify.audit.records import Audit, AuditSection, Finding, Standing, worst

FORMAT = "attncert-audit/1"
_VERDICTS = {  # of bundled cases, where it is known what must come out
    Standing.OK: "Everything is as expected.",
    Standing.UNDECIDED: "Undecided: nothing speaks against, but not everything is decided.",
    Standing.AGAINST: "Something is not as expected.",
}


def report(found: Audit) -> Report:
    return Report(AUDIT, render(found), audit_dict(found), (one_line(found),), found.exit_status)


def render(found: Audit) -> dict[str, bytes]:
    """File contents by name; pure."""
    context = {"audit": found, "verdict": verdict(found), "findings": _findings(found)}
    return {
        "audit.md": page("audit.md.j2", context, standing=_standing),
        "audit.json": readable_json(audit_dict(found)),
        **drawn([m for section in found.sections for m in section.matrices], []),
    }


def verdict(found: Audit) -> str:
    """What came out for the user's data or layer; then, where bundled cases were run, for these."""
    answers = " ".join(section.answer for section in found.sections if section.answer)
    if all(section.answer for section in found.sections):
        return answers
    bundled = _VERDICTS[worst(f.standing for f in _bundled(found))]
    return f"{answers} Bundled cases: {bundled[0].lower()}{bundled[1:]}" if answers else bundled


def one_line(found: Audit) -> str:
    """For the terminal: the verdict; the number of sections; the worst finding on bundled cases."""
    line = f"{plain(verdict(found))} {count(len(found.sections), 'section')}"
    standing = worst(f.standing for f in _bundled(found))
    bad = [f for f in _bundled(found) if f.standing is standing]
    if standing is Standing.OK:
        return f"{line}."
    return f"{line}; {count(len(bad), 'finding')}, the first: {plain(bad[0].statement)}"


def _bundled(found: Audit) -> list[Finding]:
    return [f for section in found.sections for f in section.findings if not f.yours]


def audit_dict(found: Audit) -> dict[str, Any]:
    """The whole audit as data. JSON-able; no times."""
    return {
        "format": FORMAT,
        "standing": found.standing.value,
        "exit_status": found.exit_status,
        "data": None if found.data is None else about(found.data),
        "quick": found.quick,
        "seed": found.seed,
        "sections": [_section(section) for section in found.sections],
    }


def _section(section: AuditSection) -> dict[str, Any]:
    content: dict[str, Any] = jsonable({
        "id": section.id,
        "title": section.title,
        "standing": section.standing.value,
        "answer": plain(section.answer),
        "findings": [_finding(f) for f in section.findings],
        "numbers": section.numbers,
        "tables": [
            {"title": t.title, "columns": t.columns, "rows": t.rows} for t in section.tables
        ],
        "matrices": [
            {"name": m.name, "title": m.title, "columns": m.columns, "rows": dict(m.rows)}
            for m in section.matrices
        ],
        "claims": [claim.as_dict() for claim in section.claims],
    })  # fmt: skip
    return content


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "statement": finding.statement,
        "standing": finding.standing.value,
        "witness": finding.witness,
    }


def _standing(finding: Finding | AuditSection) -> str:
    """In a word. Of the user's own input nothing was expected: at best there is nothing against."""
    if isinstance(finding, Finding):
        own = finding.yours
    else:
        own = bool(finding.answer) or any(f.yours for f in finding.findings)
    if own and finding.standing is Standing.OK:
        return "nothing against"
    return finding.standing.value


def _findings(found: Audit) -> list[tuple[AuditSection, Finding]]:
    """All of them, the worst first."""
    pairs = [(section, finding) for section in found.sections for finding in section.findings]
    order = {standing: k for k, standing in enumerate(Standing)}
    return sorted(pairs, key=lambda pair: -order[pair[1].standing])
