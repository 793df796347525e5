"""`attncert kruskal` as a function of vectors and a question.

The answer has two separate parts: the interval around the Kruskal rank, *proved* at both ends, and
random subsets, which are tested exactly. The subsets are *sampled*: they do not bound the rank
unless one of them is dependent. If the search answers the question, subsets are drawn only if their
number is given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any

from attncert.constructions.errors import InputError
from attncert.constructions.progress import StageProgress, silent, timed
from attncert.verify.certificates.certificate import TooLarge, produced_by
from attncert.verify.certificates.installed import versions
from attncert.verify.checking.answers import answers
from attncert.verify.claims.answer import Answer
from attncert.verify.claims.evidence import Level
from attncert.verify.claims.trace import ProofTrace
from attncert.verify.kruskal.bounds import Contradiction, Interval, witnessed
from attncert.verify.kruskal.claims import claims, dependent_set
from attncert.verify.kruskal.interval import close, known, settled
from attncert.verify.kruskal.shards.jobs import sampling_job
from attncert.verify.kruskal.shards.sampled import Samples
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.questions.kruskal import Assume, Kruskal
from attncert.verify.rank.engines.devices import choose_device
from attncert.verify.rank.rational import Relation
from attncert.verify.sharding.engine import Cluster, untrue
from attncert.verify.sharding.engine import dask as connected

_SUBSETS = 1000


@dataclass(frozen=True, kw_only=True, repr=False)
class KruskalRank(Answer):
    """interval: the bounds. sampled: random subsets; None if none were drawn. certificate: one
    for the dependent set that proves the upper end."""

    question: Kruskal
    data: Vectors
    interval: Interval
    sampled: Samples | None = None


@answers(Kruskal)
def kruskal(
    vectors: Any, question: Kruskal | None = None, progress: StageProgress = silent
) -> KruskalRank:
    """Bounds on the Kruskal rank of vectors; given k, whether every k of them are independent.

    vectors: (N, d), as `verify.kruskal.vectors.Vectors` or anything that its `of` accepts: nested
    lists, a NumPy array, or a data set (for its queries). The conclusion is proved (exactly, modulo
    primes or over ℚ) or enclosed (coherence); it is assumed if records from Dask workers replace
    a search. If k is not given, the conclusion always holds. Random subsets lead to
    separate claims, which are sampled. Source: docs/commands.md. Raises InputError, for example if
    workers contradict what is computed here.

    >>> from attncert import Kruskal, kruskal
    >>> vectors = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [2, 0, 0]]
    >>> answer = kruskal(vectors)
    >>> answer.standing.value, answer.statement
    ('proved', 'The Kruskal rank of 4 vectors of width 3 is 1: vectors 0 and 3 are dependent.')
    >>> kruskal(vectors, Kruskal(k=2)).standing.value
    'refuted'
    """
    question = question or Kruskal()
    vectors = question.of(Vectors.of(vectors))
    most, device = min(vectors.N, vectors.d), choose_device(question.device)
    if question.k is not None and question.k > most:
        sizes = f"min(N, d) = min({vectors.N}, {vectors.d})"
        raise InputError("k", f"a whole number from 1 to {sizes}", question.k)
    seconds = dict[str, float]()
    with ExitStack() as stack:
        cluster = None if question.dask is None else stack.enter_context(connected(question.dask))
        stack.enter_context(_searching(cluster))
        with timed(seconds, "search"):
            interval = close(vectors, question, cluster=cluster, progress=progress)
            interval, sampled = _sampled(vectors, question, interval, cluster, progress)
    trace = claims(vectors, question.k, interval, sampled)
    certificate, uncertified = certified(vectors, interval.upper.dependency, question)
    return KruskalRank(
        question=question,
        data=vectors,
        trace=ProofTrace(trace),
        conclusion=trace[-1].id,
        certificate=certificate,
        uncertified=uncertified,
        seconds=seconds,
        versions=versions(device.versions),
        interval=interval,
        sampled=sampled,
    )


@contextmanager
def _searching(cluster: Cluster | None) -> Iterator[None]:
    """A context manager for the search: contradictions mean that records from workers are false."""
    try:
        yield
    except Contradiction:
        if cluster is None:
            raise
        raise untrue("one that contradicts what is proved here") from None


def _sampled(
    vectors: Vectors,
    question: Kruskal,
    interval: Interval,
    cluster: Cluster | None,
    progress: StageProgress,
) -> tuple[Interval, Samples | None]:
    """Random subsets of k vectors or, if k is not given, of as many vectors as the upper end
    allows. A dependent set among them narrows the interval and may answer the question."""
    k, count = question.k, _SUBSETS if question.subsets is None else question.subsets
    size = k or interval.upper.value
    if not size or not count or (settled(interval, k) and question.subsets is None):
        return interval, None
    job = sampling_job(vectors, size, count, seed=question.seed, device=question.device)
    records, assumed = job.run(cluster, progress=progress)
    sampled = job.work.summary(vectors, job.plan, records.values(), assumed)
    if sampled.witness is not None:
        interval = interval.tighten(witnessed(sampled.witness, "sampling"))
        if settled(interval, k) and interval.lower.level is not Level.ASSUMED:
            interval = replace(interval, stopped=known(None if interval.decided else k))
    return interval, sampled


def certified(
    vectors: Vectors, dependency: Relation | None, question: Kruskal | Assume
) -> tuple[Mapping[str, Any] | None, str]:
    """The certificate of a dependent set, or None with the reason."""
    if dependency is None:
        return None, "no set is shown to be dependent"
    try:
        by = produced_by(question.line(), question.seed)
        return dependent_set(vectors, dependency, by), ""
    except TooLarge as reason:
        return None, str(reason)
