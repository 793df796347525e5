"""The page of `attncert compare`: one table, three sentences that follow from it, two figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from attncert.reports.answers import PageParts
from attncert.reports.compare.figures import figure
from attncert.reports.report import Table
from attncert.reports.words.jsonable import about
from attncert.reports.words.numbers import real, size
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.methods.registry import foreign
from attncert.verify.network.compare import Comparison, Entry

COLUMNS = ["construction", "exact", "proof", "hypotheses", "parameters", "hidden units", "blocks",
           "longest number, bits", "bits in all", "fewer parameters than attention"]  # fmt: skip
LONG = "bits"  # the construction that trades long numbers for parameters
_COSTS = {"parameters": "parameters", "bits in all": "bits"}


def page_parts(answer: Comparison) -> PageParts:
    lines = tuple(sentences(answer))
    context: dict[str, Any] = {
        "columns": COLUMNS,
        "rows": [_row(answer, entry) for entry in answer.rows],
        "last": answer.floors[-1],
        "sentences": lines,
    }

    table = Table("", tuple(COLUMNS), tuple(context["rows"]))
    return PageParts(
        "compare.md.j2",
        context,
        exhibits(answer),
        lambda: {"compare": figure(answer)},
        more=lines,
        table=table,
    )


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
                "proof": entry.proof and entry.proof.level,
                "hypotheses": {claim.id: claim.level for claim in entry.hypotheses},
                "costs": dict(entry.costs),
                "fewer parameters than attention from": answer.cheaper_from(entry),
            }
            for entry in answer.table
        ],
        "floors": [asdict(floor) for floor in answer.floors],
    }


def _row(answer: Comparison, entry: Entry) -> tuple[str, ...]:
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
        _from(answer, entry),
    )


def _exact(entry: Entry) -> str:
    if entry.standing.holds and not entry.equality:
        return f"no, within: {entry.claim.statement}"
    if entry.exact:
        return "yes" if entry.written else f"yes, by rank {entry.examples:,}; readout not written"
    return f"{entry.standing.value}: {entry.reason}" if entry.reason else entry.standing.value


def _proof(claim: Claim | None) -> str:
    """Whether it stands, and why not."""
    if claim is None:
        return ""
    if claim.level.holds:
        return "stands" if claim.level is Level.PROVED else f"stands, {claim.level.value}"
    return f"{claim.level.value}: {(claim.witness or {}).get('reason', claim.statement)}"


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
    if entry.method.growth is None:
        return ""
    start = answer.cheaper_from(entry)
    return "at no $T$ up to $2^{40}$" if start is None else f"from $T$ about {start:,}"


def sentences(answer: Comparison) -> Iterator[str]:
    """Each only where there are constructions to compare, exact on all examples."""
    exact = [entry for entry in answer.rows if entry.exact]
    layers = [x for x in exact if x.method.layer]
    networks = [x for x in exact if not x.method.layer and x.method.name != LONG]
    alone, relus = _least("parameters", layers), _least("bits in all", networks)
    if alone:
        yield f"Attention alone takes {_words(alone)}{_saturation(layers)}."
    else:
        yield (
            "None of these constructions of a layer of attention alone is proved to memorize these "
            "examples. Other weights of such a layer are not excluded by that."
        )
    if alone and relus:
        yield f"ReLUs or thresholds, in the shortest network, buy {_bought(relus, alone)}."
    if relus and (long := next((x for x in exact if x.method.name == LONG), None)):
        start = answer.cheaper_from(long, relus)
        later = "" if start is None else f"; by formula fewer parameters from T about {start:,}"
        yield f"Long numbers buy {_bought(long, relus)}{later}."


def _saturation(layers: list[Entry]) -> str:
    """The cheapest layer with heads that saturate against the cheapest without."""
    steered = _least("parameters", (x for x in layers if x.steered))
    free = _least("parameters", (x for x in layers if not x.steered))
    return f"; saturation buys {_bought(steered, free)}" if steered and free else ""


def _words(entry: Entry) -> str:
    bits = f" and {size(entry.costs['bits in all'])} bits" if entry.written else ""
    return f"{size(entry.costs['parameters'])} parameters{bits} ({entry.method.name})"


def _bought(first: Entry, second: Entry) -> str:
    """In which costs the first is below the second, and all ratios."""
    known = {k: word for k, word in _COSTS.items() if k in first.costs and second.costs.get(k)}
    ratios = {word: first.costs[k] / second.costs[k] for k, word in known.items()}
    fewer = " and ".join(f"fewer {word}" for word, ratio in ratios.items() if ratio < 1)
    parts = " and ".join(f"{_times(ratio)} the {word}" for word, ratio in ratios.items())
    parts = parts if first.written else f"at most {parts}"
    names = f"{first.method.name} has {parts} of {second.method.name}"
    return f"{fewer or 'nothing in this table'}: {names}"


def _times(ratio: float) -> str:
    return f"{real(ratio)} times" if ratio >= 1 else f"1/{real(1 / ratio)} of"


def _least(cost: str, entries: Iterable[Entry]) -> Entry | None:
    return min((x for x in entries if x.costs.get(cost)), key=lambda x: x.costs[cost], default=None)
