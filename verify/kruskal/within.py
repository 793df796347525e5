"""Is every set of k vectors independent, within counted work: what `prove` asks of its queries.

The work is nominal (`budget`), so that equal runs end alike on every machine. Going through all
sets has a price that is known in advance. Where the work covers it the question is answered; where
it does not, a tenth of the work goes to what may answer it at a lower price: the methods that list
no sets, and the searches for a dependent one.
"""

from __future__ import annotations

import math

from attncert.constructions.progress import StageProgress, silent
from attncert.verify.kruskal.bounds import RankBound
from attncert.verify.kruskal.budget import SHARE
from attncert.verify.kruskal.interval import close
from attncert.verify.kruskal.methods import coherence, exhaustive, information_sets
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.questions.kruskal import Kruskal

MOST = 10**7
"""Nominal seconds: no command line takes more."""

_MARGIN = 1.1  # searches for witnesses end a little after their share
_BY_LUCK = 0.1


def decide_within(
    vectors: Vectors, k: int, work: float, seed: int = 0, progress: StageProgress = silent
) -> RankBound | None:
    """What answers whether every k of the vectors are independent: a lower bound of k or more, or
    an upper bound below k with its witness. None where so much work does not settle it.

    work: nominal seconds, at least 0. Arithmetic and levels: those of the bound. A k that is not
    from 1 to min(N, d) is not asked.

    >>> vectors = Vectors.of([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1], [1, 2, 0]])
    >>> decide_within(vectors, 2, 1.0).value, decide_within(vectors, 3, 1.0).dependency.indices
    (2, (0, 1, 4))
    >>> decide_within(vectors, 3, 0.0) is None
    True
    """
    if not (work and 1 <= k <= min(vectors.N, vectors.d)):
        return None
    part = work if work_needed(vectors, k) <= work else work * _BY_LUCK
    interval = close(vectors, Kruskal(k=k, work=part, seed=seed), progress=progress)
    independent = interval.answers(k)
    if independent is None:
        return None
    return interval.lower if independent else interval.upper


def work_needed(vectors: Vectors, k: int) -> float:
    """Nominal seconds with which `close` comes to the end of all sets of k, two digits, rounded up;
    infinite where no command line takes so many.

    Before it begins, both searches for witnesses take their share, and the methods that list
    nothing and all smaller sizes their price at most.

    >>> queries = Vectors.of([[1, t, t**2, t**3] for t in range(60)])
    >>> work_needed(queries, 4)
    0.0082
    """
    N, d = vectors.N, vectors.d
    prices = [coherence.nominal_seconds(N, d), information_sets.nominal_seconds(N, d, min(N, d))]
    prices += [exhaustive.nominal_seconds(N, d, size) for size in range(1, k + 1)]
    needed = _MARGIN * sum(prices) / (1 - SHARE) ** 2
    if needed > MOST:
        return math.inf
    step = 10.0 ** (math.floor(math.log10(needed)) - 1)
    return float(f"{math.ceil(needed / step) * step:.2g}")
