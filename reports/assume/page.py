"""The report of `attncert assume`: A1, A2 and general position, and what follows for the layer.

From the record of verify/assume/assume.py to Markdown, JSON, LaTeX, CSV and figures. Proved,
sampled and numerical stand apart. No times but in timings.json.
"""

from __future__ import annotations

from typing import Any

from attncert.reports.assume import rows
from attncert.reports.assume.figures import draw
from attncert.reports.kruskal.sentences import percent
from attncert.reports.report import ASSUME, Report, figure_file
from attncert.reports.words.claims import lines
from attncert.reports.words.jsonable import jsonable, readable_json
from attncert.reports.words.levels import legend
from attncert.reports.words.numbers import count, real
from attncert.reports.words.templating import page
from attncert.verify.assume.assume import Assumed, counts
from attncert.verify.assume.claims import equal_pair
from attncert.verify.assume.spectra import EPSILON, Spectrum, Standing
from attncert.verify.certificate import TooLarge, canonical_bytes, dependent_set, produced_by
from attncert.verify.claims.ids import A1_DISTINCT
from attncert.verify.kruskal.sampling.sampled import Sweep

FORMAT = "attncert-assume/1"


def report(made: Assumed) -> Report:
    summary = {"exit_status": made.exit_status, **assume_dict(made)}
    return Report(ASSUME, render(made), summary, sentences(made), made.exit_status)


def sentences(made: Assumed) -> tuple[str, ...]:
    """The answer in a few lines, for a terminal and at the head of the page."""
    first, contexts = made.claims[:2]
    low, high = made.found.interval.lower, made.found.interval.upper
    given, of, n = made.given, made.given.lengths, made.given.tokens
    between = (
        f"from {low.value:,} to {high.value:,}" if low.value < high.value else f"{low.value:,}"
    )
    every = f"A1, every {min(n, given.N):,} of {given.N:,} queries independent"
    rank = f"their Kruskal rank is {between} (proved)."
    distinct = next((claim for claim in made.claims if claim.id == A1_DISTINCT), None)
    told = [f"{every}: {first.level.value}; {rank}"]
    if distinct is not None:
        N = given.distinct.N
        told = [
            f"{every}: refuted, some are equal.",
            f"Distinct queries: {N:,}; every {min(n, N):,} of them independent: "
            f"{distinct.level.value}; {rank}",
        ]
    if made.equal_inputs:
        told.append(
            f"Inputs that equal an earlier one, query and context alike: {made.equal_inputs:,}. No "
            "weights give them different outputs."
        )
    told += [
        f"A2, rank {of} of contexts: {contexts.level.value}"
        f"{' for' if contexts.level.holds else ', true of'} "
        f"{contexts.numbers[f'of rank {of}']:,} of the {count(len(given.kept), 'context')} given.",
    ]
    if made.placed:
        most = max(made.placed, key=lambda p: p.memorized)
        told.append(
            f"Every labelling of {count(most.memorized, 'example')} is memorized by {given.heads} "
            "heads (proved: partition certificate and A2)."
            if most.memorized
            else "No example is proved to be memorized: no context of rank n is given."
        )
    return tuple(told)


def general_position(made: Assumed) -> str:
    """What float32 finds of min(N, d) queries, and what is so: one paragraph, or ""."""
    k = made.most
    test = next((test for test in made.tests if test.k == k), None)
    sweep, spectra = made.found.sampled, made.subsets.get(k, ())
    if test is None or not isinstance(sweep, Sweep) or not sweep.permutations:
        return ""
    exact, least = sweep.independent(k), min(s.singular[-1] for s in spectra)
    rounding = max(s.rounding for s in spectra)
    robust = all(s.standing in (Standing.ROBUST, Standing.NEARLY) for s in spectra)
    said = (
        f"In float32 {test.full:,} of {test.subsets:,} random sets of {k:,} queries have full "
        f"rank. Of the same vectors, exactly, {exact:,} of {sweep.permutations:,} random sets are "
        "independent. "
    )
    least_of = f"σ_min (at least {real(least)} in the sets looked at)"
    done = f"what rounding to the stored format can have done (at most {real(rounding)})"
    if exact == sweep.permutations and test.full < test.subsets:
        said += (
            "So the failure is one of the float32 tolerance and not of the vectors: "
            f"{least_of} exceeds {done}, so that the numbers before rounding were independent too."
            if robust
            else f"So the stored vectors do not fail, but {least_of} does not exceed {done}: "
            "rounding alone may have made them independent, and whether they were so before it is "
            "not decided by these numbers. Those of wider arithmetic may decide it "
            "(attncert embed --dtype float64)."
        )
    elif exact == test.full == 0:
        said += "The failure is one of the vectors."
    elif test.full == test.subsets and exact == sweep.permutations:
        said += "Both agree."
    return said


def render(made: Assumed) -> dict[str, bytes]:
    """File contents by name; pure. witness.json where queries are dependent and it is not too
    large."""
    files: dict[str, bytes] = {}
    given = made.given
    dependency = equal_pair(given) if given.repeats else made.found.interval.upper.dependency
    if dependency is not None:
        by = produced_by(made.settings.command(), made.settings.seed)
        try:
            witness, _ = dependent_set(given.queries, dependency, by)
            files["witness.json"] = canonical_bytes(witness)
        except TooLarge:
            pass
    figures = draw(made)
    context = {
        "made": made,
        "sentences": sentences(made),
        "stored": _stored(made),
        "rows": rows,
        "tests": rows.tests(made),
        "rounding": rows.rounding(made),
        "layer": rows.layer(made),
        "law": [(width, n) for width, n in made.law.items()],
        "general": general_position(made),
        "epsilon": f"{EPSILON:g}",
        "nearly": any(s.standing is Standing.NEARLY for s in _all(made)),
        "within": any(s.standing is Standing.WITHIN for s in _all(made)),
        "lines": lines(made.claims),
        "levels": legend(claim.level for claim in made.claims),
        "figures": figures,
        "witness": "witness.json" in files,
        "command": made.settings.command(),
        "provenance": sorted(made.given.provenance.items()),
    }
    files["report.md"] = page("assume.md.j2", context, percent=percent)
    files["assume.json"] = readable_json({"format": FORMAT, **assume_dict(made)})
    files["timings.json"] = readable_json(jsonable(_times(made)))
    files["tables.tex"] = rows.tables(made).encode()
    files["fractions.csv"] = rows.fractions_csv(made)
    files["spectra.csv"] = rows.spectra_csv(made)
    return files | {figure_file(name): content for name, content in figures.items()}


def assume_dict(made: Assumed) -> dict[str, Any]:
    """The report as data, without times and without whole spectra."""
    given, sampled = made.given, made.found.sampled
    record: dict[str, Any] = jsonable({
        "sentences": list(sentences(made)),
        "data": {
            "name": given.queries.name,
            "inputs": given.N,
            "distinct queries": given.distinct.N,
            "equal inputs": made.equal_inputs,
            "width": given.d,
            "tokens": given.tokens if given.shortest is None else given.lengths,
            "heads": given.heads,
            "head_width": given.head_width,
            "contexts": len(given.kept),
            "stored as": _stored(made),
            "provenance": dict(given.provenance),
        },
        "settings": vars(made.settings),
        "rank": made.rank,
        "interval": made.found.interval.as_dict(),
        "sampled": None if made.sampled is None else made.sampled.as_dict(),
        "permutations": None if sampled is None else sampled.as_dict(),
        "bases": None if made.found.searched is None else made.found.searched.as_dict(),
        "contexts": counts(made.contexts),
        "subsets": {str(k): counts(found) for k, found in made.subsets.items()},
        "float32": [
            {"k": t.k, "subsets": t.subsets, "full": t.full,
             "ranks": {str(r): c for r, c in t.ranks.items()}}
            for t in made.tests
        ],
        "layer": [
            {"construction": p.name, "first group": p.first, "capacity": p.capacity,
             "queries placed": p.examples, "memorized": p.memorized,
             "groups": [list(group) for group in p.certified]}
            for p in made.placed
        ],
        "law": {str(width): n for width, n in made.law.items()},
        "claims": [claim.as_dict() for claim in made.claims],
    })  # fmt: skip
    return record


def _times(made: Assumed) -> dict[str, Any]:
    rates = {str(t.k): {"subsets": t.subsets, "seconds": t.seconds} for t in made.tests}
    return {"seconds": dict(made.seconds), "float32 test": rates}


def _all(made: Assumed) -> list[Spectrum]:
    return [*made.contexts, *(s for found in made.subsets.values() for s in found)]


def _stored(made: Assumed) -> str:
    kind = made.given.queries.array.dtype
    return "integers, exactly" if kind.kind in "iuO" else f"{kind.name}, taken exactly"
