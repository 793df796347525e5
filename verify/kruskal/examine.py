"""`attncert kruskal` as a function: vectors and a question in, what is known out.

Two things, kept apart: the interval around the Kruskal rank (*proved* at both ends), and random
subsets, exactly (*sampled*: a fraction, no bound on the rank unless a dependent one is met). Where
the search settles the question there is nothing left to sample, and only subsets that were asked
for by number are drawn. Of a budget in seconds the subsets have what they take, at most a
fourth, and so have bases if asked for; where all that ends depends on the machine. With `work` the
search and the shards are fixed in advance, and so is every result.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from attncert.constructions.brief import in_brief
from attncert.constructions.errors import InputError
from attncert.constructions.progress import StageProgress, silent
from attncert.verify.claims.evidence import Level
from attncert.verify.kruskal.bounds import Bound, Contradiction, Interval, witnessed
from attncert.verify.kruskal.interval import Watch, close, known, settled
from attncert.verify.kruskal.sampling.bases import BasesSearched, BasisSearch
from attncert.verify.kruskal.sampling.draws import sequences
from attncert.verify.kruskal.sampling.jobs import Job, Question, basis_job, sampling_job
from attncert.verify.kruskal.sampling.sampled import Samples, Sweep
from attncert.verify.kruskal.sampling.sizes import SizesAsShards
from attncert.verify.kruskal.sampling.subsets import Sampler
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.rank.engines.devices import choose_device
from attncert.verify.rank.floating import NumericalRank, Robustness, numerical_rank, robustness
from attncert.verify.scale.engine import Cluster
from attncert.verify.scale.log import Log
from attncert.verify.scale.shards import Record

_SHARE = 0.25  # of a budget, at most, for subsets and for bases
_MARGIN, _START = 4.0, 2.0  # times their price, and seconds to begin with
_ROUNDED_SUBSETS = 8
_MOST_FLOAT32 = 1e37  # above it there is no float32 rank to compare with
_ROUNDED_WORK = 10**10  # k^2 d, summed over the subsets whose spectrum is computed


@dataclass(frozen=True)
class Rounding:
    """One sampled subset: exact, numerical in float32, and against the rounding of the data."""

    number: int
    robustness: Robustness
    float32: NumericalRank


@dataclass(frozen=True)
class Findings:
    """What is known.

    interval: proved. sampled, searched: random subsets and bases; None where there were none to
    look at. rounding: of some random subsets, where k is given and the vectors are floats. device,
    seconds: where subsets were tested, and times by stage; for timings.json alone.
    """

    vectors: Vectors
    question: Question
    interval: Interval
    sampled: Samples | Sweep | None
    searched: BasesSearched | None = None
    rounding: tuple[Rounding, ...] = ()
    device: Mapping[str, Any] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)

    def __repr__(self) -> str:
        return in_brief(
            self, self.vectors.name, self.interval, k=self.question.k, answer=self.answer
        )

    @property
    def answer(self) -> bool | None:
        """Is every set of k independent? None: not known, or not asked."""
        return None if self.question.k is None else self.interval.answers(self.question.k)

    @property
    def exit_status(self) -> int:
        """0 the interval, or yes; 1 no, with a witness; 3 undecided."""
        if self.question.k is None:
            return 0
        return {True: 0, False: 1, None: 3}[self.answer]

    @property
    def timed(self) -> bool:
        """Whether the clock has decided where something ended: another run may end elsewhere."""
        shards = [x for x in (self.sampled, self.searched) if x is not None]
        return self.interval.timed or not all(each.complete for each in shards)


def examine(
    vectors: Vectors,
    question: Question,
    *,
    log: Log | None = None,
    cluster: Cluster | None = None,
    progress: StageProgress = silent,
    watch: Watch = lambda interval: None,
) -> Findings:
    """Close the interval, then run the shards, until the budget is used.

    log: where finished shards are kept and found again. cluster: for shards
    (`verify.scale.engine.dask`). watch: called with each narrower interval. Raises InputError, also
    for a log that contradicts what is proved here.

    >>> vectors = Vectors.of([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]])
    >>> found = examine(vectors, Question(k=2, budget=None, work=1.0, subsets=100, device="cpu"))
    >>> found.answer, found.sampled.independent, found.timed
    (True, 100, False)
    """
    question.require(vectors)
    try:
        return _examined(vectors, question, log, cluster, progress, watch)
    except Contradiction:
        if log is None:
            raise
        got = f"one that contradicts what is proved: {log.path}"
        raise InputError("--log", "a log whose records are true", got) from None


def _examined(
    vectors: Vectors,
    question: Question,
    log: Log | None,
    cluster: Cluster | None,
    progress: StageProgress,
    watch: Watch,
) -> Findings:
    sampling = sampling_job(vectors, question, log, cluster)
    bases = basis_job(vectors, question, log, cluster)
    start = time.monotonic()
    interval = close(
        vectors,
        k=question.k,
        budget_s=question.budget,
        kept=_share(sampling, question.budget) + _share(bases, question.budget),
        work=question.work,
        sets=SizesAsShards(vectors, question, log, cluster),
        seed=question.seed,
        progress=progress,
        watch=watch,
    )
    closed = time.monotonic()

    def records(job: Job[Any], jobs: int) -> Collection[Record]:
        """Of as many shards as are done in an equal part of the time that is left."""
        now, deadline = time.monotonic(), None
        if question.budget is not None:
            deadline = now + (start + question.budget - now) / jobs
        return job.run(question, cluster, deadline=deadline, progress=progress).values()

    sampled, searched = None, None
    if sampling is not None and not (settled(interval, question.k) and question.subsets is None):
        drawn = records(sampling, 1 if bases is None else 2)
        sampled = sampling.work.summary(vectors, sampling.plan, drawn)
    if bases is not None:
        searched = bases.work.summary(vectors, bases.plan, records(bases, 1))
    interval = _tightened(interval, _met(sampled, searched), question.k, watch)
    rounding = _rounding(vectors, question)
    seconds = {"interval": closed - start, "shards": time.monotonic() - closed}
    device = choose_device(question.device).as_dict()
    return Findings(vectors, question, interval, sampled, searched, rounding, device, seconds)


def _share(job: Job[Sampler] | Job[BasisSearch] | None, budget: float | None) -> float:
    """The fraction of a budget in seconds that is kept for shards: what they take, at most a
    fourth."""
    if job is None or budget is None:
        return 0.0 if job is None else _SHARE
    price = _MARGIN * job.plan.count * job.work.nominal_seconds() + _START
    return min(_SHARE, price / budget)


def _met(sampled: Samples | Sweep | None, searched: BasesSearched | None) -> Bound | None:
    """The upper bound that a dependent set met by the shards proves."""
    met = [
        witnessed(each.witness, method)
        for each, method in ((sampled, "sampling"), (searched, "circuits"))
        if each is not None and each.witness is not None
    ]
    return min(met, key=lambda bound: bound.value, default=None)


def _tightened(interval: Interval, met: Bound | None, k: int | None, watch: Watch) -> Interval:
    """With what the shards met, which may answer what the search left open."""
    narrower = interval.tighten(met)
    if narrower is interval:
        return interval
    if settled(narrower, k) and narrower.lower.level is not Level.ASSUMED:
        narrower = replace(narrower, stopped=known(None if narrower.decided else k))
    watch(narrower)
    return narrower


def _rounding(vectors: Vectors, question: Question) -> tuple[Rounding, ...]:
    """The first random subsets: as few as keep the work bounded, and none of exact numbers."""
    k = question.k
    if k is None or question.drawn == 0 or vectors.array.dtype.kind != "f":
        return ()
    if float(np.abs(vectors.array).max()) > _MOST_FLOAT32:
        return ()
    count = max(1, min(_ROUNDED_SUBSETS, question.drawn, _ROUNDED_WORK // (k * k * vectors.d)))
    drawn = sequences(vectors.N, k, question.seed, 0, count).tolist()
    return tuple(
        Rounding(
            i, robustness(vectors.array[rows]), numerical_rank(vectors.array[rows], dtype="float32")
        )
        for i, rows in enumerate(drawn)
    )
