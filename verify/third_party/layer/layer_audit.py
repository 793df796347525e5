"""A third-party layer, audited: how far it is from its labels, and how it compares with Theorem 1.

The questions asked of any weights, constructed or trained, rounded or not:

    error       |A(E, e) - y| of each example, enclosed, or exact if all numbers are rational
    rank        whether Z has rank T: then the keys and queries memorize *every* labelling
                (universally), and an error is due to the readout alone
    saturation  the largest softmax weight of each head and example, enclosed
    groups      which head carries which example (heads.py)
    ablation    the error without each head, and the examples to which it gives most (heads.py)
    Theorem 1   capacity, rank of M_h, the partition condition for these groups, and saturation of
                the examples of earlier heads

A layer need not do what Theorem 1 does: that part only describes the layer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flint import arb, ctx

from attncert.constructions.network.arithmetic import BALLS
from attncert.constructions.network.states import beside
from attncert.constructions.progress import StageProgress, silent
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.ids import ClaimId
from attncert.verify.claims.words import widened
from attncert.verify.features.attention import Attention
from attncert.verify.limits.tightness.universal import bound_from_above
from attncert.verify.outputs.error import SOURCE, Limit, default_limit, judged_errors, outward
from attncert.verify.outputs.within import exact_outputs
from attncert.verify.rank.ball import SingularValue, smallest_singular_value
from attncert.verify.third_party.layer.heads import (
    HeadView,
    head_views,
    peak,
    theorem_claims,
    worth_of_each,
)

BITS = 256  # precision of the balls for weights, features and singular values


@dataclass(frozen=True, repr=False)
class LayerAudit:
    """claims: error, memorization, rank, and the properties of Theorem 1 that the layer has.
    off_peak: H×T, the softmax weight outside the largest one, enclosed."""

    attention: Attention
    limit: Limit
    claims: tuple[Claim, ...]
    sigma: SingularValue
    heads: tuple[HeadView, ...]
    off_peak: tuple[tuple[arb, ...], ...]

    def __getitem__(self, claim_id: ClaimId) -> Claim:
        return next(claim for claim in self.claims if claim.id == claim_id)

    @property
    def errors(self) -> Sequence[Sequence[str]]:
        """Two decimals for each example, which enclose its error."""
        errors: Sequence[Sequence[str]] = self[ids.LAYER_ERROR].numbers["errors"]
        return errors


def audit_layer(
    attention: Attention,
    *,
    limit: Limit | None = None,
    progress: StageProgress = silent,
) -> LayerAudit:
    """The audit, with all parts above. limit: the largest error allowed; None for `default_limit`.
    Raises InputError."""
    limit = limit or default_limit(attention.data)
    progress("layer: weights", 0, 5)
    with ctx.workprec(BITS):
        states = attention.states
        weights = attention.block.weights(states)
        features = attention.block.features(states, weights)
        sigma = smallest_singular_value(beside(features, BALLS), BITS)
        peaks = [[peak(row) for row in head] for head in weights]
        off_peak = tuple(tuple(off for _, off, _ in row) for row in peaks)
        progress("layer: heads taken out", 1, 5)
        worth = worth_of_each(attention, features)
    progress("layer: errors", 2, 5)
    network, data = attention.network, attention.data
    exact = exact_outputs(network, data) if attention.short else None
    error, memorizes = judged_errors(network, data, limit, exact)
    progress("layer: rank", 3, 5)
    rank = _rank_claim(attention, sigma)
    progress("layer: heads", 4, 5)
    heads = head_views(attention.layer, peaks, worth)
    claims = (error, memorizes, rank, *theorem_claims(attention, heads))
    return LayerAudit(attention, limit, claims, sigma, heads, off_peak)


# Rank.


def _rank_claim(attention: Attention, sigma: SingularValue) -> Claim:
    """rank Z = T: proved mod p, or enclosed in balls; refuted by a bound on all weights."""
    data, heads = attention.data, len(attention.layer.heads)
    numbers: dict[str, Any] = {
        "T": data.T,
        "columns": heads * data.d,
        "smallest singular value": outward(sigma.lower, sigma.upper),
    }
    witness: dict[str, Any] | None = None
    level, arithmetic = Level.UNDECIDED, f"ball arithmetic (Arb), {BITS} bits"
    if p := attention.full_rank_modulo():
        level, arithmetic = Level.PROVED, f"rank mod {p}; the rank over ℚ is at least that"
        numbers["rank"] = data.T
    elif sigma.lower > 0:
        level, numbers["rank"] = Level.ENCLOSED, data.T
    elif (bound := bound_from_above(data, heads)).rank < data.T:
        level, witness = Level.REFUTED, {"no weights exceed": bound.rank} | bound.witness
    return Claim(
        ids.LAYER_RANK,
        f"$\\operatorname{{rank}}Z=T={data.T}$: these keys and queries serve every labelling"
        f"{widened(data.m, attention.layer.value_width)}.",
        level,
        numbers=numbers,
        witness=witness,
        arithmetic=arithmetic,
        source=SOURCE,
    )
