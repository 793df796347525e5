"""`attncert kruskal` as a function: vectors and a question in, what is known out.

Two things, kept apart. Random subsets, exactly (*sampled*: a fraction, no bound on the rank unless
a dependent one is met), and the interval around the Kruskal rank (*proved* at both ends). With a
budget in seconds sampling takes a fourth of it at most, and where both end depends on the machine;
with `work` the number of subsets and the search are fixed in advance, and so is every result.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import metadata

import numpy as np

from constructions.errors import InputError
from verify.kruskal.bounds import Interval, witnessed
from verify.kruskal.draws import sequences
from verify.kruskal.interval import Watch, close
from verify.kruskal.sampled import Samples, Sweep
from verify.kruskal.sampling import Sampler, table_sha256
from verify.kruskal.vectors import Vectors
from verify.rank.cpu import available_threads
from verify.rank.devices import choose_device
from verify.rank.floating import NumericalRank, Robustness, numerical_rank, robustness
from verify.scale.engine import Progress, run
from verify.scale.log import ShardLog
from verify.scale.shards import Identity, Part, Plan, Result, Shard

__all__ = ["Findings", "Question", "Rounding", "examine", "identity", "sample"]

_SAMPLING_SHARE = 0.25
_ROUNDED_SUBSETS = 8
_MOST_FLOAT32 = 1e37  # above it there is no float32 rank to compare with
_ROUNDED_WORK = 10**10  # k^2 d, summed over the subsets whose spectrum is computed


@dataclass(frozen=True)
class Question:
    """What is asked of `examine`.

    k:       "is every set of k vectors independent?"; None: the Kruskal rank.
    budget:  seconds by the clock, or None with `work`. work: nominal seconds (`budget.Budget`).
    subsets: random k-subsets, or with k None random permutations; 0: none.
    seed:    of subsets and bases. device: auto, cpu or cuda. jobs: processes for the subsets.
    Raises InputError for values that make no sense.
    """

    k: int | None = None
    budget: float | None = 60.0
    work: float | None = None
    subsets: int = 1000
    seed: int = 0
    device: str = "auto"
    jobs: int = 1

    def __post_init__(self) -> None:
        if not 0 <= self.subsets <= 10**9:
            raise InputError("--subsets", "a whole number from 0 to 10^9", self.subsets)
        if not 0 <= self.seed < 2**63:
            raise InputError("--seed", "a whole number from 0 to 2^63 - 1", self.seed)
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
    def threads(self) -> int:
        """CPU threads for each process."""
        return max(1, available_threads() // self.jobs)

    def command(self) -> str:
        """The command line that repeats this run, without paths."""
        words = ["attncert kruskal DATA"]
        words += [f"--k {self.k}"] if self.k is not None else []
        words += [f"--budget {self.budget:g}s"] if self.budget is not None else []
        words += [f"--work {self.work:g}"] if self.work is not None else []
        return " ".join([*words, f"--subsets {self.subsets}", f"--seed {self.seed}"])


@dataclass(frozen=True)
class Rounding:
    """One sampled subset: exact, numerical in float32, and against the rounding of the data."""

    number: int
    robustness: Robustness
    float32: NumericalRank


@dataclass(frozen=True)
class Findings:
    """What is known.

    interval: proved. sampled: None where nothing was asked of it. rounding: of some sampled
    subsets, where k is given and the vectors are floats. seconds: by stage, for timings.json alone.
    """

    vectors: Vectors
    question: Question
    interval: Interval
    sampled: Samples | Sweep | None
    rounding: tuple[Rounding, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)

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
        return self.interval.timed or (self.sampled is not None and not self.sampled.complete)


def examine(
    vectors: Vectors,
    question: Question,
    *,
    log: ShardLog | None = None,
    backend: str | None = None,
    progress: Progress = lambda stage, done, of: None,
    watch: Watch = lambda interval: None,
) -> Findings:
    """Sample, then close the interval until the budget is used.

    log: where finished shards of subsets are kept and found again. backend: of joblib, for them
    (`verify.scale.engine.dask`). watch: called with each narrower interval. Raises InputError.

    >>> vectors = Vectors.of([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]])
    >>> found = examine(vectors, Question(k=2, budget=None, work=1.0, subsets=100, device="cpu"))
    >>> found.answer, found.sampled.independent, found.timed
    (True, 100, False)
    """
    question.require(vectors)
    start = time.monotonic()
    sampled = None
    if question.subsets:
        sampler, plan = sampling_of(vectors, question, backend)
        limit = None
        if question.budget is not None:
            limit = start + _SAMPLING_SHARE * question.budget
        results = run(
            plan.shards(),
            sampler,
            (vectors.array,),
            jobs=question.jobs,
            backend=backend,
            log=log,
            deadline=limit,
            progress=progress,
        )
        sampled = sampler.summary(plan, results)
    rounding = _rounding(vectors, question)
    drawn = time.monotonic()
    interval = _interval(vectors, question, sampled, drawn - start, progress, watch)
    seconds = {"sampling": drawn - start, "interval": time.monotonic() - drawn}
    versions = choose_device(question.device).versions
    return Findings(vectors, question, interval, sampled, rounding, versions, seconds)


def sample(
    vectors: Vectors,
    question: Question,
    part: Part,
    log: ShardLog,
    *,
    backend: str | None = None,
    progress: Progress = lambda stage, done, of: None,
) -> dict[Shard, Result]:
    """One part of the sampling alone, to its end: for machines that share nothing but files."""
    question.require(vectors)
    sampler, plan = sampling_of(vectors, question, backend)
    return run(
        part.of_shards(plan.shards()),
        sampler,
        (vectors.array,),
        jobs=question.jobs,
        backend=backend,
        log=log,
        progress=progress,
    )


def identity(vectors: Vectors, question: Question) -> Identity:
    """What a log of this sampling begins with; nothing of how or where it is run."""
    sampler, plan = sampling_of(vectors, question, None)
    return {
        "version": metadata.version("attncert"),
        "input_sha256": table_sha256(vectors.array),
        "settings": sampler.settings(question.seed),
        "plan": plan.as_dict(),
    }


def sampling_of(vectors: Vectors, question: Question, backend: str | None) -> tuple[Sampler, Plan]:
    """The work and its plan. A worker of a cluster gets one thread, a process its share of them."""
    if question.subsets == 0:
        raise InputError("--subsets", "positive for shards of subsets", 0)
    threads = 1 if backend is not None else question.threads
    sampler = Sampler.of(
        vectors, question.k, question.subsets, device=question.device, threads=threads
    )
    return sampler, sampler.plan(question.seed)


def _interval(
    vectors: Vectors,
    question: Question,
    sampled: Samples | Sweep | None,
    used: float,
    progress: Progress,
    watch: Watch,
) -> Interval:
    met = None
    if sampled is not None and sampled.witness is not None:
        met = witnessed(sampled.witness.circuit(vectors), "sampling")
        refuted = question.k is not None and question.k > met.value
        if refuted:
            interval = Interval.trivial(vectors).tighten(met)
            watch(interval)
            why = f"A random subset refuted that every {question.k} are independent."
            return replace(interval, stopped=why)
    left = None if question.budget is None else max(question.budget - used, 1e-3)
    interval = close(
        vectors,
        k=question.k,
        budget_s=left,
        work=question.work,
        seed=question.seed,
        progress=progress,
        watch=watch,
    )
    return interval.tighten(met)


def _rounding(vectors: Vectors, question: Question) -> tuple[Rounding, ...]:
    """The first sampled subsets: as few as keep the work bounded, and none of exact numbers."""
    k = question.k
    if k is None or question.subsets == 0 or vectors.array.dtype.kind != "f":
        return ()
    if float(np.abs(vectors.array).max()) > _MOST_FLOAT32:
        return ()
    count = max(1, min(_ROUNDED_SUBSETS, question.subsets, _ROUNDED_WORK // (k * k * vectors.d)))
    drawn = sequences(vectors.N, k, question.seed, 0, count).tolist()
    return tuple(
        Rounding(
            i, robustness(vectors.array[rows]), numerical_rank(vectors.array[rows], dtype="float32")
        )
        for i, rows in enumerate(drawn)
    )
