"""The report of `attncert kruskal`: interval, witness, and apart from them what was sampled.

From the record of verify/kruskal/examine.py to Markdown, JSON and a witness file. What is proved,
sampled and numerical stands in separate sections that say so. No times but in timings.json.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from attncert.constructions.numerals import numeral
from attncert.reports.kruskal.sentences import (
    bases_line,
    one_line,
    percent,
    percent_down,
    shard_lines,
)
from attncert.reports.report import KRUSKAL, Report
from attncert.reports.words.jsonable import jsonable, readable_json
from attncert.reports.words.numbers import real, size
from attncert.reports.words.templating import page
from attncert.reports.words.witness import readable
from attncert.verify.certificate import TooLarge, canonical_bytes, dependent_set, produced_by
from attncert.verify.kruskal.bounds import Bound
from attncert.verify.kruskal.examine import Findings
from attncert.verify.kruskal.sampling.sampled import Samples, Sweep, chance_of_meeting
from attncert.verify.rank.floating import Verdict

_SIZES = (2, 3, 5, 8, 12)  # of dependent sets that the sample may have missed


def report(found: Findings) -> Report:
    sentences = (one_line(found), *shard_lines(found.sampled, found.searched))
    return Report(KRUSKAL, render(found), kruskal_dict(found), sentences, found.exit_status)


def render(found: Findings) -> dict[str, bytes]:
    """File contents by name; pure. witness.json only where a dependent set can be certified."""
    files: dict[str, bytes] = {}
    rows, uncertified = None, ""
    if found.interval.upper.dependency is not None:
        made = produced_by(found.question.command(found.vectors), found.question.seed)
        try:
            witness, rows = dependent_set(found.vectors, found.interval.upper.dependency, made)
            files["witness.json"] = canonical_bytes(witness)
        except TooLarge as reason:
            uncertified = str(reason)
    files["report.md"] = page("kruskal.md.j2", _context(found, rows, uncertified), percent=percent)
    files["kruskal.json"] = readable_json(kruskal_dict(found))
    times = {"seconds": dict(found.seconds), "device": dict(found.device)}
    files["timings.json"] = readable_json(jsonable(times))
    return files


def kruskal_dict(found: Findings) -> dict[str, Any]:
    """The report as data, also for `--json`; JSON-able, no times."""
    vectors, question = found.vectors, found.question
    record: dict[str, Any] = jsonable({
        "sentence": one_line(found),
        "exit_status": found.exit_status,
        "vectors": {
            "name": vectors.name,
            "N": vectors.N,
            "d": vectors.d,
            "stored as": _stored(found),
        },
        "question": {
            "k": question.k,
            "budget": question.budget,
            "work": question.work,
            "subsets": question.drawn,
            "bases": question.bases,
            "seed": question.seed,
            "command": question.command(found.vectors),
        },
        "answer": found.answer,
        "interval": found.interval.as_dict(),
        "sampled": None if found.sampled is None else found.sampled.as_dict(),
        "bases": None if found.searched is None else found.searched.as_dict(),
        "rounding": [
            {
                "subset": r.number,
                "verdict": r.robustness.verdict.value,
                "level": r.robustness.level,
                "sigma min": float(f"{r.robustness.sigma_min:.3g}"),
                "rounding": float(f"{r.robustness.rounding:.3g}"),
                "float32 rank": r.float32.rank,
            }
            for r in found.rounding
        ],
        "depends on time": found.timed,
    })  # fmt: skip
    return record


def _context(found: Findings, rows: tuple[int, ...] | None, uncertified: str) -> dict[str, object]:
    interval = found.interval
    dependency = interval.upper.dependency
    relation = []
    if dependency is not None:
        witness = {
            "vectors": list(dependency.indices),
            "coefficients": [numeral(c) for c in dependency.coefficients],
        }
        relation = readable(witness)
    return {
        "found": found,
        "one_line": one_line(found),
        "stored": _stored(found),
        "ends": [_bound_row(interval.lower), _bound_row(interval.upper)],
        "trail": [_bound_row(bound) for bound in interval.trail],
        "relation": relation,
        "rows": None if rows is None else list(rows),
        "uncertified": uncertified,
        "samples": found.sampled if isinstance(found.sampled, Samples) else None,
        "unsampled": found.sampled is None and found.question.subsets is None,
        "sweep": found.sampled if isinstance(found.sampled, Sweep) else None,
        "chances": _chances(found.sampled),
        "sweep_rows": _sweep_rows(found.sampled),
        "searched": found.searched,
        "searched_line": "" if found.searched is None else bases_line(found.searched),
        "searched_chances": []
        if found.searched is None
        else [(str(s), percent_down(chance)) for s, chance in found.searched.chances()],
        "rounding_rows": _rounding_rows(found),
        "all_robust": all(r.robustness.verdict is Verdict.ROBUST for r in found.rounding),
        "command": found.question.command(found.vectors),
        "redo": _redo(found),
        "work_command": _with_work(found),
    }


def _bound_row(bound: Bound) -> tuple[str, ...]:
    end = "at least" if bound.end == "lower" else "at most"
    return (f"{end} {bound.value}", bound.level.value, bound.method, bound.statement)


def _chances(sampled: Samples | Sweep | None) -> list[tuple[str, str]]:
    """How likely this sample was to meet one given dependent set, by its size."""
    if not isinstance(sampled, Samples):
        return []
    return [
        (str(s), percent(chance_of_meeting(s, sampled.vectors, sampled.k, sampled.subsets)))
        for s in _SIZES
        if s <= sampled.k
    ]


def _sweep_rows(sampled: Samples | Sweep | None) -> list[tuple[str, ...]]:
    if not isinstance(sampled, Sweep):
        return []
    first = 1
    rows: list[tuple[str, ...]] = []
    for k in sampled.steps():
        ks = f"{k:,}" if first == k else f"{first:,} to {k:,}"
        rows.append((ks, size(sampled.independent(k)), percent(sampled.failing_at_most(k))))
        first = k + 1
    return rows


def _rounding_rows(found: Findings) -> list[tuple[str, ...]]:
    k = found.question.k
    return [
        (
            str(r.number),
            "independent" if r.robustness.exact.independent else "dependent",
            f"{r.float32.rank} of {k}",
            real(r.robustness.sigma_min),
            real(r.robustness.rounding),
            r.robustness.verdict.value,
        )
        for r in found.rounding
    ]


def _stored(found: Findings) -> str:
    kind = found.vectors.array.dtype
    return "integers, exactly" if kind.kind in "iuO" else f"{kind.name}, taken exactly"


def _redo(found: Findings) -> str:
    """The lower bound alone: it ends as soon as that many vectors are proved independent."""
    question = replace(found.question, k=found.interval.lower.value, subsets=0, bases=0)
    return question.command(found.vectors)


def _with_work(found: Findings) -> str:
    """With as many nominal seconds as there were seconds."""
    budget = found.question.budget
    return replace(found.question, budget=None, work=budget).command(found.vectors)
