"""The report of `attncert assume`: A1, A2 and general position, and what follows for the layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from attncert.reports.answers import PageParts
from attncert.reports.kruskal.page import stored
from attncert.reports.words.numbers import percent, real
from attncert.verify.assume.assume import Assumed, counts
from attncert.verify.assume.spectra import EPSILON, AgainstRounding, Spectrum
from attncert.verify.claims import ids
from attncert.verify.claims.words import counted

Row = tuple[str, ...]
SET_COLUMNS = ("sets", "independent, exactly", "level")
ROUNDING_COLUMNS = (
    "sets", "number", "standing", "$\\sigma_{\\min}$", "rounding, at most",
    "$\\sigma_{\\min}/\\sigma_{\\max}$", "ε-rank",
)  # fmt: skip
LAYER_COLUMNS = ("construction", "first group", "by its theorem", "queries placed", "proved for")


def page_parts(answer: Assumed) -> PageParts:
    sets = [*answer.contexts, *(s for sets in answer.subsets.values() for s in sets)]
    context = {
        "sentences": sentences(answer),
        "stored": stored(answer.data.queries),
        "sets": (SET_COLUMNS, of_sets(answer)),
        "rounding": (ROUNDING_COLUMNS, _rounding(answer)),
        "layer": (LAYER_COLUMNS, _layer(answer)),
        "epsilon": f"{EPSILON:g}",
        "nearly": any(s.standing is AgainstRounding.NEARLY for s in sets),
        "within": any(s.standing is AgainstRounding.WITHIN for s in sets),
        "provenance": sorted(answer.data.provenance.items()),
    }
    return PageParts("assume.md.j2", context, _exhibits(answer), more=sentences(answer))


def sentences(answer: Assumed) -> tuple[str, ...]:
    """The answer in a few sentences, for a terminal and the head of the page."""
    first, contexts = answer.trace[ids.A1], answer.trace[ids.CONTEXTS]
    low, high = answer.interval.lower, answer.interval.upper
    inputs, of, n = answer.data, answer.data.lengths, answer.data.tokens
    contexts_given = counted(len(inputs.with_context), "context")
    between = (
        f"from {low.value:,} to {high.value:,}" if low.value < high.value else f"{low.value:,}"
    )
    every = f"A1, every {min(n, inputs.N):,} of {inputs.N:,} queries independent"
    rank = f"their Kruskal rank is {between} (proved)."
    text = [f"{every}: {first.level.value}; {rank}"]
    if ids.A1_DISTINCT in answer.trace:
        N, distinct = inputs.distinct.N, answer.trace[ids.A1_DISTINCT]
        text = [
            f"{every}: refuted, some are equal.",
            f"Distinct queries: {N:,}; every {min(n, N):,} of them independent: "
            f"{distinct.level.value}; {rank}",
        ]
    text += [
        f"A2, rank {of} of contexts: {contexts.level.value}"
        f"{' for' if contexts.level.holds else ', true of'} "
        f"{contexts.numbers[f'of rank {of}']:,} of the {contexts_given} given.",
    ]
    if answer.placed:
        most = max(answer.placed, key=lambda p: p.memorized)
        text.append(
            f"Every labelling of {counted(most.memorized, 'example')} is memorized by "
            f"{counted(inputs.heads or 0, 'head')} (proved: partition certificate and A2)."
            if most.memorized
            else "No example is proved to be memorized: no context of rank n is given."
        )
    return tuple(text)


def _exhibits(answer: Assumed) -> dict[str, Any]:
    """The data, the interval and the counts."""
    inputs = answer.data
    return {
        "sentences": list(sentences(answer)),
        "data": {
            "name": inputs.queries.name,
            "inputs": inputs.N,
            "distinct queries": inputs.distinct.N,
            "width": inputs.d,
            "tokens": inputs.tokens if inputs.shortest is None else inputs.lengths,
            "heads": inputs.heads,
            "head_width": inputs.head_width,
            "contexts": len(inputs.with_context),
            "stored as": stored(inputs.queries),
            "provenance": dict(inputs.provenance),
        },
        "rank": answer.rank,
        "interval": answer.interval.as_dict(),
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


def of_sets(answer: Assumed) -> list[Row]:
    """Random sets of n and of d queries, and the contexts, tested exactly."""
    inputs, rows = answer.data, list[Row]()
    if answer.k is None:
        name = f"{counted(inputs.tokens, 'query')} (A1)"
        rows.append((name, f"none: n exceeds d = {inputs.d}", "proved"))
    sizes = {answer.most: "general position"} | {answer.k: "A1"}
    for k in sorted(k for k in sizes if k is not None):
        rows.append((f"{counted(k, 'query')} ({sizes[k]})", *_sampled(answer, k)))
    if answer.contexts:
        good = sum(1 for s in answer.contexts if s.rank == s.size)
        rows.append(
            (f"contexts, tokens: {inputs.lengths} (A2)",
             f"{good:,} of {len(answer.contexts):,}", "proved, each")
        )  # fmt: skip
    return rows


def _sampled(answer: Assumed, k: int) -> tuple[str, str]:
    if k > answer.rank:
        return f"none: all queries have rank {answer.rank:,}", "proved"
    sample = answer.samples.get(k)
    if sample is None:
        return "–", "undecided"
    bound = percent(sample.failing_at_most)
    share = f"{sample.independent:,} of {sample.drawn:,}"
    return f"{share}; at most {bound} of all are dependent (95 %)", "sampled"


def _rounding(answer: Assumed) -> list[Row]:
    """Each kind of set, compared with the rounding of the stored numbers and with small noise."""
    rows = [_spectra_row(f"contexts, tokens: {answer.data.lengths}", answer.contexts)]
    rows += [_spectra_row(counted(k, "query"), spectra) for k, spectra in answer.subsets.items()]
    return [row for row in rows if row]


def _spectra_row(name: str, spectra: Sequence[Spectrum]) -> Row:
    if not spectra:
        return ()
    sizes = _whole_span([s.size for s in spectra])
    standing = "; ".join(f"{many:,} {words}" for words, many in counts(tuple(spectra)).items())
    return (
        name,
        f"{len(spectra):,}",
        standing,
        _span([s.least for s in spectra]),
        real(max(s.rounding for s in spectra)),
        _span([s.least / (s.largest or 1.0) for s in spectra]),
        f"{_whole_span([s.epsilon_rank for s in spectra])} of {sizes}",
    )


def _span(values: Sequence[float]) -> str:
    low, middle = real(min(values)), real(float(np.median(values)))
    return low if low == middle else f"{low} (median {middle})"


def _whole_span(values: Sequence[int]) -> str:
    low, high = min(values), max(values)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _layer(answer: Assumed) -> list[Row]:
    """The universal memorization that each construction reaches with this layer's heads."""
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
