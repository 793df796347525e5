"""All labels at once: the largest rank of Z for H heads, from both sides, and heads that serve all.

The width of the heads does not matter for it (docs/width-one.md, Theorem 3); that of the values
does where d_v < m: then ⌈m/d_v⌉ copies of a head, with values of their own, do what one with wide
values does, so H heads serve at least what ⌊H/⌈m/d_v⌉⌋ such heads serve.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from attncert.constructions import generic
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.given.law import Spans
from attncert.constructions.progress import StageProgress, silent
from attncert.verify.capacity.jacobian import Jacobian
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.words import counted
from attncert.verify.tightness.by_heads import RankProfile, profile_claims, rank_profile
from attncert.verify.tightness.columns import Columns, bound_claims, columns
from attncert.verify.tightness.limits import label_limits
from attncert.verify.tightness.relations.probes import RankedLayer, best_rank, enough

_MOST_FEATURES = 2**22  # T·H·d up to which layers are drawn
_SOURCE = "ours; docs/given-labels.md, Theorem U"


@dataclass(frozen=True)
class Universal:
    """Examples that H heads serve with one choice of keys and queries: at least, at most.

    below, above: the claims that show the two. needed: no fewer heads serve all T; None: no number
    of them does. full: weights that serve all, None where none are known. enough: how many heads
    that takes, copies counted. columns: the bound that almost all queries reach. claims: what shows
    all this.
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
    """Exact: ranks over ℚ, and modulo primes from below. Deterministic for a seed."""
    heads, copies = law.heads, -(-data.m // law.value_width)
    progress("limits for all weights", 0, 1)
    known = label_limits(data, heads, law.value_width)
    bound = columns(data, heads, seed)
    progress("ranks by heads", 0, 1)
    ranks = _Ranks(data, rank_profile(data, seed), bound, law.spans)
    reached = ranks.reached(heads // copies, seed)
    needed = next((h for h in range(1, data.T + 1) if ranks.above(h) >= data.T), None)
    progress("weights for all labels", 0, 1)
    full = next(_full(ranks, needed, heads // copies, seed), None) if needed else None
    served = full is not None and len(full.layer.heads) <= heads // copies
    below = ids.UNIVERSAL_REACHED if reached else None
    return Universal(
        data.T if served else reached[0] if reached else 0,
        ranks.above(heads),
        ids.UNIVERSAL_ENOUGH if served else below,
        ids.TIGHTNESS_BOUND if bound.rank <= ranks.by_profile(heads) else ids.HEADS_BOUND,
        needed,
        copies * len(full.layer.heads) if full else None,
        full,
        bound,
        (
            *known,
            *profile_claims(data, ranks.profile),
            *(() if served else _reached(heads // copies, reached)),
            *((enough(full),) if full else ()),
            *_above(data, heads, ranks),
        ),
    )


@dataclass(frozen=True)
class _Ranks:
    """What is known of the largest rank of Z for every number of heads."""

    data: Dataset
    profile: RankProfile
    columns: Columns
    spans: Spans

    def above(self, heads: int) -> int:
        """No weights of so many heads have a larger rank."""
        return min(self.by_profile(heads), self.columns.bound(heads), self.spans.features(heads))

    def by_profile(self, heads: int) -> int:
        above = self.profile.above
        return above[heads - 1] if heads <= len(above) else self.profile.limit

    def reached(self, heads: int, seed: int) -> tuple[int, int] | None:
        """A rank that some weights of so many heads have, and the prime. None for no heads."""
        if heads == 0:
            return None
        profile = self.profile
        below = profile.below[min(heads, len(profile.below)) - 1]
        most = self.above(heads)
        if below == most or self.data.T * heads * self.data.d > _MOST_FEATURES:
            return below, profile.prime
        layer = best_rank(self.data, heads, most, seed=seed)
        return max((below, profile.prime), (layer.rank, layer.prime))


def _full(ranks: _Ranks, needed: int, law_heads: int, seed: int) -> Iterator[RankedLayer]:
    """Weights with rank Z = T: of as few heads as are known to have it, else of as many as are
    needed, as are asked for, and as are promised under A1 and A2."""
    data = ranks.data
    known = ranks.profile.fewest(data.T)[1]
    counts = [known] if known else sorted({needed, law_heads, generic.promised_heads(data)})
    for heads in counts:
        if heads >= needed and data.T * heads * data.d <= _MOST_FEATURES:
            layer = best_rank(data, heads, data.T, seed=seed)
            if layer.rank == data.T:
                yield layer


def _reached(heads: int, reached: tuple[int, int] | None) -> Iterator[Claim]:
    if reached is None:
        return
    rank, prime = reached
    yield Claim(
        ids.UNIVERSAL_REACHED,
        f"Some weights of {counted(heads, 'head')} of width 1 have rank $Z\\ge{rank}$.",
        Level.PROVED,
        numbers={"rank": rank, "prime": prime},
        arithmetic=f"random integer weights, features and rank mod {prime}",
        source=_SOURCE,
    )


def _above(data: Dataset, heads: int, ranks: _Ranks) -> Iterator[Claim]:
    """The bound, and what holds for almost all queries."""
    bound = ranks.columns
    yield from bound_claims(data, bound)
    yield Claim(
        ids.UNIVERSAL_QUERIES,
        "For almost all queries on these contexts the largest rank of $Z$ of "
        f"{counted(heads, 'head')}, of any width, is {bound.rank}: no set $S$ gives less.",
        Level.ARGUED if bound.least else Level.UNDECIDED,
        numbers={"rank": bound.rank},
        witness=None if bound.least else {"reason": "the sets of examples were not compared"},
        rests_on=(ids.TIGHTNESS_BOUND,),
        source=_SOURCE,
    )
