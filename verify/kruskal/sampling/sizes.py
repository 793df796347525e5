"""The interval's search of all sets of one size, as shards: logged, resumed, on several processes.

Sizes that take less than a second are not cut into shards.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from attncert.constructions.progress import StageProgress
from attncert.verify.kruskal.bounds import RankBound
from attncert.verify.kruskal.budget import Budget
from attncert.verify.kruskal.methods import exhaustive
from attncert.verify.kruskal.sampling.all_sets import AllSets
from attncert.verify.kruskal.sampling.jobs import Job, threads_for
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.questions.kruskal import Kruskal
from attncert.verify.scale.engine import Cluster, threads_of
from attncert.verify.scale.log import Log
from attncert.verify.scale.shards import Record

_QUICK = 1.0  # seconds of one core: what takes less is not worth a log


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
