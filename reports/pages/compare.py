"""The page of `attncert compare`: one table, and the sentences that follow from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attncert.reports.report import PageParts, Table
from attncert.reports.words.jsonable import about
from attncert.reports.words.numbers import size
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.compare.compare import Comparison, Entry
from attncert.verify.statements.registry import foreign

COLUMNS = ["construction", "exact", "proof", "hypotheses", "parameters", "hidden units", "blocks",
           "longest number, bits", "bits in all"]  # fmt: skip
_COSTS = {"parameters": "parameters", "bits in all": "bits"}


def page_parts(answer: Comparison) -> PageParts:
    lines = tuple(sentences(answer))
    table = Table("", tuple(COLUMNS), tuple(map(_row, answer.table)))
    context = {"columns": COLUMNS, "rows": table.rows, "bits": answer.bits, "sentences": lines}
    return PageParts("compare.md.j2", context, exhibits(answer), more=lines, table=table)


def exhibits(answer: Comparison) -> dict[str, Any]:
    return {
        "data": about(answer.data),
        "table": [
            {
                "construction": entry.method.name,
                "standing": entry.standing,
                "exact": entry.exact,
                "reason": entry.reason,
                "proof": entry.proof and entry.proof.level,
                "hypotheses": {claim.id: claim.level for claim in entry.hypotheses},
                "costs": dict(entry.costs),
            }
            for entry in answer.table
        ],
        "bits that the labels hold": answer.bits,
    }


def _row(entry: Entry) -> tuple[str, ...]:
    costs, name, title = entry.costs, entry.method.name, entry.method.title
    own = f"{name}: {title}" if title != name else name
    return (
        f"{own} (third-party)" if foreign(entry.method) else own,
        _exact(entry),
        _proof(entry.proof),
        _hypotheses(entry),
        _parameters(entry),
        *(size(costs[key]) if key in costs else "" for key in ("hidden units", "blocks")),
        *(_bits(entry, key) for key in ("bits of the longest", "bits in all")),
    )


def _exact(entry: Entry) -> str:
    if entry.standing.holds and not entry.equality:
        return f"no, within: {entry.claim.statement}"
    if entry.exact:
        return "yes" if entry.written else "yes, by rank T; readout not written"
    return f"{entry.standing.value}: {entry.reason}" if entry.reason else entry.standing.value


def _proof(claim: Claim | None) -> str:
    if claim is None:
        return ""
    if claim.level.holds:
        return "valid" if claim.level is Level.PROVED else f"valid, {claim.level.value}"
    return f"{claim.level.value}: {(claim.witness or {}).get('reason', claim.statement)}"


def _hypotheses(entry: Entry) -> str:
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


def sentences(answer: Comparison) -> Iterator[str]:
    """The lowest costs among attention-only layers, and among other networks."""
    exact = [entry for entry in answer.table if entry.exact]
    layers = [entry for entry in exact if entry.method.layer]
    networks = [entry for entry in exact if not entry.method.layer]
    if layers:
        yield f"Among layers of attention alone, {_least(layers)}."
    else:
        yield (
            "None of these constructions with attention alone is proved to memorize these "
            "examples. Other weights of an attention layer may still do so."
        )
    if networks:
        yield f"Among the other networks, {_least(networks)}."


def _least(entries: list[Entry]) -> str:
    """The construction with the lowest value of each known cost."""
    by_name: dict[str, list[str]] = {}
    for cost, word in _COSTS.items():
        known = [entry for entry in entries if cost in entry.costs]
        if known:
            least = min(known, key=lambda entry: entry.costs[cost])
            record = f"the fewest {word} ({size(least.costs[cost])})"
            by_name.setdefault(least.method.name, []).append(record)
    return ", and ".join(f"{name} has {' and '.join(x)}" for name, x in by_name.items())
