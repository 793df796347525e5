"""What a search for the Kruskal rank is estimated to take, said before it begins."""

from __future__ import annotations

import math

from attncert.verify.claims.evidence import counted
from attncert.verify.kruskal.methods import exhaustive
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.questions.kruskal import Kruskal


def outlook(vectors: Vectors, question: Kruskal, threads: int) -> str:
    """One sentence, for so many threads.

    >>> digits = Vectors.of([[1] * 16] * 1782)
    >>> print(outlook(digits, Kruskal(work=20.0), 8))
    Estimated for 2 free cores: all sets of 3 take 0.05 s, all sets of 4 take 6 s and 1 MB; \
all sets of 5 would take 100 s.
    """
    shape, cores = (vectors.N, vectors.d), threads if question.seconds else 2
    ready = affordable(vectors, question, cores)
    further = max(ready, default=2) + 1

    def price(k: int) -> str:
        return f"{float(f'{exhaustive.nominal_seconds(*shape, k, cores):.1g}'):g} s"

    line = ", ".join(f"all sets of {k} take {price(k)}" for k in ready)
    if ready:
        most = max(exhaustive.memory(*shape, k, cores) for k in ready)
        line += f" and {math.ceil(most / 1e6):,} MB; "
    if further <= (question.k or min(shape)):
        line += f"all sets of {further} would take {price(further)}"
    return f"Estimated for {counted(cores, 'free core')}: {line.removesuffix('; ') or 'nothing'}."


def affordable(vectors: Vectors, question: Kruskal, cores: int) -> list[int]:
    """The sizes from 3 whose sets are looked at within the limit on so many cores, by the cost
    model: one after another, and as if none were found dependent.

    >>> digits = Vectors.of([[1] * 16] * 1782)
    >>> for seconds, cores in ((60.0, 1), (400.0, 1), (900.0, 1), (450.0, 2)):
    ...     print(affordable(digits, Kruskal(time_limit=seconds), cores))
    [3, 4]
    [3, 4, 5]
    [3, 4, 6]
    [3, 4, 6]
    """
    shape, left = (vectors.N, vectors.d), question.seconds or question.work or 0.0
    upper = question.k or min(shape)

    def price(k: int) -> float:
        return exhaustive.nominal_seconds(*shape, k, threads=1) / cores

    if upper == question.k and upper > 2 and price(upper) <= left:
        return [upper]
    sizes, lower = list[int](), 2
    while (size := exhaustive.next_size(shape, lower, upper, left, price)) is not None:
        left -= price(size)
        if left < 0:
            break
        sizes.append(size)
        lower = size
    return sizes
