"""`attncert kruskal` as a function: vectors and a question in, claims out.

Two things, kept apart: the interval around the Kruskal rank, *proved* at both ends, and random
subsets, tested exactly: *sampled*, no bound on the rank unless one of them is dependent. Once the
search settles the question, subsets are drawn only where their number is stated.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

from attncert.constructions.errors import InputError
from attncert.constructions.progress import StageProgress, silent
from attncert.verify.answers import answers
from attncert.verify.certificate import TooLarge, produced_by
from attncert.verify.claims.answer import Answer
from attncert.verify.claims.evidence import Level
from attncert.verify.claims.trace import ProofTrace
from attncert.verify.installed import versions
from attncert.verify.kruskal.bounds import Contradiction, Interval, witnessed
from attncert.verify.kruskal.claims import claims, dependent_set
from attncert.verify.kruskal.interval import close, known, settled
from attncert.verify.kruskal.shards.jobs import sampling_job, untrue
from attncert.verify.kruskal.shards.sampled import Samples
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.questions.kruskal import Assume, Kruskal
from attncert.verify.rank.engines.devices import choose_device
from attncert.verify.rank.rational import Relation
from attncert.verify.scale.engine import Cluster
from attncert.verify.scale.engine import dask as connected
from attncert.verify.scale.log import Log


@dataclass(frozen=True, kw_only=True, repr=False)
class KruskalRank(Answer):
    """interval: proved. sampled: random subsets; None where there were none to look at.
    certificate: of the dependent set that proves the upper end."""

    question: Kruskal
    data: Vectors
    interval: Interval
    sampled: Samples | None = None


@answers(Kruskal)
def kruskal(
    vectors: Any, question: Kruskal | None = None, progress: StageProgress = silent
) -> KruskalRank:
    """The Kruskal rank of some vectors, from both sides; with k, whether every k are independent.

    vectors: (N, d), as `verify.kruskal.vectors.Vectors` or whatever its `of` takes: nested lists, a
    NumPy array, a data set (its queries). The conclusion is proved (exact, modulo primes or over
    ℚ), or enclosed (coherence); assumed if a log or Dask workers stand in for a search; without k
    it always holds. Random subsets are claims of their own, sampled. Source: docs/commands.md.
    Raises InputError, also for a log, or workers, that contradict what is computed here. Ctrl-C is
    a KeyboardInterrupt that says what the log keeps.

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
    _require(question, vectors)
    with ExitStack() as stack:
        log = None if question.log is None else stack.enter_context(Log(question.log))
        cluster = None if question.dask is None else stack.enter_context(connected(question.dask))
        start = time.monotonic()
        try:
            outcome = search(vectors, question, progress, log=log, cluster=cluster)
        except KeyboardInterrupt:
            kept = "" if log is None else f"{log.count} finished shards are kept in {log.path}"
            raise KeyboardInterrupt(kept) from None
        except Contradiction:
            if log is None and cluster is None:
                raise
            reason = "one that contradicts what is proved here"
            raise untrue("log" if cluster is None else "dask", reason) from None
        return _answer(vectors, question, *outcome, time.monotonic() - start)


def _require(question: Kruskal, vectors: Vectors) -> None:
    most = min(vectors.N, vectors.d)
    if question.k is not None and question.k > most:
        sizes = f"min(N, d) = min({vectors.N}, {vectors.d})"
        raise InputError("k", f"a whole number from 1 to {sizes}", question.k)
    choose_device(question.device)


def _answer(
    vectors: Vectors,
    question: Kruskal,
    interval: Interval,
    sampled: Samples | None,
    seconds: float,
) -> KruskalRank:
    trace = claims(vectors, question.k, interval, sampled)
    certificate, uncertified = certified(vectors, interval.upper.dependency, question)
    return KruskalRank(
        question=question,
        data=vectors,
        trace=ProofTrace(trace),
        conclusion=trace[-1].id,
        certificate=certificate,
        uncertified=uncertified,
        seconds={"search": seconds},
        versions=versions(choose_device(question.device).versions),
        interval=interval,
        sampled=sampled,
    )


def search(
    vectors: Vectors,
    question: Kruskal,
    progress: StageProgress = silent,
    *,
    log: Log | None = None,
    cluster: Cluster | None = None,
) -> tuple[Interval, Samples | None]:
    """Close the interval, then draw the random subsets: of k vectors, or as many as the upper end
    allows."""
    interval = close(vectors, question, log=log, cluster=cluster, progress=progress)
    size, count = question.k or interval.upper.value, question.drawn
    if not size or not count or (settled(interval, question.k) and question.subsets is None):
        return interval, None
    sampling = sampling_job(
        vectors, size, count, seed=question.seed, device=question.device, log=log
    )
    records, assumed = sampling.run(cluster, progress=progress)
    sampled = sampling.work.summary(vectors, sampling.plan, records.values(), assumed)
    return _tightened(interval, sampled, question.k), sampled


def _tightened(interval: Interval, sampled: Samples, k: int | None) -> Interval:
    """The interval with a dependent set of the sample, which may answer what was open."""
    if sampled.witness is None:
        return interval
    narrower = interval.tighten(witnessed(sampled.witness, "sampling"))
    if narrower is interval:
        return interval
    if settled(narrower, k) and narrower.lower.level is not Level.ASSUMED:
        narrower = replace(narrower, stopped=known(None if narrower.decided else k))
    return narrower


def certified(
    vectors: Vectors, dependency: Relation | None, question: Kruskal | Assume
) -> tuple[Mapping[str, Any] | None, str]:
    """The certificate of a dependent set, or None and why there is none."""
    if dependency is None:
        return None, "no set is shown to be dependent"
    try:
        by = produced_by(question.line(), question.seed)
        return dependent_set(vectors, dependency, by), ""
    except TooLarge as reason:
        return None, str(reason)
