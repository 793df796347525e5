"""All labels at once: bounds on the largest rank of Z for H heads, and heads that reach it.

The width of the heads does not affect the largest rank (docs/width-one.md, Theorem 3). The width of
the values matters if d_v < m: then ⌈m/d_v⌉ copies of a head, each with its own values, replace one
head with wide values, so H heads memorize at least as many labels as ⌊H/⌈m/d_v⌉⌋ wide heads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from attncert.constructions import generic
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.progress import StageProgress, silent
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.words import counted
from attncert.verify.limits.capacity.jacobian import Jacobian
from attncert.verify.limits.tightness.columns import Columns, bound_claims, columns
from attncert.verify.limits.tightness.limits import label_limits
from attncert.verify.limits.tightness.relations.probes import RankedLayer, best_rank, enough
from attncert.verify.limits.tightness.relations.rows import row_relations

_MOST_FEATURES = 2**22  # a layer is drawn only if T·H·d is at most this number
_SOURCE = "ours; docs/given-labels.md, Theorem U"


@dataclass(frozen=True)
class Universal:
    """Bounds on the number of examples that H heads memorize with one choice of keys and queries.

    below, above: the claims that prove the bounds. needed: with fewer heads than this, not all T
    examples are memorized; None if no number suffices. full: weights that memorize all T; None if
    none are known. enough: the number of heads of these weights, copies included. columns: the
    bound that is attained for almost all queries. claims: the evidence.
    """

    least: int
    most: int
    below: ids.ClaimId | None
    above: ids.ClaimId
    needed: int | None
    enough: int | None
    full: RankedLayer | None
    columns: Columns
    claims: tuple[Claim, ...]


def universal(
    data: Dataset, law: Jacobian, seed: int = 0, progress: StageProgress = silent
) -> Universal:
    """The bounds for these data. Exact: ranks over ℚ, and lower bounds modulo primes.
    The same seed gives the same result."""
    copies = -(-data.m // law.value_width)
    wide = law.heads // copies  # heads with values as wide as the labels
    progress("limits for all weights", 0, 1)
    known = label_limits(data, law.heads, law.value_width)
    bound = columns(data, law.heads, seed)
    by_rows = data.T - len(row_relations(data))

    def above(heads: int) -> int:
        return min(by_rows, bound.bound(heads), law.spans.features(heads))

    needed = next((h for h in range(1, data.T + 1) if above(h) >= data.T), None)
    progress("weights for all labels", 0, 1)
    full = next(_full(data, needed, wide, seed), None) if needed else None
    served = full is not None and len(full.layer.heads) <= wide
    fewer = min(wide, _MOST_FEATURES // (data.T * data.d))  # fewer if `wide` is too large
    reached = None
    if fewer and not served:
        reached = best_rank(data, fewer, above(wide), seed=seed)
    least = 0
    below: ids.ClaimId | None = None
    if served:
        least, below = data.T, ids.UNIVERSAL_ENOUGH
    elif reached is not None:
        least, below = reached.rank, ids.UNIVERSAL_REACHED
    return Universal(
        least,
        above(law.heads),
        below,
        ids.TIGHTNESS_BOUND if bound.rank <= by_rows else ids.ROWS_RELATIONS,
        needed,
        copies * len(full.layer.heads) if full else None,
        full,
        bound,
        (
            *known,
            *((_reached_claim(reached),) if reached else ()),
            *((enough(full),) if full else ()),
            *_above(data, bound),
        ),
    )


def _full(data: Dataset, needed: int, wide: int, seed: int) -> Iterator[RankedLayer]:
    """Weights with rank Z = T. The numbers of heads tried are the number needed, the number in the
    question, and the number that suffices under A1 and A2."""
    for heads in sorted({needed, wide, generic.promised_heads(data)}):
        if heads >= needed and data.T * heads * data.d <= _MOST_FEATURES:
            layer = best_rank(data, heads, data.T, seed=seed)
            if layer.rank == data.T:
                yield layer


def _reached_claim(reached: RankedLayer) -> Claim:
    return Claim(
        ids.UNIVERSAL_REACHED,
        f"Some weights of {counted(len(reached.layer.heads), 'head')} of width 1 have rank "
        f"$Z\\ge{reached.rank}$.",
        Level.PROVED,
        numbers={"rank": reached.rank, "prime": reached.prime},
        arithmetic=f"random integer weights, features and rank mod {reached.prime}",
        source=_SOURCE,
    )


def _above(data: Dataset, bound: Columns) -> Iterator[Claim]:
    """The claims about the bound, and the claim about almost all queries."""
    yield from bound_claims(data, bound)
    yield Claim(
        ids.UNIVERSAL_QUERIES,
        "For almost all queries on these contexts the largest rank of $Z$ of "
        f"{counted(bound.heads, 'head')}, of any width, is {bound.rank}: no set $S$ gives less.",
        Level.ARGUED if bound.least else Level.UNDECIDED,
        numbers={"rank": bound.rank},
        witness=None if bound.least else {"reason": "the sets of examples were not compared"},
        rests_on=(ids.TIGHTNESS_BOUND,),
        source=_SOURCE,
    )
