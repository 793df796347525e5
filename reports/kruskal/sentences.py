"""What `attncert kruskal` says in one sentence each: interval, sample, bases; and percentages.

No sentence claims more than what it is about: a sample bounds no Kruskal rank.
"""

from __future__ import annotations

import math

from attncert.reports.words.numbers import count
from attncert.verify.kruskal.bounds import Bound
from attncert.verify.kruskal.examine import Findings
from attncert.verify.kruskal.methods import exhaustive
from attncert.verify.kruskal.sampling.bases import BasesSearched
from attncert.verify.kruskal.sampling.jobs import Question, affordable
from attncert.verify.kruskal.sampling.sampled import Samples, Sweep
from attncert.verify.kruskal.vectors import Vectors


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


def outlook(vectors: Vectors, question: Question, threads: int) -> str:
    """What a run is estimated to take on so many threads, said before it begins.

    >>> digits = Vectors.of([[1] * 16] * 1782)
    >>> print(outlook(digits, Question(budget=None, work=20.0), 8))
    Estimated for 2 free cores: all sets of 3 take 0.05 s, all sets of 4 take 6 s and 1 MB; \
all sets of 5 would take 100 s.
    """
    shape, cores = (vectors.N, vectors.d), threads if question.budget else 2
    ready = affordable(vectors, question, cores)
    further = max(ready, default=2) + 1

    def price(k: int) -> str:
        return f"{float(f'{exhaustive.nominal_seconds(*shape, k, cores):.1g}'):g} s"

    found = ", ".join(f"all sets of {k} take {price(k)}" for k in ready)
    if ready:
        most = max(exhaustive.memory(*shape, k, cores) for k in ready)
        found += f" and {math.ceil(most / 1e6):,} MB; "
    if further <= (question.k or min(shape)):
        found += f"all sets of {further} would take {price(further)}"
    return f"Estimated for {count(cores, 'free core')}: {found.removesuffix('; ') or 'nothing'}."


def shard_lines(sampled: Samples | Sweep | None, searched: BasesSearched | None) -> tuple[str, ...]:
    """What random subsets and bases showed, where there were some: a sentence each."""
    lines: tuple[str, ...] = () if sampled is None else (_sampled_line(sampled),)
    return lines if searched is None else (*lines, bases_line(searched))


def _sampled_line(sampled: Samples | Sweep) -> str:
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
        f"independent{others}; with 95 % confidence at most {percent(bound)} of all such subsets "
        "are dependent. This does not bound the Kruskal rank."
    )


def bases_line(searched: BasesSearched) -> str:
    """What random bases showed, in one sentence."""
    if searched.witness is None:
        return f"{_bases(searched.bases)} showed no circuit, which proves nothing."
    return f"{_bases(searched.bases)} showed {searched.witness.size} dependent vectors (proved)."


def percent(x: float) -> str:
    """Rounded up, so that a bound stays one.

    >>> percent(0.000598968), percent(1.0), percent(0.0), percent(0.0438)
    ('0.060 %', '100 %', '0 %', '4.4 %')
    """
    if x in (0.0, 1.0):
        return f"{100 * x:.0f} %"
    digits = 1 - math.floor(math.log10(100 * x))
    scale = 10.0**digits
    return f"{math.ceil(100 * x * scale) / scale:.{max(0, digits)}f} %"


def percent_down(x: float) -> str:
    """A chance, cut and not rounded up.

    >>> percent_down(0.62751), percent_down(1.0), percent_down(1e-9)
    ('62.7 %', 'over 99.9 %', 'under 0.1 %')
    """
    if not 0.001 <= x <= 0.999:
        return "over 99.9 %" if x > 0.5 else "under 0.1 %"
    return f"{math.floor(1000 * x) / 10:g} %"


def _members(bound: Bound) -> str:
    assert bound.dependency is not None
    found = bound.dependency.indices
    if len(found) == 1:
        return f"vector {found[0]} is zero"
    if len(found) > 8:
        return f"{len(found):,} of them are dependent"
    return f"vectors {', '.join(map(str, found[:-1]))} and {found[-1]} are dependent"


def _bases(count: int) -> str:
    return "One random basis" if count == 1 else f"{count:,} random bases"
