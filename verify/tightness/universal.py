"""Universal memorization by H heads of some width, for one data set, with three verdicts.

possible    some weights have rank Z = T                       (exact, a rank modulo a prime)
impossible  rank Z < T for every choice of weights of any width: too few columns, a relation
            between rows or one between columns that holds for all weights   (docs/tightness.md)
undecided   neither was found
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from attncert.constructions.data.dataset import Dataset
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import OVER_Q, About, Claim, Level
from attncert.verify.claims.words import counted
from attncert.verify.tightness.columns import columns
from attncert.verify.tightness.relations.probes import best_rank
from attncert.verify.tightness.relations.rows import row_relations, shortest


@dataclass(frozen=True)
class UniversalBound:
    """rank Z ≤ `rank` for every choice of weights, for this reason; witness: data that show it."""

    rank: int
    reason: str
    witness: dict[str, Any]


def bound_from_above(data: Dataset, heads: int) -> UniversalBound:
    """The least of the bounds on rank Z that hold for all weights of `heads` heads of any width.

    If contexts are equal up to the order of their rows and have rank n, this is the largest rank
    that some weights reach (docs/tightness.md, section 4).

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


def universal(
    data: Dataset, heads: int, width: int = 1, *, draws: int = 12, seed: int = 0
) -> Claim:
    """Do some weights of `heads` heads of this width have rank Z = T?

    Proved with the prime modulo which the rank is full; refuted, for every width, with the bound;
    otherwise undecided. Deterministic for a seed.
    """
    bound = bound_from_above(data, heads)
    claim: dict[str, Any] = {
        "id": ids.UNIVERSAL,
        "statement": f"Some keys and queries of {counted(heads, 'head')} serve every labelling of "
        f"{counted(data.T, 'example', 'the')}.",
        "source": "ours; docs/tightness.md",
        "about": About.UNIVERSAL,
    }
    if bound.rank < data.T:
        return Claim(
            level=Level.REFUTED,
            numbers={"T": data.T, "no weights exceed rank": bound.rank, "because": bound.reason},
            witness=bound.witness,
            arithmetic=OVER_Q,
            **claim,
        )
    reached = best_rank(data, heads, data.T, width=width, draws=draws, seed=seed)
    numbers = {"T": data.T, "rank": reached.rank, "prime": reached.prime, "draws": reached.draws}
    return Claim(
        level=Level.PROVED if reached.rank == data.T else Level.UNDECIDED,
        numbers=numbers,
        arithmetic=f"features and rank mod {reached.prime}; the rank over ℚ is at least that",
        **claim,
    )
