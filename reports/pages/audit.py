"""The report of `attncert audit`: the purpose of each hypothesis."""

from __future__ import annotations

from attncert.reports.report import PageParts
from attncert.verify.audit.audit import AuditAnswer


def page_parts(answer: AuditAnswer) -> PageParts:
    context = {
        "quick": answer.question.quick,
        "titles": "; ".join(x.heading for x in answer.methods),
        "sharpened": [
            (x.construction.name, x.hypothesis, x.used, x.words, x.level.value)
            for x in answer.sharpened
        ],
    }
    more = tuple(
        f"{x.construction.name} without {x.hypothesis}: {x.words} ({x.level.value})."
        for x in answer.sharpened
    )
    return PageParts("audit.md.j2", context, {}, more=more)
