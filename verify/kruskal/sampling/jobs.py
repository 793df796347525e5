"""The question put to `attncert kruskal`, and the shards that it needs.

Random subsets and random bases are shards; what both together are about stands at the head of a
log, so that parts run on machines that share nothing but files are united only with their like.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from attncert.constructions.brief import command_line
from attncert.constructions.errors import InputError, require_seed
from attncert.constructions.progress import StageProgress, silent
from attncert.verify.installed import version
from attncert.verify.kruskal.budget import plain
from attncert.verify.kruskal.methods import exhaustive
from attncert.verify.kruskal.sampling.all_sets import (
    SETS,
    AllSets,
    SetsSearched,
    is_sets,
    kind_of,
    sets_of,
    sizes,
)
from attncert.verify.kruskal.sampling.bases import BASES, BasesSearched, BasisSearch, searched_of
from attncert.verify.kruskal.sampling.sampled import Samples, Sweep
from attncert.verify.kruskal.sampling.subsets import Sampler, sampled_of, table_sha256
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.rank.engines.cpu import available_threads
from attncert.verify.rank.engines.devices import DeviceChoice, choose_device
from attncert.verify.scale.engine import Cluster, run
from attncert.verify.scale.log import ShardLog
from attncert.verify.scale.merge import United
from attncert.verify.scale.shards import Identity, Part, Plan, Result, Shard

_SUBSETS = 1000


@dataclass(frozen=True)
class Question:
    """A question for `examine`.

    k:       "is every set of k vectors independent?"; None: the Kruskal rank.
    budget:  seconds by the clock, or None with `work`. work: nominal seconds (`budget.Budget`).
    subsets: random k-subsets, or with k None random permutations; 0: none. None: 1,000, which
             `examine` leaves out where its search has settled the question.
    bases:   random bases looked at as shards, before the search makes its own; 0: none.
    all_sets: look at all sets of k as shards, whatever it takes, instead of in the search.
    seed:    of subsets and bases. device: of subsets: auto, cpu or cuda. jobs: processes.
    Raises InputError for values that make no sense.
    """

    k: int | None = None
    budget: float | None = 60.0
    work: float | None = None
    subsets: int | None = None
    bases: int = 0
    all_sets: bool = False
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
            all_sets=self.all_sets,
            seed=self.seed,
        )


@dataclass(frozen=True)
class Job:
    """Shards of one kind, and their work."""

    work: Sampler | BasisSearch | AllSets
    plan: Plan
    settings: Mapping[str, Any]


def jobs_of(vectors: Vectors, question: Question, cluster: Cluster | None = None) -> list[Job]:
    """The shards of a question. A worker of a cluster gets one thread, a process its share.

    Threads, processes and device are not part of what a result depends on.
    """
    threads = 1 if cluster is not None else question.threads
    seed, found = question.seed, list[Job]()
    if question.drawn:
        k, count, device = question.k, question.drawn, question.device
        sampler = Sampler.of(vectors, k, count, device=device, threads=threads)
        found.append(Job(sampler, sampler.plan(seed), sampler.settings(seed)))
    if question.bases:
        search = BasisSearch.of(vectors, question.bases, threads=threads)
        found.append(Job(search, search.plan(seed), search.settings()))
    if question.all_sets:
        sets = AllSets.of(vectors, question.k, threads=threads)
        found.append(Job(sets, sets.plan(seed), sets.settings()))
    return found


def size_jobs(
    vectors: Vectors, question: Question, cluster: Cluster | None = None
) -> dict[int, Job]:
    """The shards of the interval's search, by size; none with `all_sets`, which does one alone."""
    if question.all_sets:
        return {}
    threads = 1 if cluster is not None else question.threads
    table, (N, d), found = table_sha256(vectors.array), vectors.array.shape, dict[int, Job]()
    for k in sizes(N, d):
        sets = AllSets(table, N, d, k, threads=threads, kind=kind_of(k))
        found[k] = Job(sets, sets.plan(question.seed), sets.settings())
    return found


def identity(vectors: Vectors, question: Question) -> Identity:
    """What a log of these shards begins with; nothing of how or where it is run."""
    found = [*jobs_of(vectors, question), *size_jobs(vectors, question).values()]
    if not found:
        must = "left out where --subsets and --bases are 0 and no search takes a second"
        raise InputError("--log", must, "given")
    return {
        "version": version("attncert"),
        "input_sha256": table_sha256(vectors.array),
        "settings": {job.plan.kind: dict(job.settings) for job in found},
        "plans": [job.plan.as_dict() for job in found],
    }


def run_job(
    job: Job,
    vectors: Vectors,
    question: Question,
    *,
    part: Part | None = None,
    log: ShardLog | None = None,
    cluster: Cluster | None = None,
    deadline: float | None = None,
    enough: Callable[[Result], bool] = lambda result: False,
    progress: StageProgress = silent,
) -> dict[Shard, Result]:
    """Its shards, or a part of them, or as many as are done before the deadline; `enough` as in
    `engine.run`."""
    shards = job.plan.shards()
    return run(
        shards if part is None else part.of_shards(shards),
        job.work,
        (vectors.array,),
        jobs=question.jobs,
        cluster=cluster,
        log=log,
        deadline=deadline,
        enough=enough,
        progress=lambda _, done, of: progress(job.plan.kind, done, of),
    )


def run_part(
    vectors: Vectors,
    question: Question,
    part: Part,
    log: ShardLog,
    *,
    cluster: Cluster | None = None,
    progress: StageProgress = silent,
) -> int:
    """One part of the shards alone, to its end; the number of them.

    Of the interval's sizes, those for which the budget is enough with as many parts at work.
    """
    question.require(vectors)
    by_size = size_jobs(vectors, question, cluster)
    searched = [by_size[k] for k in affordable(vectors, question, part.of) if k in by_size]
    return sum(
        len(run_job(j, vectors, question, part=part, log=log, cluster=cluster, progress=progress))
        for j in [*jobs_of(vectors, question, cluster), *searched]
    )


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


@dataclass(frozen=True)
class Shown:
    """What united logs show of subsets, bases and all sets; None of which there are no shards.

    sizes: all sets of each size that the interval's search began.
    unverified: shards that name a dependent set which is left out here, for want of the vectors.
    """

    sampled: Samples | Sweep | None
    searched: BasesSearched | None
    sets: SetsSearched | None
    sizes: tuple[SetsSearched, ...]
    unverified: int

    @property
    def all_sets(self) -> tuple[SetsSearched, ...]:
        return (*([] if self.sets is None else [self.sets]), *self.sizes)

    def as_dict(self) -> dict[str, Any]:
        """JSON-able. Where dependent sets are left out, nothing is said of a witness."""
        found = {"sampled": self.sampled, "bases": self.searched, "sets": self.sets}
        hidden = {"witness"} if self.unverified else set[str]()

        def plain(x: Samples | Sweep | BasesSearched | SetsSearched) -> dict[str, Any]:
            return {key: y for key, y in x.as_dict().items() if key not in hidden}

        shown: dict[str, Any] = {name: x and plain(x) for name, x in found.items()}
        shown |= {"sizes": [plain(x) for x in self.sizes]} if self.sizes else {}
        return shown | {"unverified": self.unverified}


def missing_of(united: United) -> list[Shard]:
    """The shards that are still to be run: of an interval's sizes, only of those begun."""
    begun = {shard.kind for shard in united.finished}
    sizes_left = {kind for kind in united.identity["settings"] if is_sets(kind)} - {SETS} - begun
    if not begun:
        return list(united.missing)
    return [shard for shard in united.missing if shard.kind not in sizes_left]


def shown_by(united: United, *, verified: bool) -> Shown:
    """verified: the logs were read with `records.rules` of the vectors themselves.

    Raises InputError where all sets are said to be independent, and a shard names one that is not.
    """
    found = ((shard, result["witness"]) for shard, result in united.finished.items())
    named = {shard: witness for shard, witness in found if witness is not None}
    sampled, searched, sets, by_size = None, None, None, list[SetsSearched]()
    for plan in united.plans:
        settings, results = united.identity["settings"][plan.kind], united.of(plan)
        if not verified:
            results = {shard: {**x, "witness": None} for shard, x in results.items()}
        if plan.kind == BASES:
            searched = searched_of(plan, settings, results)
        elif plan.kind == SETS:
            sets = sets_of(plan, settings, results, results)
        elif is_sets(plan.kind):
            by_size += [sets_of(plan, settings, results, results)] if results else []
        else:
            sampled = sampled_of(plan, settings, results)
    size = min((len(witness["indices"]) for witness in named.values()), default=math.inf)
    for kind, found_sets in [(SETS, sets), *((kind_of(x.k), x) for x in by_size)]:
        hiding = all(shard.kind != kind for shard in named)
        if found_sets is None or not hiding or found_sets.settled != found_sets.planned:
            continue
        if size <= found_sets.k:
            got = f"one with all sets of {found_sets.k} independent, and {size} dependent vectors"
            raise InputError("FILE", "a log whose shards agree", got)
    return Shown(sampled, searched, sets, tuple(by_size), 0 if verified else len(named))
