"""The Kruskal rank, from both sides: methods from cheap to dear until it is known or time is up.

Deciding the Kruskal rank is NP-hard, so the answer is an interval. Every bound is proved; what a
budget decides is only how close the ends come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from constructions.errors import InputError
from verify.kruskal.bounds import Bound, Interval, witnessed
from verify.kruskal.budget import Budget
from verify.kruskal.dependency import Dependency
from verify.kruskal.parallel import parallel_bounds
from verify.kruskal.vectors import Vectors
from verify.rank.modular import rank_mod

__all__ = ["Bound", "Interval", "close"]

Progress = Callable[[str, int, int], None]
Watch = Callable[[Interval], None]


def close(
    vectors: Vectors,
    *,
    k: int | None = None,
    budget_s: float | None = 60.0,
    work: float | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    watch: Watch | None = None,
) -> Interval:
    """The narrowest interval around the Kruskal rank that the budget allows.

    k:        only "is every set of k vectors independent?" is asked (1 <= k <= min(N, d)): the
        search ends when `Interval.answers(k)` is known, and methods that cannot help are left out.
    budget_s: seconds by the clock; None for no limit. work: nominal seconds (`budget.Budget`), for
        a result that does not depend on the machine; give budget_s=None then.
    seed:     of the random bases: they decide what is found, never whether it is true.
    progress: called as progress(stage, done, of); watch: called with each narrower interval.

    Raises InputError.

    >>> vectors = Vectors.of([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1], [1, 2, 0]])
    >>> found = close(vectors)
    >>> found.lower.value, found.upper.value, found.upper.dependency
    (2, 3, None)
    """
    if k is not None and not 1 <= k <= min(vectors.N, vectors.d):
        raise InputError("k", f"from 1 to min(N, d) = {min(vectors.N, vectors.d)}", k)
    search = _Search(vectors, k, Budget(budget_s, work), seed, progress or _silent)
    interval = Interval.trivial(vectors)
    for method in METHODS:
        if _enough(interval, k) or search.budget.over:
            break
        for bound in method(search, interval):
            narrower = interval.tighten(bound)
            if narrower is not interval and watch is not None:
                watch(narrower)
            interval = narrower
            if _enough(interval, k):
                break
    if interval.decided:
        return replace(interval, stopped="The Kruskal rank is known.")
    if _enough(interval, k):
        return replace(interval, stopped=f"Whether every {k} are independent is known.")
    why = "The budget is used." if search.budget.over else "What is left costs more than is left."
    return replace(interval, stopped=why, timed=search.budget.timed)


@dataclass(frozen=True)
class _Search:
    vectors: Vectors
    k: int | None
    budget: Budget
    seed: int
    progress: Progress


Method = Callable[[_Search, Interval], Iterator[Bound]]


def _enough(interval: Interval, k: int | None) -> bool:
    return interval.decided or (k is not None and interval.answers(k) is not None)


def _silent(stage: str, done: int, of: int) -> None:
    pass


def _parallel(search: _Search, interval: Interval) -> Iterator[Bound]:
    yield from parallel_bounds(search.vectors)


def _rank(search: _Search, interval: Interval) -> Iterator[Bound]:
    """More vectors than their rank are dependent; N vectors of rank N are independent."""
    v = search.vectors
    found = rank_mod(v.array)
    if found.rank == v.N:
        why = f"The {v.N} vectors have rank {v.N} modulo {found.prime}."
        yield Bound("lower", v.N, "rank", why)
    elif found.rank < min(v.N, v.d):
        witness = Dependency.among(v, [*found.rows, _first_other(found.rows, v.N)])
        if witness is not None:
            yield witnessed(witness, "rank", rank=found.rank)


def _first_other(rows: tuple[int, ...], N: int) -> int:
    return next(i for i in range(N) if i not in set(rows))


METHODS: tuple[Method, ...] = (_parallel, _rank)
