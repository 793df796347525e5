"""Retrieval of stored patterns by one softmax (Ramsauer et al. 2021: modern Hopfield networks).

Distinct patterns x_1, ..., x_N are the context, and each of them is a query: keys, values and
output are I, the query weights are β·I, and the base is e. So the output at x_i is Σ_j p_j x_j with
p the softmax of β x_j·x_i. Let Δ_i = x_i·x_i - max_(j≠i) x_j·x_i.

*Error.* The output minus x_i is Σ_(j≠i) p_j (x_j - x_i), and p_j ≤ p_j/p_i ≤ e^(-βΔ_i). So

    |output - x_i|  ≤  (N - 1) e^(-βΔ_i) max_j |x_j - x_i|        in every norm; here the
                                                                maximum norm.

It goes to 0 as β grows if Δ_i > 0: then x_i is called separated.

*Never exact.* All p_j are positive. For a separated x_i and N ≥ 2, x_i·output is a mean of the
x_j·x_i with positive weights, and all of them except x_i·x_i are smaller than x_i·x_i. So
x_i·output < x_i·x_i: the output is not x_i, at any β. (If Δ_i = 0, it may be x_i, as for 0 among
-1, 0, 1.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flint import arb, fmpq, fmpq_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.exact_array import ExactArray
from attncert.constructions.errors import InputError
from attncert.constructions.layer import Head
from attncert.constructions.network.blocks import Attention
from attncert.constructions.network.inputs import Inputs
from attncert.constructions.network.network import Network


@dataclass(frozen=True)
class Retrieval:
    """One softmax block and the N distinct patterns, with Δ_i (None for a single pattern) and the
    reach max_j |x_j - x_i| of each, in the maximum norm."""

    network: Network
    data: Dataset
    beta: fmpq
    examples: tuple[int, ...]
    gaps: tuple[fmpq | None, ...]
    reaches: tuple[fmpq, ...]

    def bounds(self) -> list[arb]:
        """(N - 1) e^(-βΔ_i) max_j |x_j - x_i| for each pattern, enclosed in a ball."""
        return [
            arb(reach) * (len(self.gaps) - 1) * (arb(-self.beta * gap).exp() if gap else 1)
            for gap, reach in zip(self.gaps, self.reaches, strict=True)
        ]


def build(data: Dataset, seed: int = 0, *, beta: Any = 1) -> Retrieval:
    """The retrieval of the distinct queries of a data set, at β > 0: an integer, float (taken
    exactly), Fraction or "p/q". Gaps and reaches are exact; nothing is random. Raises InputError.

    >>> retrieval = build(Dataset.of([[0]], [[1], [-1], [0], [1]]), beta=2)
    >>> retrieval.gaps, retrieval.reaches
    ((1, 1, 0), (2, 2, 1))
    """
    factor = ExactArray.of([beta], "beta")
    if factor.shape != (1,) or factor.stored[0] <= 0:
        raise InputError("beta", "a positive number", beta)
    patterns = Inputs.merged("query", data.query_matrix, data.query_matrix)
    one = fmpq_mat([[int(i == j) for j in range(data.d)] for i in range(data.d)])
    query = one * fmpq(int(factor.stored[0]), factor.denominator)
    return Retrieval(
        network=Network((Attention((Head(one, query, one),), one, unit="1"),)),
        data=stored(data, patterns.examples),
        beta=query[0, 0],
        examples=patterns.examples,
        gaps=_gaps(patterns.vectors),
        reaches=_reaches(patterns.vectors),
    )


def stored(data: Dataset, examples: Sequence[int] | None = None) -> Dataset:
    """The distinct queries as patterns: each is a query with its label, and together they form
    the shared context."""
    if examples is None:
        examples = Inputs.merged("query", data.query_matrix, data.query_matrix).examples
    queries = data.queries[list(examples)]
    return Dataset(queries.reshape((1, *queries.shape)), queries, queries, data.name)


def _gaps(patterns: fmpq_mat) -> tuple[fmpq | None, ...]:
    gaps = []
    for i, products in enumerate((patterns * patterns.transpose()).tolist()):
        own = products.pop(i)
        gaps.append(own - max(products) if products else None)
    return tuple(gaps)


def _reaches(patterns: fmpq_mat) -> tuple[fmpq, ...]:
    """In each coordinate, the smallest or the largest entry is the farthest."""
    ends = [(min(column), max(column)) for column in patterns.transpose().tolist()]
    return tuple(
        max(max(x - low, high - x) for x, (low, high) in zip(row, ends, strict=True))
        for row in patterns.tolist()
    )
