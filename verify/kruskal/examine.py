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
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from attncert.constructions.brief import in_brief
from attncert.constructions.errors import InputError
from attncert.constructions.progress import StageProgress, silent
from attncert.verify.claims.evidence import Level
from attncert.verify.kruskal.bounds import Bound, Interval, witnessed
from attncert.verify.kruskal.interval import Watch, close, known, settled
from attncert.verify.kruskal.sampling.all_sets import (
    SETS,
    AllSets,
    SetsSearched,
    sets_of,
)
from attncert.verify.kruskal.sampling.bases import BASES, BasesSearched, searched_of
from attncert.verify.kruskal.sampling.draws import sequences
from attncert.verify.kruskal.sampling.jobs import Job, Question, jobs_of, run_job
from attncert.verify.kruskal.sampling.sampled import Samples, Sweep
from attncert.verify.kruskal.sampling.sizes import SizesAsShards
from attncert.verify.kruskal.sampling.subsets import sampled_of
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.rank.engines.devices import choose_device
from attncert.verify.rank.floating import NumericalRank, Robustness, numerical_rank, robustness
from attncert.verify.scale.engine import Cluster
from attncert.verify.scale.log import ShardLog

_SHARE = 0.25  # of a budget, at most, for subsets and for bases
_MARGIN, _START = 4.0, 2.0  # times their price, and seconds to begin with
_SETS_SHARE = 0.45  # so that something is left for the search, and for subsets and bases
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

    interval: proved. sampled, searched, sets: subsets, bases and all sets of k as shards; None
    where none were asked for, or nothing was left to ask. rounding: of some random subsets, where k
    is given and the vectors are floats. device, seconds: where subsets were tested, and times by
    stage; for timings.json alone.
    """

    vectors: Vectors
    question: Question
    interval: Interval
    sampled: Samples | Sweep | None
    searched: BasesSearched | None = None
    sets: SetsSearched | None = None
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
        shards = [x for x in (self.sampled, self.searched, self.sets) if x is not None]
        return self.interval.timed or not all(found.complete for found in shards)


def examine(
    vectors: Vectors,
    question: Question,
    *,
    log: ShardLog | None = None,
    cluster: Cluster | None = None,
    progress: StageProgress = silent,
    watch: Watch = lambda interval: None,
) -> Findings:
    """Close the interval, then run the shards, until the budget is used.

    log: where finished shards are kept and found again. cluster: for shards
    (`verify.scale.engine.dask`). watch: called with each narrower interval. Raises InputError.

    >>> vectors = Vectors.of([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]])
    >>> found = examine(vectors, Question(k=2, budget=None, work=1.0, subsets=100, device="cpu"))
    >>> found.answer, found.sampled.independent, found.timed
    (True, 100, False)
    """
    question.require(vectors)
    jobs = jobs_of(vectors, question, cluster)
    jobs.sort(key=lambda job: job.plan.kind != SETS)  # what may settle the question goes first
    start = time.monotonic()
    logged = frozenset() if log is None else frozenset(log.finished)
    interval = close(
        vectors,
        k=question.k,
        budget_s=question.budget,
        kept=_kept(jobs, question.budget),
        work=question.work,
        sets=None if question.all_sets else SizesAsShards.of(vectors, question, log, cluster),
        seed=question.seed,
        progress=progress,
        watch=watch,
    )
    closed = time.monotonic()
    sampled, searched, sets = None, None, None
    for left, job in zip(range(len(jobs), 0, -1), jobs, strict=True):
        if settled(interval, question.k) and _needless(job, question):
            continue
        limit = None
        if question.budget is not None:
            end = start + question.budget
            limit = time.monotonic() + (end - time.monotonic()) / left
            if job.plan.kind == SETS:
                limit = end - _kept(jobs[1:], question.budget) * question.budget
        results = run_job(
            job, vectors, question, log=log, cluster=cluster, deadline=limit, progress=progress
        )
        bound = None
        if job.plan.kind == BASES:
            searched = searched_of(job.plan, job.settings, results)
        elif job.plan.kind == SETS:
            sets = sets_of(job.plan, job.settings, results, logged)
            bound = sets.bound
        else:
            sampled = sampled_of(job.plan, job.settings, results)
        interval = _tightened(interval, bound, question.k, watch)
    interval = _tightened(interval, _met(vectors, sampled, searched), question.k, watch)
    rounding = _rounding(vectors, question)
    seconds = {"interval": closed - start, "shards": time.monotonic() - closed}
    device = choose_device(question.device)
    return Findings(
        vectors, question, interval, sampled, searched, sets, rounding, device.as_dict(), seconds
    )


def _kept(jobs: list[Job], budget: float | None) -> float:
    """The fraction of a budget in seconds that is kept for shards: what they take, at most a
    fourth for subsets, another for bases, and nearly half for all sets."""
    return sum(map(partial(_share, budget=budget), jobs))


def _share(job: Job, budget: float | None) -> float:
    if isinstance(job.work, AllSets):
        return _SETS_SHARE
    price = _MARGIN * job.plan.count * job.work.nominal_seconds() + _START
    return _SHARE if budget is None else min(_SHARE, price / budget)


def _needless(job: Job, question: Question) -> bool:
    """Whether there is nothing left to ask of it once the question is settled."""
    return job.plan.kind == SETS or (job.plan.kind != BASES and question.subsets is None)


def _met(
    vectors: Vectors, sampled: Samples | Sweep | None, searched: BasesSearched | None
) -> Bound | None:
    """The upper bound that a dependent set met by the shards proves."""
    met = [
        witnessed(found.witness.circuit(vectors), method)
        for found, method in ((sampled, "sampling"), (searched, "circuits"))
        if found is not None and found.witness is not None
    ]
    return min(met, key=lambda bound: bound.value, default=None)


def _tightened(interval: Interval, met: Bound | None, k: int | None, watch: Watch) -> Interval:
    """With what the shards met, which may answer what the search left open."""
    try:
        narrower = interval.tighten(met)
    except ArithmeticError:
        if interval.lower.level is not Level.ASSUMED or met is None or met.dependency is None:
            raise
        got = f"one that hides {met.dependency.size} of them"
        raise InputError("--log", "a log that names all sets that are dependent", got) from None
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
