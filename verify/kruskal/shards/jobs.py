"""The jobs of a question about the Kruskal rank: shards of all sets of a size or of random subsets,
logged, resumed, on several processes. Sizes that take less than a second are not cut into shards.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, TypeVar

from attncert.constructions.progress import StageProgress, silent
from attncert.verify.installed import version
from attncert.verify.kruskal.bounds import RankBound
from attncert.verify.kruskal.budget import Budget
from attncert.verify.kruskal.methods import exhaustive
from attncert.verify.kruskal.shards.all_sets import AllSets
from attncert.verify.kruskal.shards.subsets import Sampler
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.questions.kruskal import Kruskal
from attncert.verify.rank.engines.cpu import available_threads
from attncert.verify.scale.engine import Cluster, run, threads_of
from attncert.verify.scale.log import Log
from attncert.verify.scale.shards import Plan, Record, Shard

_Work = TypeVar("_Work", Sampler, AllSets)
_QUICK = 1.0  # seconds of one core: what takes less is not worth a log


@dataclass(frozen=True)
class Job(Generic[_Work]):
    """Work on some vectors, and its shards. finished: the records of those that a log has; keep:
    files another."""

    work: _Work
    vectors: Vectors
    plan: Plan
    finished: Mapping[Shard, Record]
    keep: Callable[[Shard, Record], None]

    @classmethod
    def of(cls, work: _Work, vectors: Vectors, seed: int, log: Log | None) -> Job[_Work]:
        """Raises InputError for a log with records that are none."""
        plan = work.plan(seed)
        if log is None:
            return cls(work, vectors, plan, {}, lambda shard, record: None)
        depends = {"version": version("attncert"), "vectors": vectors.sha256}
        subject = json.dumps(depends | work.settings(seed), sort_keys=True)
        finished = log.finished(subject, plan, partial(work.fits, vectors=vectors))
        return cls(work, vectors, plan, finished, partial(log.add, subject))

    @property
    def logged(self) -> int:
        """Items whose records were read from the log."""
        return sum(shard.count for shard in self.finished)

    def run(
        self,
        jobs: int = 1,
        cluster: Cluster | None = None,
        *,
        deadline: float | None = None,
        enough: Callable[[Record], bool] = lambda record: False,
        progress: StageProgress = silent,
    ) -> dict[Shard, Record]:
        """The shards, or as many as are done before the deadline; `enough` as in `engine.run`."""
        return run(
            self.plan.shards(),
            self.work,
            (self.vectors.array,),
            jobs=jobs,
            cluster=cluster,
            finished=self.finished,
            keep=self.keep,
            deadline=deadline,
            enough=enough,
            progress=lambda _, count, of: progress(self.plan.kind, count, of),
        )


def threads_for(question: Kruskal, cluster: Cluster | None) -> int:
    """CPU threads of a shard: the share of its process, one on a worker of a cluster.

    Threads, processes and device are not part of what a record depends on.
    """
    return max(1, available_threads() // question.jobs) if cluster is None else 1


def sampling_job(
    vectors: Vectors,
    question: Kruskal,
    log: Log | None = None,
    cluster: Cluster | None = None,
) -> Job[Sampler] | None:
    """The random subsets, or permutations."""
    if not question.drawn:
        return None
    sampler = Sampler.of(
        vectors, question.k, question.drawn,
        device=question.device, threads=threads_for(question, cluster),
    )  # fmt: skip
    return Job.of(sampler, vectors, question.seed, log)


@dataclass(frozen=True)
class SetSearch:
    """All sets of one size, by the shards of a question."""

    vectors: Vectors
    question: Kruskal
    log: Log | None = None
    cluster: Cluster | None = None
    jobs: dict[int, Job[AllSets]] = field(default_factory=dict)

    @property
    def threads(self) -> int:
        """That are at work on one size."""
        return threads_of(self.cluster)

    def missing(self, k: int) -> float:
        """The part of the pieces, 0 to 1, that the log does not have."""
        job = None if self.log is None else self._job(k)
        return 1.0 if job is None else 1 - job.logged / job.plan.count

    def decide(self, k: int, budget: Budget, progress: StageProgress) -> RankBound | None:
        """What they prove; None where the budget is over first, or they could not be decided."""
        job = self._job(k)
        if job is None:
            return exhaustive.decide(
                self.vectors, k,
                seed=self.question.seed, progress=progress, stop=lambda: budget.over,
            ).bound()  # fmt: skip
        records = job.run(
            self.question.jobs, self.cluster,
            deadline=time.monotonic() + budget.remaining if budget.timed else None,
            enough=_shows_a_circuit, progress=progress,
        )  # fmt: skip
        return job.work.bound(self.vectors, job.plan, records.values(), job.logged)

    def _job(self, k: int) -> Job[AllSets] | None:
        N, d = self.vectors.array.shape
        if not 3 <= k <= min(N, d) or exhaustive.nominal_seconds(N, d, k, threads=1) < _QUICK:
            return None
        if k not in self.jobs:
            sets = AllSets.of(self.vectors, k, threads=threads_for(self.question, self.cluster))
            self.jobs[k] = Job.of(sets, self.vectors, self.question.seed, self.log)
        return self.jobs[k]


def _shows_a_circuit(record: Record) -> bool:
    return record["circuit"] is not None
