"""The report of `attncert assume`: A1, A2 and general position, and what follows for the layer.

Proved, sampled and numerical stand apart.
"""

from __future__ import annotations

from typing import Any

from attncert.reports.answers import PageParts
from attncert.reports.assume import rows
from attncert.reports.assume.figures import draw
from attncert.reports.kruskal.page import stored
from attncert.reports.report import figure_file
from attncert.reports.words.claims import ClaimLine, lines
from attncert.verify.assume.assume import Assumed, counts
from attncert.verify.assume.spectra import EPSILON, AgainstRounding
from attncert.verify.claims import ids
from attncert.verify.claims.words import counted


def page_parts(answer: Assumed) -> PageParts:
    figures = draw(answer)
    sets = [*answer.contexts, *(s for sets in answer.subsets.values() for s in sets)]
    context = {
        "sentences": sentences(answer),
        "stored": stored(answer.data.queries),
        "rows": rows,
        "tests": rows.tests(answer),
        "rounding": rows.rounding(answer),
        "layer": rows.layer(answer),
        "general": lines_of(answer, ids.FLOAT32),
        "labels": lines_of(answer, ids.LABELS_MOST, ids.LABELS_EVERY),
        "epsilon": f"{EPSILON:g}",
        "nearly": any(s.standing is AgainstRounding.NEARLY for s in sets),
        "within": any(s.standing is AgainstRounding.WITHIN for s in sets),
        "figures": figures,
        "provenance": sorted(answer.data.provenance.items()),
    }

    def files() -> dict[str, bytes]:
        return {figure_file(name): content for name, content in figures.items()}

    return PageParts("assume.md.j2", context, _exhibits(answer), files, more=sentences(answer))


def lines_of(answer: Assumed, *claim_ids: ids.ClaimId) -> list[ClaimLine]:
    """These claims, where they were made."""
    return [line for line in lines(answer.trace) if line.id in claim_ids]


def sentences(answer: Assumed) -> tuple[str, ...]:
    """The answer in a few text, for a terminal and at the head of the page."""
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
    if answer.equal_inputs:
        text.append(
            "Inputs that equal an earlier one, query and context alike: "
            f"{answer.equal_inputs:,}. No weights give them different outputs."
        )
    text += [
        f"A2, rank {of} of contexts: {contexts.level.value}"
        f"{' for' if contexts.level.holds else ', true of'} "
        f"{contexts.numbers[f'of rank {of}']:,} of the {contexts_given} given.",
    ]
    if answer.placed:
        most = max(answer.placed, key=lambda p: p.memorized)
        text.append(
            f"Every labelling of {counted(most.memorized, 'example')} is memorized by "
            f"{inputs.heads} heads (proved: partition certificate and A2)."
            if most.memorized
            else "No example is proved to be memorized: no context of rank n is given."
        )
    return tuple(text)


def _exhibits(answer: Assumed) -> dict[str, Any]:
    """What was looked at, without whole spectra."""
    inputs, sweep = answer.data, answer.sweep
    return {
        "sentences": list(sentences(answer)),
        "data": {
            "name": inputs.queries.name,
            "inputs": inputs.N,
            "distinct queries": inputs.distinct.N,
            "equal inputs": answer.equal_inputs,
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
        "sampled": None if answer.sampled is None else answer.sampled.as_dict(),
        "permutations": None if sweep is None else sweep.as_dict(),
        "contexts": counts(answer.contexts),
        "subsets": {str(k): counts(spectra) for k, spectra in answer.subsets.items()},
        "float32": [
            {"k": t.k, "subsets": t.subsets, "full": t.full,
             "ranks": {str(r): c for r, c in t.ranks.items()}}
            for t in answer.tests
        ],
        "layer": [
            {"construction": p.name, "first group": p.first, "capacity": p.capacity,
             "queries placed": p.examples, "memorized": p.memorized,
             "groups": [list(group) for group in p.certified]}
            for p in answer.placed
        ],
        "law": {str(width): n for width, n in answer.law.items()},
    }  # fmt: skip
