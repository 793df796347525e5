"""The least of the upper bounds on rank Z for all weights of H heads on one data set
(docs/tightness.md). They come from too few columns, or from relations between rows that hold for
all weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from attncert.constructions.data.dataset import Dataset
from attncert.verify.limits.tightness.columns import columns
from attncert.verify.limits.tightness.relations.rows import row_relations, shortest


@dataclass(frozen=True)
class UniversalBound:
    """The bound rank Z ≤ `rank` for every choice of weights, with its reason. witness: data that
    prove it."""

    rank: int
    reason: str
    witness: dict[str, Any]


def bound_from_above(data: Dataset, heads: int) -> UniversalBound:
    """The least of the bounds on rank Z for all weights of `heads` heads of any width.

    If contexts are equal up to the order of their rows and have rank n, some weights attain this
    rank (docs/tightness.md, section 4).

    >>> from attncert.constructions.data.generators import signed_pairs
    >>> bound_from_above(signed_pairs(), 7).witness["relation"]
    {'indices': [0, 1, 2, 3], 'coefficients': ['1', '1', '-1', '-1']}
    """
    relations = row_relations(data)
    bounds = [UniversalBound(data.T, "$Z$ has $T$ rows", {"T": data.T})]
    if relations:
        reason = "a relation between rows of $Z$ that holds for all weights"
        witness = {"relation": shortest(relations)[0].as_dict()}
        bounds.append(UniversalBound(data.T - len(relations), reason, witness))
    some = columns(data, heads)
    spanned = {"heads": heads, "a": some.spans.differences, "b": some.spans.common}
    reason = "the columns of $Z$: contexts of a set $S$ of examples span too little"
    bounds.append(UniversalBound(some.rank, reason, spanned | {"S": list(some.members)}))
    return min(bounds, key=lambda bound: bound.rank)
