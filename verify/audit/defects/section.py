"""Planted defects as a section of the audit: for every family the matrix of defects and checks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from attncert.verify.audit.defects.certificates import CERTIFICATES, FAST
from attncert.verify.audit.defects.defect import Caught, Result, column, examine
from attncert.verify.audit.defects.given import LABELLING, NEAR
from attncert.verify.audit.defects.hypotheses import HYPOTHESES
from attncert.verify.audit.defects.layers import LAYERS
from attncert.verify.audit.defects.routes import ROUTES
from attncert.verify.audit.defects.steps.affine import AFFINE_STEPS
from attncert.verify.audit.defects.steps.generic import GENERIC_STEPS
from attncert.verify.audit.defects.steps.paper import PAPER_STEPS
from attncert.verify.audit.defects.steps.width_one import WIDTH_ONE_STEPS
from attncert.verify.audit.defects.traces import TRACES
from attncert.verify.audit.records import AuditSection, Finding, Matrix, Scope, Standing, Table

FAMILIES = (
    HYPOTHESES, PAPER_STEPS, WIDTH_ONE_STEPS, AFFINE_STEPS, GENERIC_STEPS, LAYERS, ROUTES,
    TRACES, CERTIFICATES, FAST, NEAR, LABELLING,
)  # fmt: skip

_MEANINGS = {
    "own": "caught by the check of its own step",
    "also": "another check fired too",
    "missed": "the check of its own step did not fire",
}


def section(scope: Scope) -> AuditSection:
    """Every defect planted; seconds in all, so that quick leaves none out. No seed plays a part."""
    results = []
    for family in FAMILIES:
        stage = f"planted defects: {family.title.lower()}"
        results.append(examine(family, partial(scope.progress, stage)))
    return planted_defects(results)


def planted_defects(results: Sequence[Result]) -> AuditSection:
    """The section for these results."""
    planted = sum(len(result.rows) for result in results)
    caught = planted - sum(len(result.missed) for result in results)
    return AuditSection(
        "defects",
        "Planted defects",
        text=(
            f"{planted} deliberate errors, each planted in a correct small run; {caught} of them "
            f"({100 * caught / planted:.1f} %) were caught by the check of the step that was "
            "spoilt. The final check, that the outputs equal the labels, was switched off: it "
            "would notice any change of the weights, and hide which other checks do. It is tested "
            "separately: by its three routes, and in certificates, which have no steps.",
            "On the correct runs nothing fires. A check is needed if some defect here is seen by "
            "no other check; where none is, the table says what the check is kept for.",
        ),
        tables=(_checks(results),),
        matrices=tuple(_matrix(result) for result in results),
        findings=tuple(finding for result in results for finding in _findings(result)),
        numbers={
            "planted": planted,
            "caught by its own check": caught,
            "checks": sum(len(result.family.checks) for result in results),
            "families": {result.family.name: len(result.rows) for result in results},
        },
    )


def _findings(result: Result) -> list[Finding]:
    title = result.family.title
    against: list[tuple[str, dict[str, Any] | None]] = [
        (f"{title}: the check {row.defect.check} does not see: {row.defect.name}.", None)
        for row in result.rows
        if not row.own
    ]
    against += [
        (f"{title}: a check fires on a correct run, {name}.", {"checks": sorted(fired)})
        for name, fired in result.false_alarms.items()
    ]
    against += [
        (f"{title}: no defect here needs the check {check}.", None) for check in result.unneeded
    ]
    return [Finding(text, Standing.AGAINST, witness) for text, witness in against]


def _checks(results: Sequence[Result]) -> Table:
    rows = []
    for result in results:
        for check in result.family.checks:
            seen = [row for row in result.rows if check in row.columns]
            alone = sum(row.columns == {check} for row in seen)
            reason = "" if alone else result.family.implied.get(check, "nothing known")
            rows.append((result.family.title, check, str(len(seen)), str(alone), reason))
    return Table(
        "Checks, and the defects that they see",
        ("family", "check", "defects seen", "seen by no other", "otherwise kept because"),
        tuple(rows),
    )


def _matrix(result: Result) -> Matrix:
    checks = result.family.checks
    return Matrix(
        f"audit-defects-{result.family.name}",
        result.family.title,
        "defect",
        checks,
        tuple((row.defect.name, tuple(_mark(row, check) for check in checks))
              for row in result.rows),
        _MEANINGS,
        bad=frozenset({"missed"}),
    )  # fmt: skip


def _mark(row: Caught, check: str) -> str:
    if check == column(row.defect.check):
        return "own" if row.own else "missed"
    return "also" if check in row.columns else ""
