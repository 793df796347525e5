"""`attncert assume` as a function: do A1, A2 and general position hold here, and what follows.

A2 is decided for every context that is given. A1 asks that every n of the queries are independent,
which is coNP-hard to decide: the Kruskal rank is bounded from both sides, and random subsets are
evidence of their own. General position is the same question for every d. Memorization needs less,
which is decided: the partition condition (docs/mathematics.md, section 2). Equal queries refute A1
at once, so they are counted, and the search is about the distinct ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from threadpoolctl import threadpool_limits

from attncert.constructions.given.law import Spans
from attncert.constructions.progress import StageProgress, silent, timed
from attncert.verify.answers import answers
from attncert.verify.assume.claims import claims, equal_pair, float32_claim, label_claims
from attncert.verify.assume.groups import Placed, grouped
from attncert.verify.assume.inputs import LayerInputs
from attncert.verify.assume.paper_test import Float32Test, float32_test
from attncert.verify.assume.spectra import Spectrum, exact_rank, spectra
from attncert.verify.claims.answer import Answer
from attncert.verify.claims.trace import ProofTrace
from attncert.verify.kruskal.bounds import Interval
from attncert.verify.kruskal.kruskal import certified, search
from attncert.verify.kruskal.shards.draws import sequences
from attncert.verify.kruskal.shards.jobs import sampling_job
from attncert.verify.kruskal.shards.sampled import Samples
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.questions.kruskal import Assume, Kruskal

_SHARE = 100  # of the float32 test's subsets, so many times fewer at every further k
_FURTHER = 3  # sizes between n and d
_SPECTRA = (8, 3)  # random subsets whose spectrum is computed: of n queries, of d


@dataclass(frozen=True, kw_only=True, repr=False)
class Assumed(Answer):
    """What is known. k: min(n, N) of N distinct queries, what A1 is asked for; None where n > d,
    and A1 fails. What follows is about the distinct queries, the groups apart.

    equal_inputs: as `LayerInputs.equal_inputs`. rank: of all queries, exact. interval: of the
    Kruskal rank. sampled: k-subsets; None where k exceeds the rank, and each is dependent. sweep:
    permutations. contexts: each that is given, against rounding. subsets: random sets of k and of
    `most` queries, the same. tests: the paper's. law: labels beyond which almost none can be met,
    by head widths. certificate: of dependent queries.
    """

    question: Assume
    data: LayerInputs
    equal_inputs: int
    rank: int
    interval: Interval
    sampled: Samples | None
    sweep: Samples | None
    contexts: tuple[Spectrum, ...]
    subsets: Mapping[int, tuple[Spectrum, ...]]
    tests: tuple[Float32Test, ...]
    placed: tuple[Placed, ...]
    law: Mapping[int, int]

    @property
    def k(self) -> int | None:
        return size_of_sets(self.data)

    @property
    def most(self) -> int:
        """min(N, d) of the N distinct queries: the size that general position asks for."""
        return min(self.data.distinct.N, self.data.d)


def size_of_sets(inputs: LayerInputs) -> int | None:
    """The size of the sets that A1 speaks of; None where n vectors of width d < n are dependent."""
    n = min(inputs.tokens, inputs.distinct.N)
    return n if n <= inputs.d else None


@answers(Assume)
def assume(
    inputs: Any, question: Assume | None = None, progress: StageProgress = silent
) -> Assumed:
    """Do the assumptions of the paper's theorem hold, and what follows for a layer?

    inputs: a data set, `verify.assume.inputs.LayerInputs` (as `load_inputs` reads them), or with
    question.tokens whatever `Vectors.of` takes: queries (N, d) without contexts. The conclusion,
    that A1 and A2 hold, rests on a claim for each: proved (exact, modulo primes or over ℚ),
    refuted or undecided. Samples are claims of their own; singular values are floats and
    numerical. Source: paper, Assumptions 1 and 2; docs/models-and-layers.md. Raises InputError.

    >>> from attncert import Assume, Dataset, assume
    >>> data = Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, 1], [1, 1]], [5, "1/3", 7])
    >>> answer = assume(data, Assume(heads=2, subsets=20, permutations=5, float32=0))
    >>> answer.standing.value, answer.trace["hypothesis.A1"].statement
    ('proved', 'Every 2 of the 3 queries are independent (Assumption 1).')
    """
    question = question or Assume()
    inputs = question.of(LayerInputs.of(inputs, question.tokens))
    stated = replace(
        inputs,
        heads=question.heads or inputs.heads,
        head_width=question.head_width or inputs.head_width,
    )
    with threadpool_limits(1):  # matrices of this size gain nothing by more BLAS threads
        return _assume(stated, question, progress)


def _assume(inputs: LayerInputs, question: Assume, progress: StageProgress) -> Assumed:
    seconds = dict[str, float]()
    vectors, k = inputs.distinct, size_of_sets(inputs)
    most = min(vectors.N, inputs.d)
    with timed(seconds, "contexts"):
        equal_inputs = inputs.equal_inputs()
        contexts = tuple(_counted(spectra(inputs.contexts()), len(inputs.with_context), progress))
    with timed(seconds, "Kruskal rank"):
        rank = exact_rank(vectors.array)
        drawn = question.permutations if rank == most else 0
        circuits = Kruskal(work=question.work, subsets=drawn, seed=question.seed, device="cpu")
        interval, sweep = search(vectors, circuits, progress)
    with timed(seconds, "random subsets"):
        sampled = _sample(vectors, k, question, progress) if k and k <= rank else None
    with timed(seconds, "spectra of subsets"):
        subsets = _subsets(vectors, k, question.seed)
    tests = float32_test(vectors, _sizes(k, most, question.float32), question.seed, progress)
    placed, law = tuple[Placed, ...](), dict[int, int]()
    with timed(seconds, "groups"):
        if inputs.heads is not None:
            placed = _placed(inputs, contexts, inputs.heads, interval.lower.value)
            law = _law(inputs, rank, inputs.heads)
    more = (
        *float32_claim(tests, sweep, subsets.get(most, ()), most),
        *label_claims(inputs, law, interval.lower.value),
    )
    trace = claims(inputs, interval, (sampled, sweep), contexts, placed, more)
    pair = equal_pair(inputs) if inputs.repeats else interval.upper.dependency
    certificate, uncertified = certified(inputs.queries, pair, question)
    return Assumed(
        question=question,
        data=inputs,
        trace=ProofTrace(trace),
        conclusion=trace[-1].id,
        certificate=certificate,
        uncertified=uncertified,
        seconds=seconds | {f"float32 test, k = {test.k}": test.seconds for test in tests},
        equal_inputs=equal_inputs,
        rank=rank,
        interval=interval,
        sampled=sampled,
        sweep=sweep if sweep and sweep.every else None,
        contexts=contexts,
        subsets=subsets,
        tests=tests,
        placed=placed,
        law=law,
    )


def _counted(sets: Iterable[Spectrum], count: int, progress: StageProgress) -> Iterable[Spectrum]:
    for i, spectrum in enumerate(sets):
        progress("contexts", i + 1, count)
        yield spectrum


def _sample(vectors: Vectors, k: int, question: Assume, progress: StageProgress) -> Samples | None:
    exactly = Kruskal(k=k, work=1.0, subsets=question.subsets, seed=question.seed, device="cpu")
    job = sampling_job(vectors, exactly)
    if job is None:
        return None
    records, _ = job.run(progress=progress)
    return job.work.summary(vectors, job.plan, records.values())


def _subsets(vectors: Vectors, k: int | None, seed: int) -> dict[int, tuple[Spectrum, ...]]:
    """Of n queries, and of as many as can be independent: against rounding."""
    sizes = [k, min(vectors.N, vectors.d)]
    counts_by_size = {size: count for size, count in zip(sizes, _SPECTRA, strict=True) if size}
    return {
        size: tuple(
            spectra(
                (i, vectors.array[rows])
                for i, rows in enumerate(sequences(vectors.N, size, seed, 0, count))
            )
        )
        for size, count in counts_by_size.items()
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
    inputs: LayerInputs, contexts: tuple[Spectrum, ...], heads: int, kappa: int
) -> tuple[Placed, ...]:
    """The paper's construction at the layer's head width, and heads of width one (ours). The first
    also as its Remark 1 has it, where the Kruskal rank is only known to be at least kappa. Both
    need equally many tokens in all contexts."""
    if inputs.shortest is not None:
        return ()
    n, d_h = inputs.tokens, inputs.head_width or 1
    good = {spectrum.number for spectrum in contexts if spectrum.rank == n}
    known = [t for t in inputs.with_context if (0 if inputs.shared else t) in good]
    constructions, sizes = [], [("the paper's", min(n, d_h)), ("width one", n)]
    if 1 < kappa < min(n, d_h):
        sizes.insert(1, (f"the paper's, Remark 1 with Kruskal rank {kappa} (proved)", kappa))
    for name, first in sizes:
        capacity = heads * (first - 1) + 1
        if first > inputs.d:
            continue
        everything = grouped(inputs.queries, range(inputs.N), first, heads)
        certified = grouped(inputs.queries, known, first, heads) if known else ()
        constructions.append(Placed(name, first, capacity, everything, certified))
    return tuple(constructions)


def _law(inputs: LayerInputs, rank: int, heads: int) -> dict[int, int]:
    """N of docs/given-labels.md, Theorem 7, for scalar labels, at its largest over all contexts:
    it grows with a, and a + b ≤ d."""
    spans = Spans(inputs.d, 0, rank, 1)
    widths = sorted({1, inputs.head_width or 1})
    return {width: spans.bound(heads, width, 1) for width in widths}


def counts(contexts: tuple[Spectrum, ...]) -> dict[str, int]:
    """How many stand how."""
    return dict(Counter(spectrum.standing.value for spectrum in contexts))
