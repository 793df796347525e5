"""The report of `attncert attack`: what was tried, kind by kind, and the case that fails."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attncert.reports.answers import PageParts
from attncert.verify.attack.search import AttackAnswer


def page_parts(answer: AttackAnswer) -> PageParts:
    kinds = sorted(answer.built.keys() | answer.partition.keys())
    context = {"kinds": kinds}
    return PageParts("attack.md.j2", context, exhibits(answer), more=tuple(_sentences(answer)))


def exhibits(answer: AttackAnswer) -> dict[str, Any]:
    """Counts by kind in alphabetical order, and the failure as drawn and shrunk."""
    counts = {name: getattr(answer, name) for name in ("built", "partition", "outside")}
    failure = answer.failure
    return {
        "stop": answer.stop,
        **{name: dict(sorted(count.items())) for name, count in counts.items()},
        "failure": None if failure is None else failure.as_dict(),
    }


def _sentences(answer: AttackAnswer) -> Iterator[str]:
    """For a terminal: what the counts are of, and the smallest case that fails."""
    yield f"{answer.counts}."
    if answer.failure is not None:
        yield ", ".join(f"{key} {x}" for key, x in answer.failure.smallest.as_dict().items())
