"""The report of `attncert assume`: A1, A2 and general position, and what follows for the layer.

Proved, sampled and numerical stand apart.
"""

from __future__ import annotations

from typing import Any

from attncert.reports.answers import Room
from attncert.reports.assume import rows
from attncert.reports.assume.figures import draw
from attncert.reports.kruskal.page import stored
from attncert.reports.report import figure_file
from attncert.reports.words.numbers import real
from attncert.verify.assume.assume import Assumed, counts
from attncert.verify.assume.spectra import EPSILON, AgainstRounding
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import counted
from attncert.verify.kruskal.sampling.sampled import Sweep


def room(answer: Assumed) -> Room:
    figures = draw(answer)
    sets = [*answer.contexts, *(s for sets in answer.subsets.values() for s in sets)]
    context = {
        "sentences": sentences(answer),
        "stored": stored(answer.data.queries),
        "rows": rows,
        "tests": rows.tests(answer),
        "rounding": rows.rounding(answer),
        "layer": rows.layer(answer),
        "law": [(width, n) for width, n in answer.law.items()],
        "general": general_position(answer),
        "epsilon": f"{EPSILON:g}",
        "nearly": any(s.standing is AgainstRounding.NEARLY for s in sets),
        "within": any(s.standing is AgainstRounding.WITHIN for s in sets),
        "figures": figures,
        "provenance": sorted(answer.data.provenance.items()),
    }

    def files() -> dict[str, bytes]:
        return {
            "tables.tex": rows.tables(answer).encode(),
            "fractions.csv": rows.fractions_csv(answer),
            "spectra.csv": rows.spectra_csv(answer),
            **{figure_file(name): content for name, content in figures.items()},
        }

    return Room("assume.md.j2", context, _exhibits(answer), files, more=sentences(answer))


def sentences(answer: Assumed) -> tuple[str, ...]:
    """The answer in a few lines, for a terminal and at the head of the page."""
    first, contexts = answer.trace[ids.A1], answer.trace[ids.CONTEXTS]
    low, high = answer.interval.lower, answer.interval.upper
    inputs, of, n = answer.data, answer.data.lengths, answer.data.tokens
    contexts_given = counted(len(inputs.with_context), "context")
    between = (
        f"from {low.value:,} to {high.value:,}" if low.value < high.value else f"{low.value:,}"
    )
    every = f"A1, every {min(n, inputs.N):,} of {inputs.N:,} queries independent"
    rank = f"their Kruskal rank is {between} (proved)."
    lines = [f"{every}: {first.level.value}; {rank}"]
    if ids.A1_DISTINCT in answer.trace:
        N, distinct = inputs.distinct.N, answer.trace[ids.A1_DISTINCT]
        lines = [
            f"{every}: refuted, some are equal.",
            f"Distinct queries: {N:,}; every {min(n, N):,} of them independent: "
            f"{distinct.level.value}; {rank}",
        ]
    if answer.equal_inputs:
        lines.append(
            "Inputs that equal an earlier one, query and context alike: "
            f"{answer.equal_inputs:,}. No weights give them different outputs."
        )
    lines += [
        f"A2, rank {of} of contexts: {contexts.level.value}"
        f"{' for' if contexts.level.holds else ', true of'} "
        f"{contexts.numbers[f'of rank {of}']:,} of the {contexts_given} given.",
    ]
    if answer.placed:
        most = max(answer.placed, key=lambda p: p.memorized)
        lines.append(
            f"Every labelling of {counted(most.memorized, 'example')} is memorized by "
            f"{inputs.heads} heads (proved: partition certificate and A2)."
            if most.memorized
            else "No example is proved to be memorized: no context of rank n is given."
        )
    return tuple(lines)


def general_position(answer: Assumed) -> str:
    """What float32 finds of min(N, d) queries, and what is so: one paragraph, or ""."""
    k = answer.most
    test = next((test for test in answer.tests if test.k == k), None)
    sweep, spectra = answer.sweep, answer.subsets.get(k, ())
    if test is None or not isinstance(sweep, Sweep) or not sweep.drawn:
        return ""
    exact, least = sweep.independent(k), min(s.singular[-1] for s in spectra)
    rounding = max(s.rounding for s in spectra)
    robust = all(s.standing in (AgainstRounding.ROBUST, AgainstRounding.NEARLY) for s in spectra)
    words = (
        f"In float32 {test.full:,} of {test.subsets:,} random sets of {k:,} queries have full "
        f"rank. Of the same vectors, exactly, {exact:,} of {sweep.drawn:,} random sets are "
        "independent. "
    )
    least_of = f"σ_min (at least {real(least)} in the sets looked at)"
    noise = f"what rounding to the stored format can have done (at most {real(rounding)})"
    if exact == sweep.drawn and test.full < test.subsets:
        words += (
            "So the failure is one of the float32 tolerance and not of the vectors: "
            f"{least_of} exceeds {noise}, so that the numbers before rounding were independent too."
            if robust
            else f"So the stored vectors do not fail, but {least_of} does not exceed {noise}: "
            "rounding alone may have made them independent, and whether they were so before it is "
            "not decided by these numbers. Those of wider arithmetic may decide it "
            "(attncert embed --dtype float64)."
        )
    elif exact == test.full == 0:
        words += "The failure is one of the vectors."
    elif test.full == test.subsets and exact == sweep.drawn:
        words += "Both agree."
    return words


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
