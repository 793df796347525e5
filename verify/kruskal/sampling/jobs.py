"""The jobs that a question about the Kruskal rank needs: shards, and their log."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from attncert.constructions.progress import StageProgress, silent
from attncert.verify.installed import version
from attncert.verify.kruskal.sampling.all_sets import AllSets
from attncert.verify.kruskal.sampling.subsets import Sampler
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.questions.kruskal import Kruskal
from attncert.verify.rank.engines.cpu import available_threads
from attncert.verify.scale.engine import Cluster, run
from attncert.verify.scale.log import Log
from attncert.verify.scale.shards import Plan, Record, Shard

_Work = TypeVar("_Work", Sampler, AllSets)


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
