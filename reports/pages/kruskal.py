"""The report of `attncert kruskal`: the interval with its witness, and the separate sample."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from attncert.constructions.numerals import short
from attncert.reports.report import PageParts
from attncert.reports.words.claims import readable
from attncert.reports.words.numbers import percent
from attncert.verify.claims.ids import KRUSKAL_RECORDS, KRUSKAL_UPPER
from attncert.verify.claims.words import counted
from attncert.verify.kruskal.bounds import RankBound
from attncert.verify.kruskal.kruskal import KruskalRank
from attncert.verify.kruskal.shards.sampled import Samples
from attncert.verify.kruskal.vectors import Vectors


def page_parts(answer: KruskalRank) -> PageParts:
    interval, sampled = answer.interval, answer.sampled
    upper = answer.trace[KRUSKAL_UPPER].witness
    context = {
        "interval": interval,
        "assumed": "",
        "stored": stored(answer.data),
        "ends": [_bound_row(interval.lower), _bound_row(interval.upper)],
        "relation": [] if upper is None else readable(upper),
        "rows": _rows(answer),
        "samples": sampled,
        "redo": replace(answer.question, k=interval.lower.value or None, subsets=0).line(),
    }
    more = () if sampled is None else (_sampled_line(sampled),)
    if KRUSKAL_RECORDS in answer.trace:
        context["assumed"] = answer.trace[KRUSKAL_RECORDS].statement
        more = (*more, f"Assumed: {context['assumed']}")
    return PageParts("kruskal.md.j2", context, _exhibits(answer), more=more)


def stored(vectors: Vectors) -> str:
    """How the numbers are stored, as a clause.

    >>> stored(Vectors.of([[1, 2]])), stored(Vectors.of([["1/2", 2]]))
    ('exact integers', 'exact decimals or fractions (0.1 is 1/10) with common denominator 2')
    """
    kind = vectors.array.dtype
    if kind.kind == "f":
        return f"{kind.name}, each number read as the exact fraction that it stores"
    if vectors.denominator > 1:
        over = short(vectors.denominator)
        return f"exact decimals or fractions (0.1 is 1/10) with common denominator {over}"
    return "exact integers"


def _exhibits(answer: KruskalRank) -> dict[str, Any]:
    vectors, sampled = answer.data, answer.sampled
    return {
        "vectors": {
            "name": vectors.name,
            "N": vectors.N,
            "d": vectors.d,
            "stored as": stored(vectors),
        },
        "interval": answer.interval,
        "sampled": None if sampled is None else sampled.as_dict(),
    }


def _bound_row(bound: RankBound) -> tuple[str, ...]:
    end = "at least" if bound.end == "lower" else "at most"
    return (f"{end} {bound.value}", bound.level.value, bound.method, bound.statement)


def _rows(answer: KruskalRank) -> list[int] | None:
    """The indices of the vectors in the certificate; None if it holds all of them."""
    dependency, certificate = answer.interval.upper.dependency, answer.certificate
    if dependency is None or certificate is None:
        return None
    everything = certificate["dims"]["vectors"] == answer.data.N
    return None if everything else list(dependency.indices)


def _sampled_line(sampled: Samples) -> str:
    """The sample in one sentence, which claims only what was sampled."""
    k, bound, independent = sampled.k, sampled.failing_at_most, sampled.independent
    rest = sampled.drawn - independent
    start = "Sampled elsewhere" if sampled.assumed else "Sampled"
    others = f", {rest:,} are not, or are not known to be" if rest else ""
    return (
        f"{start}: {independent:,} of {sampled.drawn:,} random subsets of {counted(k, 'vector')} "
        f"are independent{others}; with 95 % confidence, at most {percent(bound)} of all such "
        "subsets are dependent. This does not bound the Kruskal rank."
    )
