"""At what strength a construction used each hypothesis: counted in what was built.

The theorem asks for A1 of n queries at a time and A2 of n rows; how many were really compared with
one another can be read off the groups, the logits and the heads.
"""

from __future__ import annotations

from dataclasses import dataclass

from attncert.constructions.construction import Construction, SteeringHead
from attncert.constructions.data.dataset import Dataset

# The steps that place a group, and that give it its logits.
_PLACING = {"paper": ("duals", "steering"), "width-one": ("coefficients", "curve")}


@dataclass(frozen=True)
class Use:
    """hypothesis and step; allowed: the theorem's number; used: the largest in this construction.

    what: what is counted.
    """

    hypothesis: str
    step: str
    what: str
    allowed: int
    used: int


def uses(data: Dataset, built: Construction, value_width: int) -> tuple[Use, ...]:
    """Counted over the heads of a proof. For short heads, and for weights that follow no proof, no
    step is claimed: their rank is certified alone. No arithmetic."""
    readout = Use("d_v ≥ m", "readout", "columns of values that a head needs", value_width, data.m)
    if built.name not in _PLACING:
        return (readout,)
    placing, own = _PLACING[built.name]
    n, least = data.n, min(data.n, data.T)
    heads = [h for h in built.heads if isinstance(h, SteeringHead) and not getattr(h, "short", 0)]
    sizes = [len(head.group) for head in heads]
    later = [len(head.group) for head in heads if head.selector is not None]
    logits = max((len(set(g)) for head in heads for g in head.logits), default=0)
    largest = max(sizes, default=0)
    return (
        Use("A1", placing, "queries of one group, independent", least, largest),
        Use("A1", "selector", "queries of a later group and an earlier one", least,
             max(later) + 1 if later else 0),
        Use("A2", own, "different logits of one context of a head's own group", n, logits),
        Use("A2", "separator", "rows of an earlier context told apart", n, 2 if later else 0),
        Use("A2", "independence", "rows of one context that cannot all be forbidden", n, largest),
        Use("n ≤ d", "independence", "rows that must be independent, of width d", data.d, largest),
        readout,
        Use("T ≤ H(r-1)+1", "groups", "examples", len(built.layer.heads) * (built.r - 1) + 1,
             data.T),
    )  # fmt: skip
