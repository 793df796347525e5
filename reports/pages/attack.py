"""The report of `attncert attack`: what was tried, kind by kind, and the case that fails."""

from __future__ import annotations

from collections.abc import Iterator

from attncert.reports.report import PageParts
from attncert.verify.audit.attack.search import AttackAnswer


def page_parts(answer: AttackAnswer) -> PageParts:
    names = ("stop", "built", "outside", "failure")
    exhibits = {name: getattr(answer, name) for name in names}
    return PageParts("attack.md.j2", {}, exhibits, more=tuple(_sentences(answer)))


def _sentences(answer: AttackAnswer) -> Iterator[str]:
    """Lines for a terminal: the counts, and the smallest case that fails."""
    yield f"{answer.counts}."
    if answer.failure is not None:
        yield ", ".join(f"{key} {x}" for key, x in answer.failure.smallest.as_dict().items())
