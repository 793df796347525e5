"""Whether no weights of one head exceed a rank: an identity between exponential sums (ours).

Let the rank of Z with one head be r at some weights, and let its minor with the rows S and columns
C not be 0 there. If every minor of size r + 1 that contains this one is 0 for all weights, the rank
is r for almost all weights, and never more: the entries lie in a field of meromorphic functions of
the weights, where a nonzero minor all of whose borderings vanish gives the rank (Kronecker).

*A minor is an exponential sum.* With M = KQᵀ unrestricted, the minor with the rows R and columns J,
times the softmax sums of its rows, is

    Σ over choices of a token i_t for each t in R:  det (E⁽ᵗ⁾_{i_t, j})_{t∈R, j∈J} · exp⟨A, M⟩,
    A = Σ_t E⁽ᵗ⁾_{i_t} e_tᵀ.

Exponentials with different A are independent, so it is 0 for all M if and only if, for every A, the
determinants of the choices that give A add up to 0. There are n^(r+1) choices for each minor,
and (T - r)(d - r) minors: for small n and r that is decided exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from flint import fmpz_mat

from attncert.constructions.data.dataset import Dataset

MOST_TERMS = 100_000  # determinants in all: about a second


def affordable(data: Dataset, rank: int) -> bool:
    """Whether there is an identity to decide, and it is small enough."""
    minors = (data.T - rank) * (data.d - rank)
    return minors > 0 and minors * data.longest ** (rank + 1) <= MOST_TERMS


def never_exceeds(data: Dataset, rows: Sequence[int], columns: Sequence[int]) -> bool:
    """Whether all borderings of this minor vanish for all weights of one head, of any width.

    rows, columns: of a minor of Z that is not 0 at some weights. True: no weights of one head give
    rank Z above len(rows), and almost all give it. False: almost all exceed it. Exact, over ℤ.

    >>> import numpy as np
    >>> E = [np.diag([t, 1, 1]) for t in (1, 2, 3)]
    >>> never_exceeds(Dataset.of(E, [[1, 2, 3]] * 3, [0] * 3), (0, 1), (0, 1))
    True
    """
    tokens = [data.rows(t).numerators.tolist() for t in range(len(data.contexts))]
    queries = data.queries.numerators.tolist()
    further = [j for j in range(data.d) if j not in columns]
    for t in range(data.T):
        if t in rows:
            continue
        members = (*rows, t)
        contexts = [tokens[0 if data.shared else s] for s in members]
        for j in further:
            if any(_collected(contexts, [queries[s] for s in members], (*columns, j))):
                return False
    return True


def _collected(
    contexts: list[list[list[int]]], queries: list[list[int]], columns: Sequence[int]
) -> Iterator[int]:
    """The coefficients of the exponential sum, one for each exponent."""
    sums: dict[tuple[int, ...], int] = {}
    for tokens in product(*contexts):
        pairs = list(zip(tokens, queries, strict=True))
        width = range(len(queries[0]))
        exponent = tuple(sum(row[a] * e[b] for row, e in pairs) for a in width for b in width)
        minor = fmpz_mat([[row[j] for j in columns] for row in tokens])
        sums[exponent] = sums.get(exponent, 0) + int(minor.det())
    yield from sums.values()
