"""The report of `attncert assume`: A1, A2 and general position, and what follows for the layer.

Proved, sampled and numerical stand apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from attncert.reports.answers import PageParts
from attncert.reports.assume.figures import draw
from attncert.reports.kruskal.page import stored
from attncert.reports.words.claims import ClaimLine, lines
from attncert.reports.words.numbers import percent, real
from attncert.verify.assume.assume import Assumed, counts
from attncert.verify.assume.paper_test import Float32Test
from attncert.verify.assume.spectra import EPSILON, AgainstRounding, Spectrum
from attncert.verify.claims import ids
from attncert.verify.claims.words import counted

Row = tuple[str, ...]
TEST_COLUMNS = ("sets", "float32 rank full (numerical)", "independent, exactly", "level")
ROUNDING_COLUMNS = (
    "sets", "looked at", "standing", "$\\sigma_{\\min}$", "rounding, at most",
    "$\\sigma_{\\min}/\\sigma_{\\max}$", "ε-rank", "float32 rank",
)  # fmt: skip
LAYER_COLUMNS = ("construction", "first group", "by its theorem", "queries placed", "proved for")
_NONE = "–"


def page_parts(answer: Assumed) -> PageParts:
    figures = draw(answer)
    sets = [*answer.contexts, *(s for sets in answer.subsets.values() for s in sets)]
    context = {
        "sentences": sentences(answer),
        "stored": stored(answer.data.queries),
        "tests": (TEST_COLUMNS, of_tests(answer)),
        "rounding": (ROUNDING_COLUMNS, _rounding(answer)),
        "layer": (LAYER_COLUMNS, _layer(answer)),
        "general": lines_of(answer, ids.FLOAT32),
        "labels": lines_of(answer, ids.LABELS_MOST, ids.LABELS_EVERY),
        "epsilon": f"{EPSILON:g}",
        "nearly": any(s.standing is AgainstRounding.NEARLY for s in sets),
        "within": any(s.standing is AgainstRounding.WITHIN for s in sets),
        "figures": figures,
        "provenance": sorted(answer.data.provenance.items()),
    }

    return PageParts(
        "assume.md.j2", context, _exhibits(answer), lambda: figures, more=sentences(answer)
    )


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
            f"{counted(inputs.heads or 0, 'head')} (proved: partition certificate and A2)."
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


def of_tests(answer: Assumed) -> list[Row]:
    """The paper's test and the exact one, on the same vectors."""
    inputs, rows = answer.data, list[Row]()
    if answer.k is None:
        name = f"{counted(inputs.tokens, 'query')} (A1)"
        rows.append((name, _NONE, f"none: n exceeds d = {inputs.d}", "proved"))
    sizes = {answer.most: "general position"} | {answer.k: "A1"}
    for k in sorted(k for k in sizes if k is not None):
        name = f"{counted(k, 'query')} ({sizes[k]})"
        test = next((test for test in answer.tests if test.k == k), None)
        rows.append((name, _full(test), *_exact(answer, k)))
    if answer.contexts:
        contexts = answer.contexts
        single = sum(1 for s in contexts if s.float32 == s.size)
        good = sum(1 for s in contexts if s.rank == s.size)
        rows.append(
            (f"contexts, tokens: {inputs.lengths} (A2)", f"{single:,} of {len(contexts):,}",
             f"{good:,} of {len(contexts):,}", "proved, each")
        )  # fmt: skip
    return rows


def _full(test: Float32Test | None) -> str:
    if test is None:
        return _NONE
    low, high = min(test.ranks), max(test.ranks)
    ranks = f"ranks {low:,} to {high:,}" if low < high else f"rank {low:,}"
    return f"{test.full:,} of {test.subsets:,} ({ranks})"


def _exact(answer: Assumed, k: int) -> tuple[str, str]:
    if k > answer.rank:
        return f"none: all queries have rank {answer.rank:,}", "proved"
    sampled = answer.sampled
    if sampled is None or sampled.k != k:
        sampled = answer.sweep
    if sampled is not None:
        bound = percent(sampled.failing_at_most(k))
        share = f"{sampled.independent(k):,} of {sampled.drawn:,}"
        return f"{share}; at most {bound} of all are dependent (95 %)", "sampled"
    return _NONE, "undecided"


def _rounding(answer: Assumed) -> list[Row]:
    """Each kind of set against the rounding of the stored numbers, and against small noise."""
    rows = [_spectra_row(f"contexts, tokens: {answer.data.lengths}", answer.contexts)]
    rows += [_spectra_row(counted(k, "query"), spectra) for k, spectra in answer.subsets.items()]
    return [row for row in rows if row]


def _spectra_row(name: str, spectra: Sequence[Spectrum]) -> Row:
    if not spectra:
        return ()
    sizes = _whole_span([s.size for s in spectra])
    least = [s.singular[-1] if s.size == len(s.singular) else 0.0 for s in spectra]
    ratio = [x / (s.singular[0] or 1.0) for x, s in zip(least, spectra, strict=True)]
    standing = "; ".join(f"{many:,} {words}" for words, many in counts(tuple(spectra)).items())
    return (
        name,
        f"{len(spectra):,}",
        standing,
        _span(least),
        real(max(s.rounding for s in spectra)),
        _span(ratio),
        f"{_whole_span([s.epsilon_rank() for s in spectra])} of {sizes}",
        f"{_whole_span([s.float32 for s in spectra])} of {sizes}",
    )


def _span(values: Sequence[float]) -> str:
    low, middle = real(min(values)), real(float(np.median(values)))
    return low if low == middle else f"{low} (median {middle})"


def _whole_span(values: Sequence[int]) -> str:
    low, high = min(values), max(values)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _layer(answer: Assumed) -> list[Row]:
    """What universal memorization each construction reaches with this layer's heads."""
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
