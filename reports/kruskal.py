"""The report of `attncert kruskal`: interval, witness, and apart from them what was sampled.

From the record of verify/kruskal/examine.py to Markdown, JSON and a witness file. What is proved,
sampled and numerical stands in separate sections that say so. No times but in timings.json.
"""

from __future__ import annotations

import math
import os
import re
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

from attncert.constructions.numerals import numeral
from attncert.reports.folder import MARK, write_folder
from attncert.reports.proof.records import jsonable, readable_json
from attncert.reports.words.numbers import count, indices, real, size
from attncert.reports.words.templating import Filter, render
from attncert.reports.words.text import code, markdown
from attncert.reports.words.witness import readable
from attncert.verify.certificate import TooLarge, canonical_bytes, dependent_set
from attncert.verify.kruskal.bounds import Bound
from attncert.verify.kruskal.examine import Findings
from attncert.verify.kruskal.sampling.bases import BasesSearched
from attncert.verify.kruskal.sampling.sampled import Samples, Sweep, chance_of_meeting
from attncert.verify.rank.floating import Verdict

__all__ = [
    "bases_line",
    "kruskal_dict",
    "one_line",
    "render_kruskal",
    "sampled_line",
    "write_kruskal",
]

_SIZES = (2, 3, 5, 8, 12)  # of dependent sets that the sample may have missed


def write_kruskal(found: Findings, folder: str | os.PathLike[str]) -> list[Path]:
    """Write report.md, kruskal.json, timings.json and, if there is one, witness.json."""
    return write_folder(folder, render_kruskal(found))


def render_kruskal(found: Findings) -> dict[str, bytes]:
    """File contents by name; pure."""
    files: dict[str, bytes] = {}
    rows, uncertified = None, ""
    if found.interval.upper.dependency is not None:
        produced_by = {
            "version": metadata.version("attncert"),
            "command": found.question.command(),
            "seed": found.question.seed,
        }
        try:
            witness, rows = dependent_set(
                found.vectors, found.interval.upper.dependency, produced_by
            )
            files["witness.json"] = canonical_bytes(witness)
        except TooLarge as reason:
            uncertified = str(reason)
    files["report.md"] = _page(found, rows, uncertified).encode()
    files["kruskal.json"] = readable_json(kruskal_dict(found))
    times = {"seconds": dict(found.seconds), "device": dict(found.device)}
    files["timings.json"] = readable_json(jsonable(times))
    return files


def kruskal_dict(found: Findings) -> dict[str, Any]:
    """The report as data, also for `--json`; JSON-able, no times."""
    vectors, question = found.vectors, found.question
    record = {
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
            "command": question.command(),
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
    }
    return {key: jsonable(value) for key, value in record.items()}


def one_line(found: Findings) -> str:
    """The answer in one sentence, for a terminal; every part of it is proved or called undecided.

    >>> from attncert.verify.kruskal.examine import examine
    >>> from attncert.verify.kruskal.sampling.jobs import Question
    >>> from attncert.verify.kruskal.vectors import Vectors
    >>> vectors = Vectors.of([[1, 0, 0], [0, 1, 0], [0, 0, 1], [2, 0, 0]])
    >>> quick = dict(budget=None, work=1.0, subsets=0, device="cpu")
    >>> print(one_line(examine(vectors, Question(**quick))))
    The Kruskal rank of 4 vectors of width 3 is 1 (proved): vectors 0 and 3 are dependent.
    >>> print(one_line(examine(vectors, Question(k=2, **quick))))
    Not every 2 of the 4 vectors are independent (proved): vectors 0 and 3 are dependent.
    """
    v, k, interval = found.vectors, found.question.k, found.interval
    low, high = interval.lower, interval.upper
    why = "" if high.dependency is None else f": {_members(high)}"
    vectors = f"{count(v.N, 'vector')} of width {v.d:,}"
    if k is not None and found.answer is not None:
        if k == 1:
            none = "None" if found.answer else "One or more"
            level, verb = (low.level, "is") if found.answer else (high.level, "are")
            return f"{none} of {count(v.N, 'vector')} {verb} zero ({level.value}){why}."
        if found.answer:
            return f"Every {k} of the {v.N:,} vectors are independent ({low.level.value})."
        return f"Not every {k} of the {v.N:,} vectors are independent ({high.level.value}){why}."
    if interval.decided:
        level = max((low.level, high.level), key=lambda level: level < high.level)
        at = " (general position)" if low.value == v.d else ""
        return f"The Kruskal rank of {vectors} is {low.value}{at} ({level.value}){why}."
    between = (
        f"the Kruskal rank of {vectors} is from {low.value} "
        f"({low.level.value}) to {high.value} ({high.level.value}){why}."
    )
    if k is None:
        return between[0].upper() + between[1:]
    return f"Undecided whether every {k} are independent: {between}"


def sampled_line(sampled: Samples | Sweep) -> str:
    """What was sampled, in one sentence that claims no more."""
    done = sampled.subsets if isinstance(sampled, Samples) else sampled.permutations
    if done == 0:
        return "Sampled: nothing, no shard was finished."
    if isinstance(sampled, Samples):
        k, independent, bound = sampled.k, sampled.independent, sampled.failing_at_most
    else:  # the leading vectors of random permutations, the longest of them
        k, bound = sampled.longest, sampled.failing_at_most(sampled.longest)
        independent = sampled.independent(k)
    others = f", {done - independent:,} are not or not known to be" if done > independent else ""
    return (
        f"Sampled: {independent:,} of {done:,} random subsets of {count(k, 'vector')} are "
        f"independent{others}; with 95 % confidence at most {_percent(bound)} of all such subsets "
        "are dependent. This does not bound the Kruskal rank."
    )


def bases_line(searched: BasesSearched, *, verified: bool = True) -> str:
    """What random bases showed, in one sentence. verified: what they showed was not left out."""
    if not verified:
        return f"{_bases(searched.bases)} searched."
    if searched.witness is None:
        return f"{_bases(searched.bases)} showed no circuit, which proves nothing."
    return f"{_bases(searched.bases)} showed {searched.witness.size} dependent vectors (proved)."


def _page(found: Findings, rows: tuple[int, ...] | None, uncertified: str) -> str:
    interval = found.interval
    dependency = interval.upper.dependency
    relation = []
    if dependency is not None:
        witness = {
            "vectors": list(dependency.indices),
            "coefficients": [numeral(c) for c in dependency.coefficients],
        }
        relation = readable(witness)
    context = {
        "mark": MARK,
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
        else [(str(s), _percent_down(chance)) for s, chance in found.searched.chances()],
        "rounding_rows": _rounding_rows(found),
        "all_robust": all(r.robustness.verdict is Verdict.ROBUST for r in found.rounding),
        "command": found.question.command(),
        "redo": _redo(found),
        "work_command": _with_work(found),
    }
    filters: dict[str, Filter] = {
        "md": markdown, "code": code, "count": count, "size": size, "real": real,
        "indices": indices, "percent": _percent,
    }  # fmt: skip
    return re.sub("\n{3,}", "\n\n", render("kruskal.md.j2", filters, context))


def _bound_row(bound: Bound) -> tuple[str, ...]:
    end = "at least" if bound.end == "lower" else "at most"
    return (f"{end} {bound.value}", bound.level.value, bound.method, bound.statement)


def _chances(sampled: Samples | Sweep | None) -> list[tuple[str, str]]:
    """How likely this sample was to meet one given dependent set, by its size."""
    if not isinstance(sampled, Samples):
        return []
    return [
        (str(s), _percent(chance_of_meeting(s, sampled.vectors, sampled.k, sampled.subsets)))
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
        rows.append((ks, size(sampled.independent(k)), _percent(sampled.failing_at_most(k))))
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


def _members(bound: Bound) -> str:
    assert bound.dependency is not None
    found = bound.dependency.indices
    if len(found) == 1:
        return f"vector {found[0]} is zero"
    if len(found) > 8:
        return f"{len(found):,} of them are dependent"
    return f"vectors {', '.join(map(str, found[:-1]))} and {found[-1]} are dependent"


def _stored(found: Findings) -> str:
    kind = found.vectors.array.dtype
    return "integers, exactly" if kind.kind in "iuO" else f"{kind.name}, taken exactly"


def _redo(found: Findings) -> str:
    """The lower bound alone: it ends as soon as that many vectors are proved independent."""
    question = replace(found.question, k=found.interval.lower.value, subsets=0, bases=0)
    return question.command()


def _with_work(found: Findings) -> str:
    """With as many nominal seconds as there were seconds."""
    budget = found.question.budget
    return replace(found.question, budget=None, work=budget).command()


def _percent(x: float) -> str:
    """Rounded up, so that a bound stays one.

    >>> _percent(0.000598968), _percent(1.0), _percent(0.0), _percent(0.0438)
    ('0.060 %', '100 %', '0 %', '4.4 %')
    """
    if x in (0.0, 1.0):
        return f"{100 * x:.0f} %"
    digits = 1 - math.floor(math.log10(100 * x))
    scale = 10.0**digits
    return f"{math.ceil(100 * x * scale) / scale:.{max(0, digits)}f} %"


def _percent_down(x: float) -> str:
    """A chance, cut and not rounded up.

    >>> _percent_down(0.62751), _percent_down(1.0), _percent_down(1e-9)
    ('62.7 %', 'over 99.9 %', 'under 0.1 %')
    """
    if not 0.001 <= x <= 0.999:
        return "over 99.9 %" if x > 0.5 else "under 0.1 %"
    return f"{math.floor(1000 * x) / 10:g} %"


def _bases(count: int) -> str:
    return "One random basis" if count == 1 else f"{count:,} random bases"
