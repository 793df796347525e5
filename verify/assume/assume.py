"""`attncert assume` as a function: do A1, A2 and general position hold here, and what follows.

A2 is decided for every context that is given. A1 asks that every n of the queries are independent,
which is coNP-hard to decide: the Kruskal rank is bounded from both sides, and random subsets say
what they say, apart. General position is the same question for every d. What memorization needs is
less, and decided: the partition condition (docs/mathematics.md, section 2). Equal queries refute A1
at once, so they are counted, and the search is about the distinct ones.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from threadpoolctl import threadpool_limits

from attncert.constructions.brief import command_line, in_brief
from attncert.constructions.errors import InputError, require_seed
from attncert.constructions.given.law import Spans
from attncert.constructions.progress import StageProgress, silent
from attncert.verify.assume import claims as wording
from attncert.verify.assume.given import Given
from attncert.verify.assume.groups import Placed, grouped
from attncert.verify.assume.paper_test import Float32Test, float32_test
from attncert.verify.assume.spectra import Spectrum, exact_rank, spectra
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.kruskal.examine import Findings, examine
from attncert.verify.kruskal.sampling.draws import sequences
from attncert.verify.kruskal.sampling.jobs import Question, sampling_job
from attncert.verify.kruskal.sampling.sampled import Samples
from attncert.verify.kruskal.vectors import Vectors

_BASES = 4
_SHARE = 100  # of the float32 test's subsets, so many times fewer at every further k
_FURTHER = 3  # sizes between n and d
_SPECTRA = (8, 3)  # random subsets whose spectrum is computed: of n queries, of d


@dataclass(frozen=True)
class AssumeSettings:
    """subsets: random n-subsets, tested exactly. permutations: for every k up to d, exactly.
    work: nominal seconds of the search for the Kruskal rank. float32: subsets of the paper's test.
    heads, head_width, tokens: as `load_given` was called, for the command that repeats the run.
    """

    subsets: int = 5000
    permutations: int = 100
    work: float = 1.0
    float32: int = 5000
    seed: int = 0
    heads: int | None = None
    head_width: int | None = None
    tokens: int | None = None

    def __post_init__(self) -> None:
        for name in ("subsets", "permutations", "float32"):
            if not 0 <= getattr(self, name) <= 10**7:
                option = f"--{name}"
                raise InputError(option, "a whole number from 0 to 10^7", getattr(self, name))
        require_seed(self.seed)

    def command(self) -> str:
        """The command line that repeats this run, without paths."""
        return command_line("attncert assume DATA", **vars(self) | {"work": f"{self.work:g}"})


@dataclass(frozen=True)
class Assumed:
    """What is known. k: min(n, N) of N distinct queries, what A1 is asked for; None where n > d,
    and A1 fails. What follows is about the distinct queries, the groups apart.

    equal_inputs: as `Given.equal_inputs`. rank: of all queries, exact. found: interval,
    permutations, bases. sampled: k-subsets; None where k exceeds the rank, and every one is
    dependent. contexts: each that is given, against rounding. subsets: random sets of k and of
    `most` queries, the same. tests: the paper's. law: labels beyond which almost none can be met,
    by head widths. seconds: by stage.
    """

    given: Given
    settings: AssumeSettings
    equal_inputs: int
    rank: int
    found: Findings
    sampled: Samples | None
    contexts: tuple[Spectrum, ...]
    subsets: Mapping[int, tuple[Spectrum, ...]]
    tests: tuple[Float32Test, ...]
    placed: tuple[Placed, ...]
    law: Mapping[int, int]
    claims: tuple[Claim, ...]
    seconds: Mapping[str, float] = field(default_factory=dict, compare=False)

    def __repr__(self) -> str:
        return in_brief(self, self.given, *(f"{c.id}: {c.level.value}" for c in self.claims[:2]))

    @property
    def k(self) -> int | None:
        return asked(self.given)

    @property
    def most(self) -> int:
        """min(N, d) of the N distinct queries: the size that general position asks for."""
        return min(self.given.distinct.N, self.given.d)

    @property
    def exit_status(self) -> int:
        """0: A1 and A2 are proved; 1: one is refuted; 3: neither."""
        levels = [claim.level for claim in self.claims[:2]]
        if Level.REFUTED in levels:
            return 1
        return 0 if all(level.holds for level in levels) else 3


def asked(given: Given) -> int | None:
    """The size of the sets that A1 speaks of; None where n vectors of width d < n are dependent."""
    n = min(given.tokens, given.distinct.N)
    return n if n <= given.d else None


def assume(given: Given, settings: AssumeSettings, progress: StageProgress = silent) -> Assumed:
    """All of it, in a few stages. Equal settings give equal results (times apart). Raises
    InputError for data that cannot be used.

    >>> from attncert.verify.assume.given import Given
    >>> vectors = Vectors.of([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]])
    >>> given = Given(vectors, 2, 1, 2, (), lambda: iter(()), {})
    >>> made = assume(given, AssumeSettings(subsets=20, permutations=5, float32=0))
    >>> [(c.id, c.level.value) for c in made.claims[:2]]
    [('hypothesis.A1', 'proved'), ('contexts.independent', 'undecided')]
    """
    with threadpool_limits(1):  # matrices of this size gain nothing by more BLAS threads
        return _assume(given, settings, progress)


def _assume(given: Given, settings: AssumeSettings, progress: StageProgress) -> Assumed:
    clock, seconds = time.monotonic(), dict[str, float]()

    def stage(name: str) -> None:
        nonlocal clock
        seconds[name], clock = time.monotonic() - clock, time.monotonic()

    vectors, k = given.distinct, asked(given)
    most = min(vectors.N, given.d)
    equal_inputs = given.equal_inputs()
    contexts = tuple(_told(spectra(given.contexts()), len(given.kept), progress))
    stage("contexts")
    rank = exact_rank(vectors.array)
    found = examine(
        vectors,
        Question(
            budget=None, work=settings.work, subsets=settings.permutations if rank == most else 0,
            bases=_BASES if rank > 1 else 0, seed=settings.seed, device="cpu",
        ),
        progress=progress,
    )  # fmt: skip
    stage("Kruskal rank")
    sampled = _sample(vectors, k, settings, progress) if k and k <= rank else None
    stage("random subsets")
    subsets = _subsets(vectors, k, settings.seed)
    stage("spectra of subsets")
    tests = float32_test(vectors, _sizes(k, most, settings.float32), settings.seed, progress)
    stage("float32 test")
    placed, law = tuple[Placed, ...](), dict[int, int]()
    if given.heads is not None:
        placed = _placed(given, contexts, given.heads, found.interval.lower.value)
        law = _law(given, rank, given.heads)
    stage("groups")
    told = wording.claims(given, found, sampled, contexts, placed)
    return Assumed(
        given, settings, equal_inputs, rank, found, sampled, contexts, subsets, tests, placed, law,
        told, seconds,
    )  # fmt: skip


def _told(found: Iterable[Spectrum], count: int, progress: StageProgress) -> Iterable[Spectrum]:
    for i, spectrum in enumerate(found):
        progress("contexts", i + 1, count)
        yield spectrum


def _sample(
    vectors: Vectors, k: int, settings: AssumeSettings, progress: StageProgress
) -> Samples | None:
    question = Question(
        k=k, budget=None, work=1.0, subsets=settings.subsets, seed=settings.seed, device="cpu"
    )
    job = sampling_job(vectors, question)
    if job is None:
        return None
    records = job.run(question, progress=progress)
    sampled = job.work.summary(vectors, job.plan, records.values())
    assert isinstance(sampled, Samples)
    return sampled


def _subsets(vectors: Vectors, k: int | None, seed: int) -> dict[int, tuple[Spectrum, ...]]:
    """Of n queries, and of as many as can be independent: against rounding."""
    sizes = [k, min(vectors.N, vectors.d)]
    wanted = {size: count for size, count in zip(sizes, _SPECTRA, strict=True) if size}
    return {
        size: tuple(
            spectra(
                (i, vectors.array[rows])
                for i, rows in enumerate(sequences(vectors.N, size, seed, 0, count))
            )
        )
        for size, count in wanted.items()
    }


def _sizes(k: int | None, most: int, count: int) -> list[tuple[int, int]]:
    """The paper's k, with `count` subsets; a few k up to d, with a hundredth.

    >>> _sizes(197, 768, 5000)
    [(197, 5000), (339, 50), (482, 50), (625, 50), (768, 50)]
    """
    low = k or 1
    steps = [low + (most - low) * i // (_FURTHER + 1) for i in range(1, _FURTHER + 2)]
    few = -(-count // _SHARE)
    further = [(size, few) for size in sorted(set(steps)) if size != k]
    return [(k, count), *further] if k is not None else further


def _placed(
    given: Given, contexts: tuple[Spectrum, ...], heads: int, kappa: int
) -> tuple[Placed, ...]:
    """The paper's construction at the layer's head width, and heads of width one (ours). The first
    also as its Remark 1 has it, where the Kruskal rank is only known to be at least kappa. Both
    need equally many tokens in all contexts."""
    if given.shortest is not None:
        return ()
    n, d_h = given.tokens, given.head_width or 1
    good = {spectrum.number for spectrum in contexts if spectrum.rank == n}
    known = [t for t in given.kept if (0 if given.shared else t) in good]
    made, sizes = [], [("the paper's", min(n, d_h)), ("width one", n)]
    if 1 < kappa < min(n, d_h):
        sizes.insert(1, (f"the paper's, Remark 1 with Kruskal rank {kappa} (proved)", kappa))
    for name, first in sizes:
        capacity = heads * (first - 1) + 1
        if first > given.d:
            continue
        everything = grouped(given.queries, range(given.N), first, heads)
        certified = grouped(given.queries, known, first, heads) if known else ()
        made.append(Placed(name, first, capacity, everything, certified))
    return tuple(made)


def _law(given: Given, rank: int, heads: int) -> dict[int, int]:
    """N of docs/given-labels.md, Theorem 7, for scalar labels, at its largest over all contexts:
    it grows with a, and a + b ≤ d."""
    spans = Spans(given.d, 0, rank, 1)
    widths = sorted({1, given.head_width or 1})
    return {width: spans.bound(heads, width, 1) for width in widths}


def digest(values: tuple[float, ...]) -> dict[str, float]:
    """Least, median, largest."""
    return {
        "least": float(np.min(values)),
        "median": float(np.median(values)),
        "largest": float(np.max(values)),
    }


def counts(contexts: tuple[Spectrum, ...]) -> dict[str, int]:
    """How many stand how."""
    return dict(Counter(spectrum.standing.value for spectrum in contexts))
