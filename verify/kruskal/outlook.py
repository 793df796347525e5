"""What a search for the Kruskal rank is estimated to take, said before it begins."""

from __future__ import annotations

from attncert.verify.claims.evidence import counted
from attncert.verify.kruskal.methods import exhaustive
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.questions.kruskal import Kruskal


def outlook(vectors: Vectors, question: Kruskal, threads: int) -> str:
    """One sentence, for so many threads: the sizes whose sets can be looked at within the limit by
    the cost model, and the next.

    >>> digits = Vectors.of([[1] * 16] * 1782)
    >>> print(outlook(digits, Kruskal(work=20.0), 8))
    Estimated for 2 free cores: all sets of 3 take 0.05 s, all sets of 4 take 6 s, all sets of 5 \
would take 100 s.
    """
    N, d = vectors.array.shape
    limit, cores = (question.seconds, threads) if question.seconds else (question.work, 2)
    prices = []
    for k in range(question.k or 3, (question.k or min(N, d)) + 1):
        price = exhaustive.nominal_seconds(N, d, k, cores)
        verb = "take" if price <= (limit or 0) else "would take"
        prices.append(f"all sets of {k} {verb} {float(f'{price:.1g}'):g} s")
        if verb != "take":
            break
    return f"Estimated for {counted(cores, 'free core')}: {', '.join(prices) or 'nothing'}."
