"""The Kruskal rank, bounded from both sides by methods tried in order of cost.

Computing the Kruskal rank is NP-hard, so the answer is an interval. Every bound is proved; the
budget determines only how close together the ends are.

`prove` asks whether every set of k queries is independent, within a limit on the work. The work is
nominal (`budget`), so that identical runs give the same result on every machine. The cost of
searching all sets is known in advance. If the limit covers this cost, the question is answered; if
not, a hundredth of the work goes to methods that may answer it more cheaply.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial

from attncert.constructions.progress import StageProgress, say, silent
from attncert.verify.claims.evidence import Level
from attncert.verify.claims.words import counted
from attncert.verify.kruskal.bounds import Interval, RankBound, witnessed
from attncert.verify.kruskal.budget import Budget
from attncert.verify.kruskal.methods import (
    circuits,
    coherence,
    exhaustive,
    graphs,
    middle,
    supports,
)
from attncert.verify.kruskal.shards.jobs import decide_all
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.questions.kruskal import Kruskal
from attncert.verify.questions.question import written
from attncert.verify.rank.modular import modular_rank
from attncert.verify.sharding.engine import Cluster

_SPARSE = 0.2  # the share of the budget for circuits of sparse vectors
_MARGIN = 1.16  # allows for circuit searches above their share and for rounding to two digits
_BY_LUCK = 0.01  # the share of work for quicker methods, if the limit does not cover all sets
_MOST = 10**7  # the largest number of nominal seconds that a command line accepts


def close(
    vectors: Vectors,
    question: Kruskal,
    *,
    cluster: Cluster | None = None,
    progress: StageProgress = silent,
) -> Interval:
    """The narrowest interval around the Kruskal rank found within the work limit.

    question: if it gives k (1 <= k <= min(N, d)), the search ends when `Interval.answers(k)` is
    known. Its seed determines which sets are found, but never whether a bound is true.
    cluster: used by the searches over all sets of one size. progress: a callback progress(stage,
    done, of), which shows a line for each narrower interval.

    >>> vectors = Vectors.of([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1], [1, 2, 0]])
    >>> interval = close(vectors, Kruskal())
    >>> interval.lower.value, interval.upper.value, interval.upper.dependency.indices
    (2, 2, (0, 1, 4))
    """
    search = _Search(vectors, question, cluster, Budget(question.work), progress)
    interval = Interval.trivial(vectors)
    for name, method in METHODS.items():
        if settled(interval, question.k) or not search.budget.remaining:
            break
        progress(name, 0, 1)
        for bound in method(search, interval):
            narrower = interval.tighten(bound)
            if narrower is not interval:
                say(progress, narrower.line())
            interval = narrower
            if settled(interval, question.k):
                break
    return replace(interval, stopped=_stopped(search, interval))


def _stopped(search: _Search, interval: Interval) -> str:
    """One or two sentences that say why the search ended and which limit would let it continue.

    >>> vectors = Vectors.of([[x**j for j in range(8)] for x in range(1, 301)])
    >>> print(close(vectors, Kruskal(work=0.5)).stopped)
    The limit of 0.5 s stopped the search: all sets of 5 vectors take about 2 s on two free cores. \
A limit of 3 s should suffice.
    """
    k = search.question.k
    if settled(interval, k):
        if interval.lower.level is Level.ASSUMED:
            return "The lower end is assumed, not known."
        return known(None if interval.decided else k)
    size = k or interval.lower.value + 1
    if size in search.failed:
        return f"Too many sets of {size} vectors are dependent modulo small primes to be decided."
    price, enough = search.price(size), work_needed(search.vectors, size)
    about = f"about {price:.2g}" if math.isfinite(price) else "over 1e308"
    advice = f"A limit of {written(enough)} s should" if math.isfinite(enough) else "No limit would"
    return (
        f"The limit of {written(search.budget.work)} s stopped the search: all sets of {size} "
        f"vectors take {about} s on two free cores. {advice} suffice."
    )


def known(k: int | None) -> str:
    """The sentence that says that the search answered the question."""
    if k is None:
        return "The Kruskal rank is known."
    return f"It is known whether every set of {k} is independent."


@dataclass(frozen=True)
class _Search:
    """A search. failed: sizes whose sets were searched without an answer."""

    vectors: Vectors
    question: Kruskal
    cluster: Cluster | None
    budget: Budget
    progress: StageProgress
    failed: set[int] = field(default_factory=set)

    def price(self, size: int) -> float:
        """The nominal seconds that a search of all sets of this size takes."""
        return exhaustive.nominal_seconds(self.vectors.N, self.vectors.d, size)

    def next_size(self, lower: int, upper: int) -> int | None:
        """The size whose sets are searched next: the k of the question if the budget allows it,
        otherwise the smallest undecided size. Size 6 is searched before 5 if the budget allows it,
        since `middle` decides it at a similar cost and assumes nothing about smaller sets."""
        sizes = [lower + 1]
        if lower == 4 and upper > 5 and middle.worth_trying(6, self.vectors.N, self.vectors.d):
            sizes.insert(0, 6)
        if self.question.k is not None:
            sizes = [self.question.k, *(size for size in sizes if size < self.question.k)]
        sizes = [size for size in sizes if size <= upper and size not in self.failed]
        return next((size for size in sizes if self.price(size) <= self.budget.remaining), None)


Method = Callable[[_Search, Interval], Iterable[RankBound]]


def settled(interval: Interval, k: int | None) -> bool:
    """Whether the Kruskal rank, or the answer for k, is known."""
    return interval.decided or (k is not None and interval.answers(k) is not None)


def _rank(search: _Search, interval: Interval) -> Iterator[RankBound]:
    """Bounds from the rank r: any r + 1 vectors are dependent; N vectors of rank N are
    independent."""
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


def _graph(search: _Search, interval: Interval) -> Iterator[RankBound]:
    """Bounds if the vectors are the edges of a graph. The budget is not charged: either the search
    ends here, or the vectors are quickly found not to be such edges."""
    price = graphs.nominal_seconds(search.vectors.N, search.vectors.d)
    if price <= search.budget.remaining and graphs.two_entries(search.vectors):
        yield from graphs.graph_bounds(search.vectors)


def _coherence(search: _Search, interval: Interval) -> Iterator[RankBound]:
    price = coherence.nominal_seconds(search.vectors.N, search.vectors.d)
    if price <= search.budget.remaining:
        search.budget.charge(price)
        bound = coherence.coherence_bound(search.vectors)
        if bound is not None and bound.value > 2:  # a search of all pairs proves 2 exactly
            yield bound


def _supports(search: _Search, interval: Interval) -> Iterator[RankBound]:
    part, upper = Budget(_SPARSE * search.budget.remaining), interval.upper.value
    yield from supports.support_bounds(
        search.vectors, upper, part, seed=search.question.seed, progress=search.progress
    )
    search.budget.charge(part.charged)


def _all_sets(search: _Search, interval: Interval) -> Iterator[RankBound]:
    """Bounds from searching all sets, size by size, as long as the budget allows the next size."""
    lower, upper = interval.lower.value, interval.upper.value
    while (size := search.next_size(lower, upper)) is not None:
        bound = decide_all(search.vectors, size, search.question, search.cluster, search.progress)
        search.budget.charge(search.price(size))
        if bound is None:
            search.failed.add(size)
            continue
        yield bound
        if bound.end == "upper":
            upper = bound.value
        else:
            lower = bound.value


def _circuits(search: _Search, interval: Interval) -> Iterator[RankBound]:
    yield from circuits.small_circuits(
        search.vectors,
        below=interval.upper.value + 1,
        budget=search.budget,
        seed=search.question.seed,
        progress=partial(search.progress, "small circuits"),
    )


METHODS: dict[str, Method] = {
    "rank": _rank,
    "graph": _graph,
    "coherence": _coherence,
    "sparse vectors": _supports,
    "all sets": _all_sets,
    "small circuits": _circuits,
}


def decide_within(
    vectors: Vectors, k: int, work: float, seed: int = 0, progress: StageProgress = silent
) -> RankBound | None:
    """The bound that decides whether every set of k vectors is independent: a lower bound of k or
    more, or an upper bound below k with its witness. None if this amount of work does not decide
    it.

    work: nominal seconds, at least 0. k: from 1 to min(N, d). The bound states its level.

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
    """The nominal seconds, to two digits, that `close` needs to search all sets of k vectors;
    infinite if the number is larger than the command line accepts.

    The search for circuits of sparse vectors takes its share first; then coherence and all smaller
    sizes take at most their estimated costs.

    >>> queries = Vectors.of([[1, t, t**2, t**3] for t in range(60)])
    >>> work_needed(queries, 4)
    0.0052
    """
    N, d = vectors.N, vectors.d
    prices = [exhaustive.nominal_seconds(N, d, size) for size in range(1, k + 1)]
    needed = _MARGIN * (coherence.nominal_seconds(N, d) + sum(prices)) / (1 - _SPARSE)
    if needed > _MOST:
        return math.inf
    return float(f"{needed:.2g}")
