"""The report of `attncert attack`: what was tried, kind by kind, and the case that fails."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attncert.reports.page_parts import PageParts
from attncert.verify.audit.attack.search import AttackAnswer


def page_parts(answer: AttackAnswer) -> PageParts:
    return PageParts("attack.md.j2", {}, exhibits(answer), more=tuple(_sentences(answer)))


def exhibits(answer: AttackAnswer) -> dict[str, Any]:
    """Counts by kind in alphabetical order, and the failure as drawn and shrunk."""
    failure = answer.failure
    return {
        "stop": answer.stop,
        "built": dict(sorted(answer.built.items())),
        "outside": dict(sorted(answer.outside.items())),
        "failure": None if failure is None else failure.as_dict(),
    }


def _sentences(answer: AttackAnswer) -> Iterator[str]:
    """Lines for a terminal: the counts, and the smallest case that fails."""
    yield f"{answer.counts}."
    if answer.failure is not None:
        yield ", ".join(f"{key} {x}" for key, x in answer.failure.smallest.as_dict().items())
