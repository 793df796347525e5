"""The interval's search of all sets of one size, as shards: logged, resumed, on several processes.

Sizes that take less than a second, or more than any budget, are looked at as without a log.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from attncert.constructions.progress import StageProgress
from attncert.verify.kruskal.bounds import Bound
from attncert.verify.kruskal.budget import Budget
from attncert.verify.kruskal.interval import HERE
from attncert.verify.kruskal.sampling.all_sets import sets_of
from attncert.verify.kruskal.sampling.jobs import Job, Question, run_job, size_jobs
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.scale.engine import Cluster
from attncert.verify.scale.log import ShardLog
from attncert.verify.scale.shards import Result, Shard


@dataclass(frozen=True)
class SizesAsShards:
    """`interval.Sets` by the shards of a question. logged: those that were read from the log."""

    question: Question
    jobs: dict[int, Job]
    log: ShardLog | None
    cluster: Cluster | None
    logged: frozenset[Shard]

    @classmethod
    def of(
        cls, vectors: Vectors, question: Question, log: ShardLog | None, cluster: Cluster | None
    ) -> SizesAsShards:
        logged = frozenset[Shard]() if log is None else frozenset(log.finished)
        return cls(question, size_jobs(vectors, question, cluster), log, cluster, logged)

    def left(self, k: int) -> float:
        """Which part of the pieces the log does not have."""
        if k not in self.jobs or self.log is None:
            return 1.0
        plan = self.jobs[k].plan
        done = (shard for shard in self.log.finished if plan.has(shard))
        return 1 - sum(shard.stop - shard.start for shard in done) / plan.count

    def decide(
        self, vectors: Vectors, k: int, budget: Budget, seed: int, progress: StageProgress
    ) -> Bound | None:
        if k not in self.jobs:
            return HERE.decide(vectors, k, budget, seed, progress)
        job = self.jobs[k]
        deadline = time.monotonic() + budget.left if budget.timed else None
        results = run_job(
            job, vectors, self.question, log=self.log, cluster=self.cluster,
            deadline=deadline, enough=_shows_a_circuit, progress=progress,
        )  # fmt: skip
        return sets_of(job.plan, job.settings, results, self.logged).bound


def _shows_a_circuit(result: Result) -> bool:
    return result["witness"] is not None
