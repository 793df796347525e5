"""The audit's report: from the sections of `verify/audit.py` to Markdown, JSON and figures.

Nothing is judged here: what a section found stands there with its standing, the worst first. No
times: equal scopes give equal bytes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from reports.audit_figures import matrix_figures
from reports.folder import MARK, check_folder, write_folder
from reports.numbers import count
from reports.records import jsonable, readable_json
from reports.templating import Filter, render
from reports.text import markdown, plain
from reports.witness import readable
from verify.audit import Audit, AuditSection, Finding, Scope, Section, Standing, audit

__all__ = ["FORMAT", "audit_dict", "one_line", "render_audit", "write_audit"]

FORMAT = "attncert-audit/1"
_VERDICTS = {
    Standing.OK: "Everything came out as expected.",
    Standing.UNDECIDED: "Undecided: nothing against, and not everything decided.",
    Standing.AGAINST: "Something came out against expectation.",
}


def write_audit(
    scope: Scope, sections: Iterable[Section], folder: str | os.PathLike[str]
) -> tuple[Audit, list[Path]]:
    """Run the audit and write audit.md, audit.json and figures to `folder`.

    Raises InputError for a folder that is not ours (before any work) and where a section does.
    """
    check_folder(folder)
    found = audit(scope, sections)
    return found, write_folder(folder, render_audit(found))


def render_audit(found: Audit) -> dict[str, bytes]:
    """File contents by name; pure."""
    figures = matrix_figures([m for section in found.sections for m in section.matrices])
    return {
        "audit.md": _page(found).encode(),
        "audit.json": readable_json(audit_dict(found)),
        **{f"figures/{name}.svg": svg for name, svg in figures.items()},
    }


def one_line(found: Audit) -> str:
    """For the terminal: the verdict, and how many sections and findings are behind it."""
    bad = [f for s in found.sections for f in s.findings if f.standing is found.standing]
    line = f"{_VERDICTS[found.standing]} {count(len(found.sections), 'section')}"
    if found.standing is Standing.OK or not bad:
        return f"{line}."
    return f"{line}; {count(len(bad), 'finding')}, the first: {plain(bad[0].statement)}"


def audit_dict(found: Audit) -> dict[str, Any]:
    """The whole audit as data. JSON-able; no times."""
    data = found.data
    about = None if data is None else {
        "name": data.name, "examples": data.T, "context": data.n, "width": data.d,
        "labels": data.m, "shared": data.shared, "sha256": data.sha256,
    }  # fmt: skip
    return {
        "format": FORMAT,
        "standing": found.standing.value,
        "exit_status": found.exit_status,
        "data": about,
        "quick": found.quick,
        "seed": found.seed,
        "sections": [_section(section) for section in found.sections],
    }


def _section(section: AuditSection) -> dict[str, Any]:
    content: dict[str, Any] = jsonable({
        "id": section.id,
        "title": section.title,
        "standing": section.standing.value,
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


def _page(found: Audit) -> str:
    filters: dict[str, Filter] = {"md": markdown, "count": count, "witness": readable}
    text = render(
        "audit.md.j2",
        filters,
        {
            "mark": MARK,
            "audit": found,
            "verdict": _VERDICTS[found.standing],
            "findings": _findings(found),
        },
    )
    return re.sub("\n{3,}", "\n\n", text)


def _findings(found: Audit) -> list[tuple[AuditSection, Finding]]:
    """All of them, the worst first."""
    pairs = [(section, finding) for section in found.sections for finding in section.findings]
    order = {standing: k for k, standing in enumerate(Standing)}
    return sorted(pairs, key=lambda pair: -order[pair[1].standing])
