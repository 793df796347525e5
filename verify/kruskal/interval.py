"""The Kruskal rank, from both sides: methods from cheap to expensive until it is known or time is
up.

Computing the Kruskal rank is NP-hard, so the answer is an interval. Every bound is proved; what a
budget decides is only how close the ends come.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

from attncert.constructions.progress import StageProgress, silent
from attncert.verify.claims.evidence import Level, counted
from attncert.verify.kruskal.bounds import Interval, RankBound, witnessed
from attncert.verify.kruskal.budget import SHARE, SURE, Budget, SearchLimit, Weighed
from attncert.verify.kruskal.methods import (
    circuits,
    coherence,
    exhaustive,
    information_sets,
    supports,
)
from attncert.verify.kruskal.methods.parallel import parallel_bounds
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.rank.engines.cpu import available_threads
from attncert.verify.rank.modular import modular_rank

__all__ = ["Interval", "RankBound", "Sets", "close", "settled"]

_BASES = 200  # where there is no limit
_LIKELY, _LITTLE = 0.01, 0.01  # a chance; and of what is left, what less likely searches have

Watch = Callable[[Interval], None]


class Sets(Protocol):
    """How all sets of one size are looked at."""

    @property
    def threads(self) -> int:
        """That are at work on them."""
        ...

    def left(self, k: int) -> float:
        """Which part of the sets of k is not looked at yet, 0 to 1."""
        ...

    def decide(
        self, vectors: Vectors, k: int, budget: Budget, seed: int, progress: StageProgress
    ) -> RankBound | None:
        """What they prove; None where the budget is over first, or they could not be decided."""
        ...


class Here:
    """In this process, from the beginning."""

    @property
    def threads(self) -> int:
        return available_threads()

    def left(self, k: int) -> float:
        return 1.0

    def decide(
        self, vectors: Vectors, k: int, budget: Budget, seed: int, progress: StageProgress
    ) -> RankBound | None:
        def stop() -> bool:
            return budget.over

        return exhaustive.decide(vectors, k, seed=seed, progress=progress, stop=stop).bound()


HERE = Here()


def close(
    vectors: Vectors,
    *,
    k: int | None = None,
    budget_s: float | None = 60.0,
    work: float | None = None,
    sets: Sets = HERE,
    seed: int = 0,
    kept: float = 0.0,
    progress: StageProgress = silent,
    watch: Watch | None = None,
) -> Interval:
    """The narrowest interval around the Kruskal rank that the budget allows.

    k:        only "is every set of k vectors independent?" is asked (1 <= k <= min(N, d)): the
        search ends when `Interval.answers(k)` is known, and methods that cannot help are left out.
    budget_s: seconds by the clock; None for no limit. work: nominal seconds (`budget.Budget`), for
        a result that does not depend on the machine; give budget_s=None then.
    sets:     how all sets of one size are looked at.
    seed:     of the random bases: they decide what is found, never whether it is true.
    kept:     the fraction of budget_s that is not for this search (0 <= kept < 1).
    progress: called as progress(stage, done, of); watch: called with each narrower interval.

    >>> vectors = Vectors.of([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1], [1, 2, 0]])
    >>> found = close(vectors)
    >>> found.lower.value, found.upper.value, found.upper.dependency.indices
    (2, 2, (0, 1, 4))
    """
    seconds = None if budget_s is None else budget_s * (1 - kept)
    budget = Budget(seconds, work)
    limit = _limit(budget_s, work, kept)
    search = _Search(vectors, k, budget, seed, progress, sets)
    interval = Interval.trivial(vectors)
    for name, method in METHODS.items():
        if settled(interval, k) or search.budget.over:
            break
        progress(name, 0, 1)
        for bound in method(search, interval):
            narrower = interval.tighten(bound)
            if narrower is not interval and watch is not None:
                watch(narrower)
            interval = narrower
            if settled(interval, k):
                break
    return _stopped(search, interval, limit)


def _stopped(search: _Search, interval: Interval, limit: SearchLimit | None) -> Interval:
    """With the reason why the search ended, and what it would take to go on."""
    if settled(interval, search.k) and interval.lower.level is Level.ASSUMED:
        return replace(interval, stopped="What the lower end rests on is partly read from the log.")
    if interval.decided:
        return replace(interval, stopped=known(None))
    if settled(interval, search.k):
        return replace(interval, stopped=known(search.k))
    begun = [size for size, at in search.weighed.items() if at.begun]
    size = search.k or max([interval.lower.value + 1, *begun])
    weighed = search.weighed.get(size, Weighed(search.budget.left))
    if limit is None:
        why = f"The search of all sets of {size} vectors did not finish."
    else:
        why = limit.fall_short(size, search.price(size), weighed, search.at_work)
    return replace(interval, stopped=why, timed=search.budget.timed)


def _limit(seconds: float | None, work: float | None, kept: float) -> SearchLimit | None:
    if seconds is None or work is None:
        only = work if seconds is None else seconds
        return None if only is None else SearchLimit(only, 0.0 if seconds is None else kept)
    return SearchLimit(min(seconds * (1 - kept), work))


def known(k: int | None) -> str:
    """The sentence for a search that answered the question.

    >>> known(3)
    'Whether every set of 3 is independent is known.'
    """
    what = "The Kruskal rank" if k is None else f"Whether every set of {k} is independent"
    return f"{what} is known."


@dataclass(frozen=True)
class _Search:
    vectors: Vectors
    k: int | None
    budget: Budget
    seed: int
    progress: StageProgress
    sets: Sets
    weighed: dict[int, Weighed] = field(default_factory=dict)  # sizes the budget fell short of
    passed: set[int] = field(default_factory=set)  # sizes left to the search of the next one

    @property
    def threads(self) -> int:
        """Of the cost models: those there are, or two where the clock has no say."""
        return available_threads() if self.budget.timed else 2

    @property
    def at_work(self) -> int:
        """The same, of those that look at all sets: more of them where there is a cluster."""
        return self.sets.threads if self.budget.timed else 2

    def price(self, size: int) -> float:
        """Seconds for all sets of a size. Of them a log may have some: that is time gained, but
        with counted work equal runs must end alike."""
        v = self.vectors
        price = exhaustive.nominal_seconds(v.N, v.d, size, self.at_work)
        left = self.sets.left(size) if self.budget.timed else 1.0
        return price * left if left else 0.0

    def next_size(self, lower: int, upper: int, share: float = 1.0) -> int | None:
        """Of which all sets are best looked at next: the size asked for, where a share of what is
        left affords it."""
        left, tried = self.budget.left, {s for s, at in self.weighed.items() if at.begun}
        if self.k is not None:
            upper = min(upper, self.k)
            if lower < upper == self.k not in tried and self.price(upper) <= share * left:
                return upper
        shape = self.vectors.N, self.vectors.d
        size = exhaustive.next_size(shape, lower, upper, left, self.price, self.passed)
        self.passed.update(range(lower + 1, size or lower))
        size = lower + 1 if size in tried else size
        return None if size in tried else size

    def share(self, interval: Interval) -> float:
        """For a search for witnesses: a fifth of what is left, but not what the next search of all
        sets needs, where that can be had."""
        left, size = self.budget.left, self.within_reach(interval)
        if not left:
            return _LITTLE
        needed = 0.0 if size is None or left == math.inf else SURE * self.price(size) / left
        return max(_LITTLE, min(SHARE, 1 - needed))

    def within_reach(self, interval: Interval) -> int | None:
        """The next size, where all its sets can be looked at with what is left."""
        size = self.next_size(interval.lower.value, interval.upper.value)
        return size if size is not None and self.price(size) <= self.budget.left else None


Method = Callable[[_Search, Interval], Iterable[RankBound]]


def settled(interval: Interval, k: int | None) -> bool:
    """Whether the Kruskal rank, or the answer for k, is known."""
    return interval.decided or (k is not None and interval.answers(k) is not None)


def _rank(search: _Search, interval: Interval) -> Iterator[RankBound]:
    """More vectors than their rank are dependent; N vectors of rank N are independent."""
    v = search.vectors
    found = modular_rank(v.array)
    if found.rank == v.N:
        why = f"The rank of {counted(v.N, 'vector', 'the')} modulo {found.prime} is {v.N}."
        yield RankBound("lower", v.N, "rank", why)
    elif found.rank < min(v.N, v.d):
        other = next(i for i in range(v.N) if i not in set(found.rows))
        witness = v.relation([*found.rows, other])
        if witness is not None:
            yield witnessed(witness, "rank", rank=found.rank)


def _coherence(search: _Search, interval: Interval) -> Iterator[RankBound]:
    price = coherence.nominal_seconds(search.vectors.N, search.vectors.d)
    if search.budget.affords(price):
        search.budget.charge(price)
        bound = coherence.coherence_bound(search.vectors)
        if bound is not None:
            yield bound


def _information_sets(search: _Search, interval: Interval) -> Iterator[RankBound]:
    v = search.vectors
    if 2 * v.d < v.N:
        return
    rank = modular_rank(v.array).rank
    price = information_sets.nominal_seconds(v.N, v.d, rank)
    if information_sets.worth_trying(v.N, rank) and search.budget.affords(price):
        search.budget.charge(price)
        yield from information_sets.information_set_bounds(
            v, upper=interval.upper.value, seed=search.seed
        )


def _supports(search: _Search, interval: Interval) -> Iterator[RankBound]:
    part = search.budget.share(search.share(interval))
    yield from supports.support_bounds(
        search.vectors, interval.upper.value, part, seed=search.seed, progress=search.progress
    )
    search.budget.charge(part.charged)


def _exhaustive(search: _Search, interval: Interval, share: float = 1.0) -> Iterator[RankBound]:
    """One size after another, as long as a share of what is left affords the next."""
    lower, upper = interval.lower.value, interval.upper.value
    if search.k is not None:
        search.weighed.setdefault(search.k, Weighed(search.budget.left))
    while (size := search.next_size(lower, upper, share)) is not None:
        left, price = search.budget.left, search.price(size)
        if price > share * left:
            search.weighed[size] = Weighed(left)
            return
        found = search.sets.decide(
            search.vectors, size, search.budget, search.seed, search.progress
        )
        search.budget.charge(price)
        if found is None:
            search.weighed[size] = Weighed(left, begun=True)
            if search.budget.over:
                return
            continue
        yield found
        if found.end == "upper":
            upper = found.value
        else:
            lower = found.value


def _cheap_sizes(search: _Search, interval: Interval) -> Iterator[RankBound]:
    yield from _exhaustive(search, interval, SHARE)
    for size in [size for size, at in search.weighed.items() if not at.begun]:
        del search.weighed[size]  # what was too dear for a share of the budget is weighed again


def _circuits(search: _Search, interval: Interval, *, later: bool = False) -> Iterator[RankBound]:
    """Bases from a seed of their own, so that a second search does not repeat the first.

    Little of what is left goes to bases that are not likely to show a circuit that is not found,
    or shown not to be there, by looking at all sets.
    """
    v, fraction = search.vectors, 1.0 if later else search.share(interval)
    reached, seconds = search.within_reach(interval), fraction * search.budget.left
    smallest = 1 + (interval.lower.value if reached is None else reached)
    chance = circuits.chance(smallest, v.N, v.d, seconds * search.threads)
    part = search.budget.share(fraction if chance >= _LIKELY else min(fraction, _LITTLE))
    for found in circuits.small_circuits(
        search.vectors,
        below=interval.upper.value + 1,
        budget=part,
        seed=2 * search.seed + later,
        numbers=None if math.isfinite(part.left) else range(_BASES),
        progress=partial(search.progress, "more circuits" if later else "small circuits"),
    ):
        yield witnessed(found.dependency, "circuits", bases=found.bases, outside=found.outside)
    search.budget.charge(part.charged)


METHODS: dict[str, Method] = {
    "parallel": lambda search, _: parallel_bounds(search.vectors),
    "rank": _rank,
    "coherence": _coherence,
    "information sets": _information_sets,
    "small sets": _cheap_sizes,
    "sparse vectors": _supports,
    "small circuits": _circuits,
    "all sets": _exhaustive,
    "more circuits": partial(_circuits, later=True),
}
