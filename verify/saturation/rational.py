"""1 - p < 2^-B at the layer's own weights, as an inequality between integers.

Derivation (ours). In units of ln 2 the logits are integers k_i, so p = 2^k_L / Σ_i 2^k_i, and

    1 - p < 2^-B   ⟺   2^B·Σ_{i≠L} 2^k_i < Σ_i 2^k_i.

Both sides are multiplied by 2^-min k. A row that is more than M = n(B + 1) bits behind is moved up
to M bits below L, which bounds the length of the powers. This never changes whether the inequality
holds (docs/certificate.md, "Saturation").
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from flint import fmpq_mat, fmpz

from attncert.constructions.construction import BuiltLayer
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Head
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import OVER_Q, Claim, Level
from attncert.verify.saturation import SOURCE, SaturatedPair, in_words, pairs


def rational(data: Dataset, built: BuiltLayer, bits: int) -> Claim:
    """The claim "saturation.rational": *proved*, or *refuted* with the first pair that fails.

    p is the weight of the example's row L_s. Exact. *Undecided* if a logit is not a whole
    multiple of ln 2.
    """
    worst, where, tables = -math.inf, None, dict[int, list[list[fmpz]]]()
    statement = f"$1-p<2^{{-{bits}}}$ for {in_words(built)}, as rational numbers."
    numbers: dict[str, Any] = {"bits": bits, "pairs": 0, "worst log2(1-p)": None}
    wrong: SaturatedPair | None = None
    for pair in pairs(built):
        if pair.head not in tables:
            tables = {pair.head: _logits(built.layer.heads[pair.head], data)}
        logits = tables[pair.head][pair.example]
        if any(k.q != 1 for k in logits):
            reason = {"reason": "a logit is not a whole multiple of ln 2", "head": pair.head + 1}
            return Claim(ids.SATURATION_RATIONAL, statement, Level.UNDECIDED, witness=reason)
        behind = [int((logits[pair.row] - k).p) for i, k in enumerate(logits) if i != pair.row]
        numbers["pairs"] += 1
        if not behind:
            continue
        share = _log2(behind)
        if share > worst:
            worst, where = share, pair
        if wrong is None and not below(behind, bits):
            wrong = pair
    if where is not None:
        numbers["worst log2(1-p)"] = round(worst, 3)
        numbers["worst pair"] = f"head {where.head + 1}, example {where.example}"
    return Claim.checked(
        ids.SATURATION_RATIONAL,
        statement,
        wrong is None,
        lambda: {"head": wrong.head + 1, "example": wrong.example} if wrong else {},
        numbers=numbers,
        arithmetic=f"{OVER_Q}, integers after clearing denominators",
        source=SOURCE,
    )


def _logits(head: Head, data: Dataset) -> list[list[Any]]:
    """E⁽ᵗ⁾ K Qᵀ e_t over ℚ for all t, T lists of n."""
    product = head.key * head.query.transpose()
    queries = data.query_matrix.tolist()
    return [
        (data.context(t) * (product * fmpq_mat(data.d, 1, queries[t]))).entries()
        for t in range(data.T)
    ]


def below(behind: Sequence[int], bits: int) -> bool:
    """Whether 2^B·Σ 2^-δ < 1 + Σ 2^-δ. behind: δ of the other rows, negative if they are ahead."""
    if min(behind) < 1:
        return False
    most = (len(behind) + 1) * (bits + 1)
    others = sum((fmpz(1) << (most - min(drop, most)) for drop in behind), fmpz(0))
    return bool((others << bits) < others + (fmpz(1) << most))


def _log2(behind: list[int]) -> float:
    """log2(1 - p) in float64, for a table; 0 if the row does not lead."""
    least = min(behind)
    if least < 1:
        return 0.0
    rest = math.fsum(2.0 ** -min(drop - least, 1100) for drop in behind)
    share = math.log2(rest) - min(least, 10**300)
    return share - math.log2(1 + 2.0 ** max(share, -1100))
