"""The examination of a third-party layer: its rank, its saturation, and the worth of each head.

rank        whether Z has rank T: then the keys and queries memorize *every* labelling
            (universally), and any error is due to the readout alone
saturation  the attention of each head and example outside its largest weight, enclosed
worth       the enclosed error of the layer without the contribution of a head to the outputs,
            Z_h V_h O_h with its value bias if there is one; nothing else changes
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flint import arb, arb_mat, ctx

from attncert.constructions.network.arithmetic import BALLS
from attncert.constructions.network.states import beside
from attncert.constructions.progress import StageProgress, silent
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.words import widened
from attncert.verify.features.attention import Attention
from attncert.verify.limits.tightness.limits import largest_rank
from attncert.verify.outputs.enclosure import decimal, row_bounds
from attncert.verify.outputs.error import SOURCE, outward
from attncert.verify.rank.ball import SingularValue, smallest_singular_value

BITS = 256  # precision of the balls for weights, features and singular values
SATURATED = arb(1) / 2**10  # limit on a saturated head's attention outside its largest weight


@dataclass(frozen=True)
class HeadView:
    """off_peak: for each example, the enclosed attention outside the largest weight. without: two
    decimals that enclose the largest error of the layer without the head."""

    off_peak: tuple[arb, ...]
    without: tuple[str, str]

    @property
    def saturated(self) -> tuple[int, ...]:
        """The examples that are proved to have all but 2^-10 of the attention on one row."""
        return tuple(t for t, off in enumerate(self.off_peak) if off < SATURATED)


@dataclass(frozen=True, repr=False)
class LayerAudit:
    rank: Claim
    sigma: SingularValue
    heads: tuple[HeadView, ...]


def audit_layer(attention: Attention, progress: StageProgress = silent) -> LayerAudit:
    """The rank, the saturation and the worth of each head. Arithmetic: balls; the rank modulo a
    prime if the logits are integer multiples of ln 2."""
    progress("layer: weights", 0, 2)
    with ctx.workprec(BITS):
        states = attention.states
        weights = attention.block.weights(states)
        features = attention.block.features(states, weights)
        sigma = smallest_singular_value(beside(features, BALLS), BITS)
        off_peak = [tuple(map(_off_peak, head)) for head in weights]
        progress("layer: heads taken out", 1, 2)
        worth = _worth_of_each(attention, features)
    heads = tuple(map(HeadView, off_peak, worth))
    return LayerAudit(_rank_claim(attention, sigma), sigma, heads)


def _off_peak(weights: Sequence[arb]) -> arb:
    """The sum of all weights except the largest (by midpoint)."""
    best = max(range(len(weights)), key=lambda i: weights[i].mid())
    return sum((w for i, w in enumerate(weights) if i != best), arb(0))


def _worth_of_each(attention: Attention, features: Sequence[arb_mat]) -> list[tuple[str, str]]:
    """The largest error without each head. features: those of each head, at working precision."""
    parts = attention.block.contributions(features, attention.states)
    first, *others = parts
    gaps = sum(others, first) - arb_mat(attention.data.label_matrix)
    without = []
    for part in parts:
        bounds = row_bounds(gaps - part)
        low, high = max(low for low, _ in bounds), max(high for _, high in bounds)
        without.append((decimal(low, up=False), decimal(high, up=True)))
    return without


def _rank_claim(attention: Attention, sigma: SingularValue) -> Claim:
    """The claim rank Z = T: proved mod p, enclosed, or refuted by a bound on all weights."""
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
    elif (bound := largest_rank(data, heads))[0] < data.T:
        level, witness = Level.REFUTED, {"no weights exceed": bound[0]} | bound[1]
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
