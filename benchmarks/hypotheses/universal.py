"""Universal memorization by H heads of a given width, for one data set: one of three verdicts.

possible    some weights have rank Z = T                       (exact, a rank modulo a prime)
impossible  rank Z < T for every choice of weights of any width         (docs/tightness.md)
undecided   neither was shown
"""

from __future__ import annotations

from typing import Any

from attncert.constructions.data.dataset import Dataset
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import OVER_Q, About, Claim, Level
from attncert.verify.claims.words import counted
from attncert.verify.limits.tightness.limits import largest_rank
from attncert.verify.limits.tightness.relations.probes import best_rank


def universal(
    data: Dataset, heads: int, width: int = 1, *, draws: int = 12, seed: int = 0
) -> Claim:
    """Whether some weights of `heads` heads of this width have rank Z = T.

    Proved with the prime modulo which the rank is full; refuted, for every width, with the bound;
    otherwise undecided. Deterministic for a seed.
    """
    bound, witness = largest_rank(data, heads)
    claim: dict[str, Any] = {
        "id": ids.UNIVERSAL,
        "statement": f"Some keys and queries of {counted(heads, 'head')} serve every labelling of "
        f"{counted(data.T, 'example', 'the')}.",
        "source": "ours; docs/tightness.md",
        "about": About.UNIVERSAL,
    }
    if bound < data.T:
        because = "the columns of $Z$: contexts of a set $S$ of examples span too little"
        if "relation" in witness:
            because = "a relation between rows of $Z$ that holds for all weights"
        return Claim(
            level=Level.REFUTED,
            numbers={"T": data.T, "no weights exceed rank": bound, "because": because},
            witness=witness,
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
