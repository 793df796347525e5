"""The report of `attncert assume`: A1, A2 and general position, and what follows for the layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attncert.reports.pages.kruskal import stored
from attncert.reports.report import PageParts
from attncert.reports.words.numbers import real
from attncert.verify.claims import ids
from attncert.verify.claims.words import counted
from attncert.verify.third_party.assume.assume import Assumed, counts
from attncert.verify.third_party.assume.spectra import EPSILON, AgainstRounding, Spectrum

Row = tuple[str, ...]
ROUNDING_COLUMNS = (
    "sets", "number", "standing", "least $\\sigma_{\\min}$", "rounding, at most",
    "least $\\sigma_{\\min}/\\sigma_{\\max}$", "least ε-rank",
)  # fmt: skip
LAYER_COLUMNS = ("construction", "first group", "by its theorem", "queries placed", "proved for")


def page_parts(answer: Assumed) -> PageParts:
    sets = [*answer.contexts, *(s for sets in answer.subsets.values() for s in sets)]
    context = {
        "sentences": sentences(answer),
        "stored": stored(answer.data.queries),
        "samples": [sample.claim().statement for sample in answer.samples.values()],
        "rounding": (ROUNDING_COLUMNS, _rounding(answer)),
        "layer": (LAYER_COLUMNS, _layer(answer)),
        "epsilon": f"{EPSILON:g}",
        "nearly": any(s.standing is AgainstRounding.NEARLY for s in sets),
        "within": any(s.standing is AgainstRounding.WITHIN for s in sets),
    }
    return PageParts("assume.md.j2", context, _exhibits(answer), more=sentences(answer))


def sentences(answer: Assumed) -> tuple[str, ...]:
    """The answer in a few sentences, for a terminal and the top of the page."""
    shown = (ids.A1, ids.A1_DISTINCT, ids.CONTEXTS, ids.GENERAL_POSITION)
    low, high = answer.interval.lower.value, answer.interval.upper.value
    between = f"{low:,}" if low == high else f"from {low:,} to {high:,}"
    distinct = "distinct " if answer.data.repeats else ""
    text = [
        f"{claim.level.value.capitalize()}: {claim.statement}"
        for claim in answer.trace
        if claim.id in shown
    ]
    text.insert(1, f"Proved: The Kruskal rank of the {distinct}queries is {between}.")
    if answer.placed:
        most = max(placed.memorized for placed in answer.placed)
        text.append(
            f"Every labelling of {counted(most, 'example')} is memorized by "
            f"{counted(answer.question.heads or 0, 'head')} (proved: partition certificate and A2)."
            if most
            else "No example is proved to be memorized: no context of rank n is given."
        )
    return tuple(text)


def _exhibits(answer: Assumed) -> dict[str, Any]:
    inputs = answer.data
    return {
        "sentences": list(sentences(answer)),
        "data": {
            "name": inputs.queries.name,
            "inputs": inputs.N,
            "distinct queries": inputs.distinct.N,
            "width": inputs.d,
            "tokens": inputs.tokens if inputs.shortest is None else inputs.lengths,
            "heads": answer.question.heads,
            "head_width": answer.question.head_width,
            "contexts": len(inputs.with_context),
            "stored as": stored(inputs.queries),
        },
        "rank": answer.rank,
        "interval": answer.interval,
        "samples": [sample.as_dict() for sample in answer.samples.values()],
        "contexts": counts(answer.contexts),
        "subsets": {str(k): counts(spectra) for k, spectra in answer.subsets.items()},
        "layer": [
            {"construction": p.name, "first group": p.first, "capacity": p.capacity,
             "queries placed": p.examples, "memorized": p.memorized,
             "groups": [list(group) for group in p.certified]}
            for p in answer.placed
        ],
    }  # fmt: skip


def _rounding(answer: Assumed) -> list[Row]:
    """How robust each kind of set is to rounding of the stored numbers and to small noise."""
    rows = [_spectra_row(f"contexts, tokens: {answer.data.lengths}", answer.contexts)]
    rows += [_spectra_row(counted(k, "query"), spectra) for k, spectra in answer.subsets.items()]
    return [row for row in rows if row]


def _spectra_row(name: str, spectra: Sequence[Spectrum]) -> Row:
    if not spectra:
        return ()
    standing = "; ".join(f"{many:,} {words}" for words, many in counts(tuple(spectra)).items())
    return (
        name,
        f"{len(spectra):,}",
        standing,
        real(min(s.least for s in spectra)),
        real(max(s.rounding for s in spectra)),
        real(min(s.least / (s.largest or 1.0) for s in spectra)),
        f"{min(s.epsilon_rank for s in spectra):,}",
    )


def _layer(answer: Assumed) -> list[Row]:
    """How many examples each construction memorizes universally with this layer's heads."""
    return [
        (
            "heads of width one (ours)" if p.name == "width one" else p.name,
            f"{p.first:,}",
            counted(p.capacity, "example"),
            f"{p.examples:,} of {answer.data.N:,}",
            counted(p.memorized, "example") if p.memorized else "none",
        )
        for p in answer.placed
    ]
