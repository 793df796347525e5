"""The jobs for a question about the Kruskal rank: shards of all sets of one size or of random
subsets, run on many cores. Sizes that take less than a second are not divided into shards.

Records from a cluster are checked for their form and counts, and one record is recomputed. The
choice of this record depends on all records, so that identical runs give the same result. Bounds
that rest on unverified records are marked as assumed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from attncert.constructions.progress import StageProgress, silent
from attncert.verify.kruskal.bounds import RankBound
from attncert.verify.kruskal.methods import exhaustive
from attncert.verify.kruskal.shards.all_sets import AllSets
from attncert.verify.kruskal.shards.subsets import Sampler
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.questions.kruskal import Kruskal
from attncert.verify.rank.engines.devices import DeviceChoice, choose_device
from attncert.verify.sharding.engine import Cluster, repeated, run, untrue
from attncert.verify.sharding.shards import Plan, Record, Shard

_Work = TypeVar("_Work", Sampler, AllSets)
_QUICK = 1.0  # seconds on one core; shorter searches are not divided


@dataclass(frozen=True)
class Job(Generic[_Work]):
    """A job: work on some vectors, and its shards. threads: the number of threads; None for all
    cores."""

    work: _Work
    vectors: Vectors
    plan: Plan
    threads: int | None = None

    def run(
        self,
        cluster: Cluster | None = None,
        *,
        enough: Callable[[Record], bool] = lambda record: False,
        progress: StageProgress = silent,
    ) -> tuple[dict[Shard, Record], str]:
        """The records of all shards, and a sentence about the records that were not computed here.
        enough: as in `engine.run`. Raises InputError if a record differs when it is computed
        again."""
        records = run(
            self.plan.shards(),
            self.work,
            (self.vectors.array,),
            threads=self.threads,
            cluster=cluster,
            fits=partial(self.work.fits, self.vectors),
            enough=enough,
            progress=lambda _, count, of: progress(self.plan.kind, count, of),
        )
        return records, "" if cluster is None else self._taken(records)

    def _taken(self, records: Mapping[Shard, Record]) -> str:
        """A sentence about the records from workers, after one of them has been confirmed."""
        again, same = repeated(records, self.work, (self.vectors.array,))
        if not same:
            raise untrue("one that differs from what is computed here")
        return (
            f"{sum(shard.count for shard in records):,} of the {self.plan.count:,} "
            f"{self.work.items} were taken from Dask workers; "
            f"{again.count:,} of them were computed again here, with the same result."
        )


def sampling_job(
    vectors: Vectors,
    k: int,
    count: int,
    *,
    seed: int,
    device: DeviceChoice = "cpu",
) -> Job[Sampler]:
    """The job of drawing `count` random subsets of k vectors."""
    sampler = Sampler.of(vectors, k, count, device=device)
    on_gpu = choose_device(device).kind == "cuda"  # one thread is enough to keep the GPU busy
    return Job(sampler, vectors, sampler.plan(seed), threads=1 if on_gpu else None)


def decide_all(
    vectors: Vectors,
    k: int,
    question: Kruskal,
    cluster: Cluster | None,
    progress: StageProgress,
) -> RankBound | None:
    """The bound that the search of all sets of k proves, 1 <= k <= min(N, d), or None."""
    N, d = vectors.array.shape
    if k <= 2 or exhaustive.nominal_seconds(N, d, k, threads=1) < _QUICK:
        return exhaustive.decide(vectors, k, seed=question.seed, progress=progress)
    search = AllSets.of(vectors, k)
    job = Job(search, vectors, search.plan(question.seed))
    records, assumed = job.run(
        cluster, enough=lambda record: record["circuit"] is not None, progress=progress
    )
    return job.work.bound(vectors, job.plan, records.values(), assumed)
