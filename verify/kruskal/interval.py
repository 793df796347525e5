"""The Kruskal rank from both sides, by methods from cheap to expensive.

Computing the Kruskal rank is NP-hard, so the answer is an interval. Every bound is proved; the
budget only decides how close the ends come.

`prove` asks of its queries whether every set of k vectors is independent, within counted work. The
work is nominal (`budget`), so that equal runs end alike on every machine. Going through all sets
has a price that is known in advance. Where the work covers it the question is answered; where it
does not, a tenth of the work goes to what may answer it at a lower price: the methods that list no
sets, and the searches for a dependent one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial

from attncert.constructions.progress import StageProgress, silent
from attncert.verify.claims.evidence import Level
from attncert.verify.claims.words import counted
from attncert.verify.kruskal.bounds import Interval, RankBound, witnessed
from attncert.verify.kruskal.budget import CORES, MOST, SHARE, SURE, Budget, two_digits_up
from attncert.verify.kruskal.methods import (
    circuits,
    coherence,
    exhaustive,
    information_sets,
    supports,
)
from attncert.verify.kruskal.methods.parallel import parallel_bounds
from attncert.verify.kruskal.shards.jobs import decide_all
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.questions.kruskal import Kruskal
from attncert.verify.rank.modular import modular_rank
from attncert.verify.scale.engine import Cluster
from attncert.verify.scale.log import Log

_LIKELY, _LITTLE = 0.01, 0.01  # a chance; and of what is left, what less likely searches have

_MARGIN = 1.1  # searches for witnesses end a little after their share
_BY_LUCK = 0.01  # of the work, where it does not cover all sets

Watch = Callable[[Interval], None]


def close(
    vectors: Vectors,
    question: Kruskal,
    *,
    log: Log | None = None,
    cluster: Cluster | None = None,
    progress: StageProgress = silent,
    watch: Watch = lambda interval: None,
) -> Interval:
    """The narrowest interval around the Kruskal rank within the question's work.

    question: with k (1 <= k <= min(N, d)) the search ends when `Interval.answers(k)` is known. Its
        seed decides which sets are met, never whether a bound is true.
    log, cluster: of the searches of all sets of one size.
    progress: called as progress(stage, done, of); watch: called with each narrower interval.

    >>> vectors = Vectors.of([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1], [1, 2, 0]])
    >>> interval = close(vectors, Kruskal())
    >>> interval.lower.value, interval.upper.value, interval.upper.dependency.indices
    (2, 2, (0, 1, 4))
    """
    search = _Search(vectors, question, log, cluster, Budget(question.work), progress)
    interval = Interval.trivial(vectors)
    for name, method in METHODS.items():
        if settled(interval, question.k) or search.budget.over:
            break
        progress(name, 0, 1)
        for bound in method(search, interval):
            narrower = interval.tighten(bound)
            if narrower is not interval:
                watch(narrower)
            interval = narrower
            if settled(interval, question.k):
                break
    return _stopped(search, interval)


def _stopped(search: _Search, interval: Interval) -> Interval:
    """With the reason why the search ended, and what it would take to go on."""
    k = search.question.k
    if settled(interval, k) and interval.lower.level is Level.ASSUMED:
        return replace(interval, stopped="The lower end is assumed, not known.")
    if interval.decided:
        return replace(interval, stopped=known(None))
    if settled(interval, k):
        return replace(interval, stopped=known(k))
    size = k or max([interval.lower.value + 1, *search.begun])
    remaining = search.weighed.get(size, search.budget.remaining)
    why = search.budget.shortage(size, search.price(size), remaining, size in search.begun)
    return replace(interval, stopped=why)


def known(k: int | None) -> str:
    """The sentence for a search that answered the question.

    >>> known(3)
    'Whether every set of 3 is independent is known.'
    """
    what = "The Kruskal rank" if k is None else f"Whether every set of {k} is independent"
    return f"{what} is known."


@dataclass(frozen=True)
class _Search:
    """weighed: sizes that the budget fell short of, with the seconds left then; begun: those whose
    search did not end."""

    vectors: Vectors
    question: Kruskal
    log: Log | None
    cluster: Cluster | None
    budget: Budget
    progress: StageProgress
    weighed: dict[int, float] = field(default_factory=dict)
    begun: set[int] = field(default_factory=set)

    def price(self, size: int) -> float:
        """Nominal seconds for all sets of a size, those in the log too: equal runs end alike."""
        return exhaustive.nominal_seconds(self.vectors.N, self.vectors.d, size)

    def next_size(self, lower: int, upper: int, share: float = 1.0) -> int | None:
        """The size whose sets are best looked at next: the k of the question, where a share of
        what remains affords it."""
        remaining, k = self.budget.remaining, self.question.k
        if k is not None:
            upper = min(upper, k)
            if lower < upper == k not in self.begun and self.price(upper) <= share * remaining:
                return upper
        size = exhaustive.next_size(self.vectors.array.shape, lower, upper, remaining)
        size = lower + 1 if size in self.begun else size
        return None if size in self.begun else size

    def share(self, interval: Interval) -> float:
        """For a search for witnesses: a fifth of what remains, but not what the next search of all
        sets needs, where that can be had."""
        remaining, size = self.budget.remaining, self.within_reach(interval)
        if not remaining:
            return _LITTLE
        needed = 0.0 if size is None else SURE * self.price(size) / remaining
        return max(_LITTLE, min(SHARE, 1 - needed))

    def within_reach(self, interval: Interval) -> int | None:
        """The next size, where all its sets can be looked at with what is left."""
        size = self.next_size(interval.lower.value, interval.upper.value)
        return size if size is not None and self.price(size) <= self.budget.remaining else None


Method = Callable[[_Search, Interval], Iterable[RankBound]]


def settled(interval: Interval, k: int | None) -> bool:
    """Whether the Kruskal rank, or the answer for k, is known."""
    return interval.decided or (k is not None and interval.answers(k) is not None)


def _rank(search: _Search, interval: Interval) -> Iterator[RankBound]:
    """More vectors than their rank are dependent; N vectors of rank N are independent."""
    v = search.vectors
    modular = modular_rank(v.array)
    if modular.rank == v.N:
        why = f"The rank of {counted(v.N, 'vector', 'the')} modulo {modular.prime} is {v.N}."
        yield RankBound("lower", v.N, "rank", why)
    elif modular.rank < min(v.N, v.d):
        other = next(i for i in range(v.N) if i not in set(modular.rows))
        relation = v.relation([*modular.rows, other])
        if relation is not None:
            yield witnessed(relation, "rank", rank=modular.rank)


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
            v, upper=interval.upper.value, seed=search.question.seed
        )


def _supports(search: _Search, interval: Interval) -> Iterator[RankBound]:
    part = search.budget.share(search.share(interval))
    yield from supports.support_bounds(
        search.vectors,
        interval.upper.value,
        part,
        seed=search.question.seed,
        progress=search.progress,
    )
    search.budget.charge(part.charged)


def _exhaustive(search: _Search, interval: Interval, share: float = 1.0) -> Iterator[RankBound]:
    """One size after another, as long as a share of what remains affords the next."""
    lower, upper = interval.lower.value, interval.upper.value
    if search.question.k is not None:
        search.weighed.setdefault(search.question.k, search.budget.remaining)
    while (size := search.next_size(lower, upper, share)) is not None:
        remaining, price = search.budget.remaining, search.price(size)
        if price > share * remaining:
            search.weighed[size] = remaining
            return
        bound = decide_all(
            search.vectors, size, search.question, search.log, search.cluster, search.progress
        )
        search.budget.charge(price)
        if bound is None:
            search.weighed[size] = remaining
            search.begun.add(size)
            if search.budget.over:
                return
            continue
        yield bound
        if bound.end == "upper":
            upper = bound.value
        else:
            lower = bound.value


def _cheap_sizes(search: _Search, interval: Interval) -> Iterator[RankBound]:
    yield from _exhaustive(search, interval, SHARE)
    for size in set(search.weighed) - search.begun:
        del search.weighed[size]  # what was too dear for a share of the budget is weighed again


def _circuits(search: _Search, interval: Interval, *, later: bool = False) -> Iterator[RankBound]:
    """Bases from a seed of their own, so that a second search does not repeat the first.

    Little of what is left goes to bases that are not likely to show more than all sets will.
    """
    v, fraction = search.vectors, 1.0 if later else search.share(interval)
    reached, seconds = search.within_reach(interval), fraction * search.budget.remaining
    smallest = 1 + (interval.lower.value if reached is None else reached)
    chance = circuits.chance(smallest, v.N, v.d, seconds * CORES)
    part = search.budget.share(fraction if chance >= _LIKELY else min(fraction, _LITTLE))
    yield from circuits.small_circuits(
        search.vectors,
        below=interval.upper.value + 1,
        budget=part,
        seed=2 * search.question.seed + later,
        progress=partial(search.progress, "more circuits" if later else "small circuits"),
    )
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


def decide_within(
    vectors: Vectors, k: int, work: float, seed: int = 0, progress: StageProgress = silent
) -> RankBound | None:
    """What answers whether every k of the vectors are independent: a lower bound of k or more, or
    an upper bound below k with its witness. None where so much work does not settle it.

    work: nominal seconds, at least 0. Arithmetic and levels: those of the bound. A k that is not
    from 1 to min(N, d) is not asked.

    >>> vectors = Vectors.of([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1], [1, 2, 0]])
    >>> decide_within(vectors, 2, 1.0).value, decide_within(vectors, 3, 1.0).dependency.indices
    (2, (0, 1, 4))
    >>> decide_within(vectors, 3, 0.0) is None
    True
    """
    if not (work and 1 <= k <= min(vectors.N, vectors.d)):
        return None
    part = work if work_needed(vectors, k) <= work else work * _BY_LUCK
    interval = close(vectors, Kruskal(k=k, work=part, seed=seed), progress=progress)
    independent = interval.answers(k)
    if independent is None:
        return None
    return interval.lower if independent else interval.upper


def work_needed(vectors: Vectors, k: int) -> float:
    """Nominal seconds with which `close` comes to the end of all sets of k, two digits, rounded up;
    infinite where no command line takes so many.

    Before it begins, both searches for witnesses take their share, and the methods that list
    nothing and all smaller sizes their price at most.

    >>> queries = Vectors.of([[1, t, t**2, t**3] for t in range(60)])
    >>> work_needed(queries, 4)
    0.0082
    """
    N, d = vectors.N, vectors.d
    prices = [coherence.nominal_seconds(N, d), information_sets.nominal_seconds(N, d, min(N, d))]
    prices += [exhaustive.nominal_seconds(N, d, size) for size in range(1, k + 1)]
    needed = _MARGIN * sum(prices) / (1 - SHARE) ** 2
    if needed > MOST:
        return math.inf
    return float(f"{two_digits_up(needed):.2g}")
