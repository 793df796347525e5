"""The page of `attncert compare`: one table, three sentences that follow from it, two figures."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Any

from attncert.reports.answers import PageParts
from attncert.reports.compare.buys import sentences
from attncert.reports.compare.figures import draw
from attncert.reports.report import figure_file
from attncert.reports.words.jsonable import about
from attncert.reports.words.numbers import size
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Level
from attncert.verify.methods.registry import foreign
from attncert.verify.network.compare import Comparison, Entry

COLUMNS = ["construction", "exact", "hypotheses", "parameters", "hidden units", "blocks",
           "longest number, bits", "bits in all", "fewer parameters than attention"]  # fmt: skip


def page_parts(answer: Comparison) -> PageParts:
    lines = tuple(sentences(answer))
    context = {
        "columns": COLUMNS,
        "rows": [_row(answer, entry) for entry in answer.rows],
        "last": answer.floors[-1],
        "sentences": lines,
    }
    files = partial(_figures, answer)
    return PageParts("compare.md.j2", context, exhibits(answer), files, lines)


def exhibits(answer: Comparison) -> dict[str, Any]:
    return {
        "data": about(answer.data),
        "table": [
            {
                "construction": entry.method.name,
                "examples": entry.examples,
                "standing": entry.standing,
                "exact": entry.exact,
                "reason": entry.reason,
                "hypotheses": {claim.id: claim.level for claim in entry.hypotheses},
                "costs": dict(entry.costs),
                "fewer parameters than attention from": answer.cheaper_from(entry),
            }
            for entry in answer.table
        ],
        "floors": [asdict(floor) for floor in answer.floors],
    }


def _figures(answer: Comparison) -> dict[str, bytes]:
    return {figure_file("compare"): draw(answer)}


def _row(answer: Comparison, entry: Entry) -> tuple[str, ...]:
    costs, name, title = entry.costs, entry.method.name, entry.method.title
    own = f"{name}: {title}" if title != name else name
    return (
        f"{own} (third-party)" if foreign(entry.method) else own,
        _exact(entry),
        _hypotheses(entry),
        _parameters(entry),
        *(size(costs[key]) if key in costs else "" for key in ("hidden units", "blocks")),
        *(_bits(entry, key) for key in ("bits of the longest", "bits in all")),
        _from(answer, entry),
    )


def _exact(entry: Entry) -> str:
    if entry.near and entry.standing.holds:
        return f"no, within: {entry.claim.statement}"
    if entry.exact:
        return "yes" if entry.written else f"yes, by rank {entry.examples:,}; readout not written"
    return f"{entry.standing.value}: {entry.reason}" if entry.reason else entry.standing.value


def _hypotheses(entry: Entry) -> str:
    """Those that are not simply proved by their levels."""
    by_level: dict[Level, list[str]] = {}
    for claim in entry.hypotheses:
        by_level.setdefault(claim.level, []).append(ids.hypothesis_name(claim.id) or claim.id)
    return "; ".join(f"{level.value}: {', '.join(names)}" for level, names in by_level.items())


def _parameters(entry: Entry) -> str:
    if not entry.costs:
        return ""
    return ("" if entry.written else "at most ") + size(entry.costs["parameters"])


def _bits(entry: Entry, key: str) -> str:
    return size(entry.costs[key]) if entry.written else "unknown" if entry.costs else ""


def _from(answer: Comparison, entry: Entry) -> str:
    if entry.growth is None:
        return ""
    start = answer.cheaper_from(entry)
    return "at no $T$ up to $2^{40}$" if start is None else f"from $T$ about {start:,}"
