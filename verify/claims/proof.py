"""What a verification run hands to the report writer: one frozen record, no computation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Layer
from attncert.verify.claims.evidence import Level
from attncert.verify.claims.trace import ProofTrace


@dataclass(frozen=True)
class HeadSummary:
    """One head in numbers.

    group:        examples that this head places (0-based, the input's order).
    c:            multiplier of u vᵀ: the least whole number at which every target leads by a bit
                  and the rank is certified (rank-one: the rank alone); None: no such term.
    bits:         B, the smallest logit gap over earlier examples, in bits (None without any).
    apriori_c, apriori_bits: the same from the a-priori bound (Weyl), for comparison.
    z_bits:       largest logit range: bits, within a few, of this head's softmax sums and features.
    condition:    condition number of Z after this head (float64, numerical).
    log2_off_peak: log2(1 - p_max) for each of the T examples (-inf where n = 1).
    own_weights:  softmax weights, one row of n per example of the group (float64).
    """

    group: tuple[int, ...]
    c: int | None
    bits: int | None
    apriori_c: int | None
    apriori_bits: int | None
    z_bits: int | None
    condition: float | None
    log2_off_peak: tuple[float, ...]
    own_weights: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Proof:
    """A finished run of `prove`: what was asked, what was built, what is known about it.

    conclusion:  id of the claim that answers the question asked.
    layer, heads: None and empty where nothing could be built (a hypothesis fails).
    certificate: the `attncert/1` object, or None where there is nothing to certify.
    settings:    construction, heads, head_width, value_width, capacity, parameters, claim,
                 device, seed, command (normalised: no paths), regrouped (bool).
    versions:    of Python and the libraries used (reported once, apart from the results).
    """

    data: Dataset
    settings: Mapping[str, Any]
    trace: ProofTrace
    conclusion: str
    layer: Layer | None = None
    groups: tuple[tuple[int, ...], ...] = ()
    heads: tuple[HeadSummary, ...] = ()
    certificate: Mapping[str, Any] | None = None
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def standing(self) -> Level:
        """How strongly the conclusion is known."""
        return self.trace.standing(self.conclusion)

    @property
    def exit_status(self) -> int:
        """0 holds; 1 refuted; 3 undecided, or the theorem does not apply."""
        if self.standing.holds:
            return 0
        return 1 if self.standing is Level.REFUTED else 3
