"""The jobs of a question about the Kruskal rank: shards of all sets of a size or of random subsets,
which can be logged, resumed and run on many cores. Sizes that take less than a second are not
divided into shards.

Records of a log or a cluster are checked for their form and counts, and one record is computed
again. Which one depends on all records, so that equal runs end alike. Bounds that rest on
unverified records are marked as assumed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from attncert.constructions.progress import StageProgress, silent
from attncert.verify.certificates.installed import version
from attncert.verify.kruskal.bounds import RankBound
from attncert.verify.kruskal.methods import exhaustive
from attncert.verify.kruskal.shards.all_sets import AllSets
from attncert.verify.kruskal.shards.subsets import Sampler
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.questions.kruskal import Kruskal
from attncert.verify.rank.engines.devices import DeviceChoice, choose_device
from attncert.verify.sharding.engine import Cluster, repeated, run, untrue
from attncert.verify.sharding.log import Log
from attncert.verify.sharding.shards import Plan, Record, Shard

_Work = TypeVar("_Work", Sampler, AllSets)
_QUICK = 1.0  # seconds on one core; shorter searches are not logged


@dataclass(frozen=True)
class Job(Generic[_Work]):
    """A job: work on some vectors, and its shards. finished: the records in a log, by shard. keep:
    stores a further record. threads: the number of threads; None for all cores."""

    work: _Work
    vectors: Vectors
    plan: Plan
    finished: Mapping[Shard, Record]
    keep: Callable[[Shard, Record], None]
    threads: int | None = None

    @classmethod
    def of(
        cls, work: _Work, vectors: Vectors, seed: int, log: Log | None, threads: int | None = None
    ) -> Job[_Work]:
        """The job. Raises InputError for a log whose records do not fit."""
        plan = work.plan(seed)
        if log is None:
            return cls(work, vectors, plan, {}, lambda shard, record: None, threads)
        depends = {"version": version("attncert"), "vectors": vectors.sha256}
        subject = json.dumps(depends | work.settings(seed), sort_keys=True)
        finished = log.finished(subject, plan, partial(work.fits, vectors))
        return cls(work, vectors, plan, finished, partial(log.add, subject), threads)

    def run(
        self,
        cluster: Cluster | None = None,
        *,
        enough: Callable[[Record], bool] = lambda record: False,
        progress: StageProgress = silent,
    ) -> tuple[dict[Shard, Record], str]:
        """The records of all shards, and a sentence on the records that were not computed here.
        enough: as in `engine.run`. Raises InputError if a record differs when it is computed
        again."""
        records = run(
            self.plan.shards(),
            self.work,
            (self.vectors.array,),
            threads=self.threads,
            cluster=cluster,
            finished=self.finished,
            fits=partial(self.work.fits, self.vectors),
            keep=self.keep,
            enough=enough,
            progress=lambda _, count, of: progress(self.plan.kind, count, of),
        )
        foreign = [shard for shard in records if cluster is not None or shard in self.finished]
        return records, self._taken(records, foreign) if foreign else ""

    def _taken(self, records: Mapping[Shard, Record], foreign: Sequence[Shard]) -> str:
        """A sentence on the records from elsewhere, after one of them has been confirmed."""
        again, same = repeated(records, foreign, self.work, (self.vectors.array,))
        if not same:
            source = "log" if again in self.finished else "dask"
            raise untrue(source, "one that differs from what is computed here")
        sources = [
            "the log" if self.finished else "",
            "Dask workers" if len(foreign) > len(self.finished) else "",
        ]
        return (
            f"{sum(shard.count for shard in foreign):,} of the {self.plan.count:,} "
            f"{self.work.items} were taken from {' and '.join(filter(None, sources))}; "
            f"{again.count:,} of them were computed again here, with the same result."
        )


def sampling_job(
    vectors: Vectors,
    k: int,
    count: int,
    *,
    seed: int,
    device: DeviceChoice = "cpu",
    log: Log | None = None,
) -> Job[Sampler]:
    """The job of drawing `count` random subsets of k vectors."""
    sampler = Sampler.of(vectors, k, count, device=device)
    on_gpu = choose_device(device).kind == "cuda"  # one thread keeps the GPU busy
    return Job.of(sampler, vectors, seed, log, threads=1 if on_gpu else None)


def decide_all(
    vectors: Vectors,
    k: int,
    question: Kruskal,
    log: Log | None,
    cluster: Cluster | None,
    progress: StageProgress,
) -> RankBound | None:
    """The bound that the search of all sets of k proves, 1 <= k <= min(N, d), or None."""
    N, d = vectors.array.shape
    if k <= 2 or exhaustive.nominal_seconds(N, d, k, threads=1) < _QUICK:
        return exhaustive.decide(vectors, k, seed=question.seed, progress=progress)
    job = Job.of(AllSets.of(vectors, k), vectors, question.seed, log)
    records, assumed = job.run(
        cluster, enough=lambda record: record["circuit"] is not None, progress=progress
    )
    return job.work.bound(vectors, job.plan, records.values(), assumed)
