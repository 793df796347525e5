"""The largest rank of Z for every number of heads, from both sides (ours; docs/tightness.md, 7).

R_H, the largest rank over all weights of H heads, does not depend on their width (width-one.md,
Theorem 3). From below: one draw of random integer weights of width one for many heads, and the rank
modulo a prime of the features of the first H of them, for every H at once (the pivots of one
elimination, counted by blocks of columns). From above, for all weights:

    T less the relations between rows (rows.py), the bound by columns (columns.py),
    R_1 where no weights of one head exceed the rank that was found (one_head.py), and
    R_H ≤ H R_1,  R_{H+1} ≤ R_H + (R_H - R_{H-1})                    (concavity, Proposition 7.1)

with the bounds from above for R_H and from below for R_{H-1}. Where the rows of every live context
are affinely independent, T less the relations is reached by enough heads (Theorem 6). Where some
R_H equals the limit T less the relations, so do those of all larger H.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import nmod_mat

from attncert.constructions.arrays import IntArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.exact.primes import PRIMES_31
from attncert.constructions.given.law import spans
from attncert.verify import features
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import OVER_Q, Claim, Level
from attncert.verify.tightness import one_head
from attncert.verify.tightness.relations.probes import random_layer
from attncert.verify.tightness.relations.rows import complete, few_tied, row_relations

_SOURCE = "ours; docs/tightness.md, sections 6 and 7"
_BOUNDS = (3, 30, 999)  # of the random integers
_MOST_FEATURES = 200_000  # T·H·d
_MOST_HEADS = 64


@dataclass(frozen=True)
class RankProfile:
    """below[h-1] ≤ R_h ≤ above[h-1] for h = 1, 2, ..., up to the first number of heads that reaches
    the limit, or as many as were tried.

    limit: R_H ≤ limit for every H. reached: whether enough heads are known to reach it (Theorem 6).
    """

    below: tuple[int, ...]
    above: tuple[int, ...]
    limit: int
    reached: bool
    prime: int

    @property
    def decided(self) -> bool:
        """Whether R_H is known for every H."""
        return self.below == self.above and self.below[-1] == self.limit

    def fewest(self, rank: int) -> tuple[int | None, int | None]:
        """The fewest heads that reach this rank: at least the first, at most the second number."""
        least = next((h for h, x in enumerate(self.above, 1) if x >= rank), None)
        most = next((h for h, x in enumerate(self.below, 1) if x >= rank), None)
        return least, most


def rank_profile(data: Dataset, seed: int = 0) -> RankProfile:
    """R_H from both sides. Exact; deterministic in the seed.

    >>> from attncert.constructions.data.generators import signed_pairs
    >>> profile = rank_profile(signed_pairs())
    >>> profile.below, profile.above, profile.limit, profile.decided
    ((2, 3), (2, 3), 3, True)
    """
    few = few_tied(data)
    limit = data.T - (len(row_relations(data)) if few else 0)
    most = max(1, min(limit, _MOST_HEADS, _MOST_FEATURES // (data.T * data.d)))
    whole, above = spans(data), list[int]()
    most_known = [min(limit, whole.features(h)) for h in range(1, most + 1)]
    below, prime = [0] * most, PRIMES_31[0]
    for bound in _BOUNDS:
        ranks, prime = _profile(data, most, bound, seed)
        below = [max(pair) for pair in zip(below, ranks, strict=True)]
        if below == most_known:
            break
    if below[0] < most_known[0] and _one_head_is_known(data, below[0], seed):
        most_known = [min(x, h * below[0]) for h, x in enumerate(most_known, start=1)]
    for h in range(1, most + 1):
        before = [0, 0, *below][h - 1 : h + 1]  # of h-2 and h-1 heads
        concave = 2 * above[-1] - before[0] if above else limit
        above.append(min(most_known[h - 1], concave))
        if below[h - 1] == limit:
            break
    count = len(above)
    return RankProfile(tuple(below[:count]), tuple(above), limit, few and complete(data), prime)


def _one_head_is_known(data: Dataset, rank: int, seed: int) -> bool:
    """Whether no weights of one head exceed this rank, which some reach."""
    if not one_head.affordable(data, rank):
        return False
    for bound in _BOUNDS:
        layer = random_layer(data, 1, 1, bound, np.random.default_rng([seed, bound]))
        for z, p in features.feature_residues(data, [features.logits(layer.heads[0], data)]):
            columns, rows = (_pivots(matrix, p) for matrix in (z, z.T))
            if len(rows) == rank:
                return one_head.never_exceeds(data, rows, columns)
    return False


def _pivots(matrix: IntArray, p: int) -> list[int]:
    """The first columns that are independent modulo p."""
    echelon, rank = nmod_mat(*matrix.shape, matrix.ravel().tolist(), p).rref()
    entries = np.array([int(x) for x in echelon.entries()]).reshape(-1, matrix.shape[1])
    return [int(np.flatnonzero(row)[0]) for row in entries[:rank]]


def _profile(data: Dataset, heads: int, bound: int, seed: int) -> tuple[list[int], int]:
    """Ranks modulo a prime of the features of the first 1, 2, ... random heads, and the prime."""
    rng = np.random.default_rng([seed, bound])
    layer = random_layer(data, heads, 1, bound, rng)
    tables = [features.logits(head, data) for head in layer.heads]
    for z, p in features.feature_residues(data, tables):
        starts = _pivots(z, p)
        return [sum(s < (h + 1) * data.d for s in starts) for h in range(heads)], p
    return [0] * heads, PRIMES_31[0]


def profile_claims(data: Dataset, profile: RankProfile) -> tuple[Claim, ...]:
    """Reached, bound, and what is known of the largest ranks."""
    heads = len(profile.below)
    reached = Claim(
        ids.HEADS_REACHED,
        f"Some weights of width one reach these ranks of $Z$ with 1, 2, ... heads, up to {heads}.",
        Level.PROVED,
        numbers={"ranks": _ends(profile.below), "prime": profile.prime},
        arithmetic=f"features and ranks mod {profile.prime}; the ranks over ℚ are at least these",
        source=_SOURCE,
    )
    limit = (
        "enough heads reach it" if profile.reached else "whether enough heads reach it is not known"
    )
    bound = Claim(
        ids.HEADS_BOUND,
        f"No weights of any width exceed these ranks with 1, 2, ... heads, up to {heads}, nor "
        f"{profile.limit} with any number of heads; {limit}.",
        Level.ARGUED,
        numbers={"ranks": _ends(profile.above), "limit": profile.limit},
        arithmetic=OVER_Q,
        source=_SOURCE,
    )
    least, most = profile.fewest(data.T)
    known = {} if most is None else {"fewest heads with rank Z = T, at most": most}
    known |= {} if least is None or most is None else {"and no fewer than": least}
    exact = Claim(
        ids.HEADS_EXACT,
        "The largest rank of $Z$ over all weights is known for every number of heads.",
        Level.ARGUED if profile.decided else Level.UNDECIDED,
        numbers=known,
        witness=None if profile.decided else {"open for H in": _open(profile)},
        rests_on=(ids.HEADS_REACHED, ids.HEADS_BOUND),
        source=_SOURCE,
    )
    return reached, bound, exact


def _open(profile: RankProfile) -> str:
    pairs = enumerate(zip(profile.below, profile.above, strict=True), 1)
    numbers = [str(h) for h, (low, high) in pairs if low < high]
    if profile.below[-1] < profile.limit:
        numbers.append(f"and above {len(profile.below)}")
    return _ends(numbers)


def _ends(values: Sequence[object]) -> str:
    """
    >>> _ends([1, 2, 3]), _ends(range(40))
    ('1, 2, 3', '0, 1, 2, 3, 4, 5, 6, 7, ..., 38, 39')
    """
    texts = list(map(str, values))
    return ", ".join(texts if len(texts) <= 24 else [*texts[:8], "...", *texts[-2:]])
