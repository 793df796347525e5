"""`attncert assume` as a function: whether A1, A2 and general position hold, and what follows.

A2 is decided for every given context. A1 requires any n of the queries to be independent, which is
coNP-hard to decide, so the Kruskal rank is bounded from both sides, and random subsets are separate
evidence. General position requires the same of any d queries. Memorization needs only the partition
condition (docs/mathematics.md, section 2), which is decided. Equal queries refute A1 at once, so
they are counted, and only the distinct queries are searched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from threadpoolctl import threadpool_limits

from attncert.constructions.progress import StageProgress, silent, timed
from attncert.verify.checking.answers import answers
from attncert.verify.claims.answer import Answer
from attncert.verify.claims.trace import ProofTrace
from attncert.verify.kruskal.bounds import Interval
from attncert.verify.kruskal.interval import close
from attncert.verify.kruskal.kruskal import certified
from attncert.verify.kruskal.shards.draws import sequences
from attncert.verify.kruskal.shards.jobs import sampling_job
from attncert.verify.kruskal.shards.sampled import Samples
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.questions.kruskal import Assume, Kruskal
from attncert.verify.third_party.assume.claims import claims, equal_pair
from attncert.verify.third_party.assume.groups import Placed, grouped
from attncert.verify.third_party.assume.inputs import LayerInputs
from attncert.verify.third_party.assume.spectra import Spectrum, exact_rank, spectra

_SHARE = 50  # subsets of n queries per subset of d queries, which takes longer
_SPECTRA = 3  # the number of random subsets of each size whose spectrum is computed


@dataclass(frozen=True, kw_only=True, repr=False)
class Assumed(Answer):
    """The answer to `assume`, about the distinct queries; only the groups are about all inputs.

    rank: the exact rank of all queries. interval: bounds on the Kruskal rank. samples: random
    subsets of min(n, N) and of min(N, d) queries, by size; sizes above the rank are left out, since
    all subsets of these sizes are dependent. contexts: the spectrum of each given context. subsets:
    the spectra of random sets of the same sizes. certificate: shows that some queries are
    dependent.
    """

    question: Assume
    data: LayerInputs
    rank: int
    interval: Interval
    samples: Mapping[int, Samples]
    contexts: tuple[Spectrum, ...]
    subsets: Mapping[int, tuple[Spectrum, ...]]
    placed: tuple[Placed, ...]


@answers(Assume)
def assume(
    inputs: Any, question: Assume | None = None, progress: StageProgress = silent
) -> Assumed:
    """Decide whether the assumptions of the paper's theorem hold, and what follows for a layer.

    inputs: a data set, or `verify.assume.inputs.LayerInputs`, as read by `load_inputs`. The
    conclusion that A1 and A2 hold rests on one claim for each, which is proved (exactly, modulo
    primes or over ℚ), refuted or undecided. Samples are separate claims; singular values are
    floats, so claims about them are numerical. Source: paper, Assumptions 1 and 2;
    docs/models-and-layers.md. Raises InputError.

    >>> from attncert import Assume, Dataset, assume
    >>> data = Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, 1], [1, 1]], [5, "1/3", 7])
    >>> answer = assume(data, Assume(heads=2, subsets=20))
    >>> answer.standing.value, answer.trace["hypothesis.A1"].statement
    ('proved', 'Every 2 of the 3 queries are independent (Assumption 1).')
    """
    question = question or Assume()
    examples = question.of(LayerInputs.of(inputs))
    with threadpool_limits(1):  # more BLAS threads do not help for matrices of this size
        return _assume(examples, question, progress)


def _assume(inputs: LayerInputs, question: Assume, progress: StageProgress) -> Assumed:
    seconds = dict[str, float]()
    vectors = inputs.distinct
    most, asked = min(vectors.N, inputs.d), min(vectors.N, inputs.tokens)
    with timed(seconds, "contexts"):
        progress("contexts", 0, len(inputs.with_context))
        contexts = tuple(spectra(inputs.contexts()))
    with timed(seconds, "Kruskal rank"):
        rank = exact_rank(vectors.array)
        interval = close(
            vectors, Kruskal(work=question.work, seed=question.seed), progress=progress
        )
    with timed(seconds, "random subsets"):
        sizes = {most: -(-question.subsets // _SHARE)}
        if asked <= inputs.d:
            sizes[asked] = question.subsets
        samples = {
            size: _sample(vectors, size, count, question.seed, progress)
            for size, count in sorted(sizes.items())
            if count and size <= rank
        }
    with timed(seconds, "spectra of subsets"):
        drawn = {size: sequences(vectors.N, size, question.seed, 0, _SPECTRA) for size in sizes}
        subsets = {
            size: tuple(spectra((i, vectors.array[rows]) for i, rows in enumerate(sets)))
            for size, sets in sorted(drawn.items())
        }
    placed = tuple[Placed, ...]()
    with timed(seconds, "groups"):
        if question.heads is not None:
            placed = _placed(inputs, contexts, question.heads, question.head_width or 1)
    trace = claims(inputs, interval, [*samples.values()], contexts, placed)
    pair = equal_pair(inputs) if inputs.repeats else interval.upper.dependency
    certificate, uncertified = certified(inputs.queries, pair, question)
    return Assumed(
        question=question,
        data=inputs,
        trace=ProofTrace(trace),
        conclusion=trace[-1].id,
        certificate=certificate,
        uncertified=uncertified,
        seconds=seconds,
        rank=rank,
        interval=interval,
        samples=samples,
        contexts=contexts,
        subsets=subsets,
        placed=placed,
    )


def _sample(vectors: Vectors, k: int, count: int, seed: int, progress: StageProgress) -> Samples:
    job = sampling_job(vectors, k, count, seed=seed)
    records, _ = job.run(progress=progress)
    return job.work.summary(vectors, job.plan, records.values())


def _placed(
    inputs: LayerInputs, contexts: tuple[Spectrum, ...], heads: int, d_h: int
) -> tuple[Placed, ...]:
    """The groups for the paper's construction at the layer's head width and for heads of width one
    (ours). Both need the same number of tokens in all contexts."""
    if inputs.shortest is not None:
        return ()
    n = inputs.tokens
    good = {spectrum.number for spectrum in contexts if spectrum.rank == n}
    known = [t for t in inputs.with_context if (0 if inputs.shared else t) in good]
    constructions, sizes = [], [("the paper's", min(n, d_h)), ("width one", n)]
    for name, first in sizes:
        capacity = heads * (first - 1) + 1
        if first > inputs.d:
            continue
        everything = grouped(inputs.queries, range(inputs.N), first, heads)
        certified = grouped(inputs.queries, known, first, heads) if known else ()
        constructions.append(Placed(name, first, capacity, everything, certified))
    return tuple(constructions)


def counts(contexts: tuple[Spectrum, ...]) -> dict[str, int]:
    return dict(Counter(spectrum.standing.value for spectrum in contexts))
