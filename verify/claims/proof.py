"""What a verification run hands to the report writer: one frozen record, no computation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Layer
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Level
from attncert.verify.claims.ids import ClaimId, Step
from attncert.verify.claims.trace import ProofTrace

Kind = Literal["interpolation", "full-rank"]  # of a certificate that `prove` writes


@dataclass(frozen=True)
class Outline:
    """What every trace of one construction must hold.

    first: steps of every head that places examples; later: of all of these but the first.
    hypotheses: those that the theorem asks for, by the names of their claims: "A1" is
    hypothesis.A1. No others are checked, d_v ≥ m apart, which step 1 asks for.
    partition: whether the proof is about groups that meet the partition condition. short_heads:
    whether a head may do without its later steps.
    whole: claims about the whole layer. rests_on: what the claim of a step or of the whole layer
    must name: steps of the same head ("selector"), or other claims by their ids ("hypothesis.A2").
    """

    first: tuple[Step, ...] = ()
    later: tuple[Step, ...] = ()
    hypotheses: tuple[str, ...] = ()
    partition: bool = False
    short_heads: bool = False
    whole: tuple[ClaimId, ...] = ()
    rests_on: Mapping[ClaimId | Step, tuple[ClaimId | Step, ...]] = field(default_factory=dict)

    @property
    def steps(self) -> tuple[Step, ...]:
        """What is checked of a head: `first`, `later`, and the ranks that follow."""
        limit = (ids.INDEPENDENCE,) if ids.SATURATION in self.later else ()
        return (*self.first, *self.later, *limit, ids.RANK_SO_FAR)


@dataclass(frozen=True)
class Voice:
    """A report's own words for the construction: sentences in the form of `reports.words.text`.

    title:   "... by the paper's construction"; else the construction's name. theorem, source: what
             it is the proof of, and where that is written; else in the words of its `Method`.
             placed: what the bound counts ("": the bound is not told).
    numbers: the paragraph above the table of heads. others: what the heat map shows left of a
             head's own group. general: what one instance does not show. without_a1: what carries
             the answer where A1 does not hold.
    """

    title: str = ""
    theorem: str = ""
    source: str = ""
    placed: str = ""
    numbers: str = "Groups list the examples that a head places."
    others: str = "which the head may move"
    general: str = "The theorem in general: the trace is one instance of its proof."
    without_a1: str = "The answer rests on what is named with it"


@dataclass(frozen=True)
class Setup:
    """What was asked and built.

    construction: its name. asked_as: the value of --construction, which can be a place instead.
    certificate_name: its name in certificates.
    claim:      the kind of answer; "auto" where nothing was built. r: of the theorem's bound.
    capacity:   how many examples the theorem places with these heads. parameters: of the layer.
    device:     where the rank was computed. rank_memory: what it could hold, if in blocks.
    usable_width: what r stands for, in LaTeX, where it depends on the heads' width.
    command:    normalised: no paths. regrouped: whether the given order of examples was changed.
    remarks:    what a reader should know about the weights, by name.
    """

    construction: str
    claim: Kind | Literal["auto"]
    heads: int | None
    head_width: int
    value_width: int
    r: int
    seed: int
    command: str
    outline: Outline = Outline()
    voice: Voice = Voice()
    asked_as: str = ""
    certificate_name: str = ""
    capacity: int | None = None
    parameters: int | None = None
    device: Literal["cpu", "cuda"] = "cpu"
    rank_memory: str | None = None
    regrouped: bool = False
    usable_width: str = ""
    remarks: Mapping[str, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """JSON-able, remarks among the rest; what was not computed is left out."""
        named = ("construction", "claim", "heads", "head_width", "value_width", "capacity",
                 "parameters", "device", "seed", "command", "regrouped")  # fmt: skip
        memory = {} if self.rank_memory is None else {"rank_memory": self.rank_memory}
        return {name: getattr(self, name) for name in named} | memory | dict(self.remarks)


@dataclass(frozen=True)
class HeadSummary:
    """One head in numbers.

    group:        examples that this head places (0-based, the input's order).
    c:            multiplier of u vᵀ: the least whole number at which every target leads by a bit
                  and the rank is certified (width one: the rank alone); None: no such term.
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
    versions:    of Python and the libraries used (reported once, apart from the results).
    """

    data: Dataset
    settings: Setup
    trace: ProofTrace
    conclusion: ClaimId
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
