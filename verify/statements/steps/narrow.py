"""Values narrower than the labels, d_v < m (docs/width-one.md, section 9).

The readout uses a set C of feature columns: from each head, one column for each example that
the head places. If Z[., C] is invertible and C has at most d_v columns of each head, values that
only *pick* these columns memorize every labelling Y, with the output matrix Z[., C]⁻¹ Y.
"""

from __future__ import annotations

import numpy as np

from attncert.constructions.construction import BuiltLayer
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import HypothesisFails
from attncert.constructions.exact.primes import PRIMES_31
from attncert.verify.certificates.coq.theorems import in_coq
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.words import counted
from attncert.verify.features import features
from attncert.verify.statements.steps import heads

_SOURCE = "ours; docs/width-one.md, section 9"


def require_wide_enough(data: Dataset, built: BuiltLayer, width: int, claim: str) -> None:
    """Raises HypothesisFails if values of this width are too narrow for a group or the claim."""
    if width >= data.m:
        return
    largest = max(map(len, built.groups))
    if width < largest:
        reason = (
            f"values of width {width} are narrower than labels of {data.m} and than a group of "
            f"{counted(largest, 'example')}"
        )
        raise HypothesisFails("value-width", reason, {})
    if claim == "full-rank":
        reason = (
            f"the claim full-rank is about values as wide as the labels, {data.m}, not {width}; "
            "--claim interpolation allows narrower values"
        )
        raise HypothesisFails("value-width", reason, {})


def columns(data: Dataset, built: BuiltLayer, width: int) -> Claim:
    """The claim that the T pivot columns, at most d_v in each head, are independent."""
    best, prime = 0, PRIMES_31[0]
    for p in features.usable_primes(data):
        mod = [
            heads.features_of(features.logits(weights, data), features.Progressive(data, p))
            for weights, _ in zip(built.layer.heads, built.heads, strict=False)
        ]
        picked = [block[:, head.pivots] for block, head in zip(mod, built.heads, strict=True)]
        rank = features.residue_rank(np.hstack(picked), p)
        if rank > best:
            best, prime = rank, p
        if best == data.T:
            break
    most = max(len(set(head.pivots)) for head in built.heads)
    return Claim.checked(
        ids.COLUMNS,
        f"{data.T} columns of $Z$, at most $d_v={width}$ of each head, have rank $T$.",
        best == data.T and most <= width,
        {"rank": best, "most in a head": most},
        numbers={"rank": best, "T": data.T, "most in a head": most},
        arithmetic=f"features and rank mod {prime}; the rank over ℚ is at least that",
        source=_SOURCE,
        failed=Level.UNDECIDED,
    )


def reduction() -> Claim:
    """The reduction that takes the place of solving ZV = Y for a free V."""
    return Claim(
        ids.REDUCTION,
        "If columns of $Z$, at most $d_v$ of each head, have rank $T$, every labelling is "
        "interpolated by values that pick these columns and some output.",
        Level.KERNEL,
        arithmetic=in_coq("narrow.narrow_values"),
        source=_SOURCE,
    )
