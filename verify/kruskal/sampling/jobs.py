"""The question put to `attncert kruskal`, and the jobs that it needs: shards, and their log."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from attncert.constructions.brief import command_line
from attncert.constructions.errors import InputError, require_seed
from attncert.constructions.progress import StageProgress, silent
from attncert.verify.installed import version
from attncert.verify.kruskal.budget import plain
from attncert.verify.kruskal.methods import exhaustive
from attncert.verify.kruskal.sampling.all_sets import AllSets
from attncert.verify.kruskal.sampling.bases import BasisSearch
from attncert.verify.kruskal.sampling.subsets import Sampler
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.rank.engines.cpu import available_threads
from attncert.verify.rank.engines.devices import DeviceChoice, choose_device
from attncert.verify.scale.engine import Cluster, run
from attncert.verify.scale.log import Log
from attncert.verify.scale.shards import Plan, Record, Shard

_SUBSETS = 1000


@dataclass(frozen=True)
class Question:
    """A question for `examine`.

    k:       "is every set of k vectors independent?"; None: the Kruskal rank.
    budget:  seconds by the clock, or None with `work`. work: nominal seconds (`budget.Budget`).
    subsets: random k-subsets, or with k None random permutations; 0: none. None: 1,000, which
             `examine` leaves out where its search has settled the question.
    bases:   random bases looked at as shards, before the search makes its own; 0: none.
    seed:    of subsets and bases. device: of subsets: auto, cpu or cuda. jobs: processes.
    Raises InputError for values that make no sense.
    """

    k: int | None = None
    budget: float | None = 60.0
    work: float | None = None
    subsets: int | None = None
    bases: int = 0
    seed: int = 0
    device: DeviceChoice = "auto"
    jobs: int = 1

    def __post_init__(self) -> None:
        if not 0 <= self.drawn <= 10**9:
            raise InputError("--subsets", "a whole number from 0 to 10^9", self.subsets)
        if not 0 <= self.bases <= 10**9:
            raise InputError("--bases", "a whole number from 0 to 10^9", self.bases)
        require_seed(self.seed)
        if self.jobs < 1:
            raise InputError("--jobs", "a positive whole number", self.jobs)
        if choose_device(self.device).kind == "cuda" and self.jobs > 1:
            raise InputError("--jobs", "1 with a GPU, which one process keeps busy", self.jobs)

    def require(self, vectors: Vectors) -> None:
        """Raises InputError where these vectors have no sets of k."""
        most = min(vectors.N, vectors.d)
        if self.k is not None and not 1 <= self.k <= most:
            sizes = f"min(N, d) = min({vectors.N}, {vectors.d})"
            raise InputError("--k", f"a whole number from 1 to {sizes}", self.k)

    @property
    def drawn(self) -> int:
        """Random subsets, or permutations."""
        return _SUBSETS if self.subsets is None else self.subsets

    @property
    def threads(self) -> int:
        """CPU threads for each process."""
        return max(1, available_threads() // self.jobs)

    def command(self, vectors: Vectors) -> str:
        """The command line that repeats this run, without paths."""
        return command_line(
            "attncert kruskal DATA",
            examples=vectors.N,
            k=self.k,
            budget=None if self.budget is None else f"{plain(self.budget)}s",
            work=None if self.work is None else plain(self.work),
            subsets=self.subsets,
            bases=self.bases or None,
            seed=self.seed,
        )


_Work = TypeVar("_Work", Sampler, BasisSearch, AllSets)


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
        question: Question,
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
            jobs=question.jobs,
            cluster=cluster,
            finished=self.finished,
            keep=self.keep,
            deadline=deadline,
            enough=enough,
            progress=lambda _, done, of: progress(self.plan.kind, done, of),
        )


def threads_for(question: Question, cluster: Cluster | None) -> int:
    """CPU threads of a shard: all that a process has, one on a worker of a cluster.

    Threads, processes and device are not part of what a record depends on.
    """
    return question.threads if cluster is None else 1


def sampling_job(
    vectors: Vectors,
    question: Question,
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


def basis_job(
    vectors: Vectors,
    question: Question,
    log: Log | None = None,
    cluster: Cluster | None = None,
) -> Job[BasisSearch] | None:
    """The random bases."""
    if not question.bases:
        return None
    threads = threads_for(question, cluster)
    search = BasisSearch.of(vectors, question.bases, threads=threads)
    return Job.of(search, vectors, question.seed, log)


def affordable(vectors: Vectors, question: Question, cores: int) -> list[int]:
    """The sizes from 3 whose sets are looked at within the budget on so many cores, by the cost
    model: one after another, and as if none were found dependent.

    >>> digits = Vectors.of([[1] * 16] * 1782)
    >>> for budget, cores in ((60.0, 1), (400.0, 1), (900.0, 1), (450.0, 2)):
    ...     print(affordable(digits, Question(budget=budget), cores))
    [3, 4]
    [3, 4, 5]
    [3, 4, 6]
    [3, 4, 6]
    """
    shape, left = (vectors.N, vectors.d), question.budget or question.work or 0.0
    upper = question.k or min(shape)

    def price(k: int) -> float:
        return exhaustive.nominal_seconds(*shape, k, threads=1) / cores

    if upper == question.k and upper > 2 and price(upper) <= left:
        return [upper]
    found, lower = list[int](), 2
    while (size := exhaustive.next_size(shape, lower, upper, left, price)) is not None:
        left -= price(size)
        if left < 0:
            break
        found.append(size)
        lower = size
    return found
