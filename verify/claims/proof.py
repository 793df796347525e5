"""The answer to `prove`: the layer or network that was built, and the claims about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from attncert.constructions.brief import in_brief
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Layer
from attncert.constructions.network.network import Network
from attncert.verify.claims.answer import Answer
from attncert.verify.questions.prove import ClaimChoice

Kind = Literal["interpolation", "full-rank"]  # the kinds of certificates that `prove` writes


@dataclass(frozen=True)
class Setup:
    """The sizes of the layer that was built, and how it was built.

    claim:      the kind of answer; the kind that was requested if nothing was built.
    r:          the r of the theorem's bound.
    capacity:   the number of examples that the theorem places with these heads.
    parameters: the number of parameters of the layer.
    device:     the device on which the rank was computed.
    regrouped:  whether the order of the examples was changed.
    """

    construction: str
    claim: ClaimChoice
    heads: int | None
    head_width: int
    value_width: int
    r: int
    capacity: int | None = None
    parameters: int | None = None
    device: Literal["cpu", "cuda"] = "cpu"
    regrouped: bool = False

    def __repr__(self) -> str:
        return in_brief(self, self.construction, claim=self.claim, heads=self.heads)


@dataclass(frozen=True)
class HeadSummary:
    """The numbers of one head.

    group:        the examples that this head places (0-based, in the order of the input).
    c:            the multiplier of u vᵀ: the least whole number at which the rank is certified and,
                  unless heads have width one, every target leads by a bit (or by the bits of
                  --saturate); None if there is no such term.
    bits:         B, the smallest logit gap over earlier examples, in bits (None if there are none).
    z_bits:       the largest range of logits; the softmax sums and features of the head have about
                  this length.
    log2_off_peak: log2(1 - p_max) for each of the T examples (-inf if n = 1).
    rate:         the exact number of bits of saturation that one more unit of c adds in the limit,
                  for the slowest earlier example; None if it is not a whole number above 0.
    """

    group: tuple[int, ...]
    c: int | None
    bits: int | None
    z_bits: int | None
    log2_off_peak: Sequence[float]
    rate: int | None = None

    def __repr__(self) -> str:
        return in_brief(self, group=self.group, c=self.c, bits=self.bits, logit_range=self.z_bits)


@dataclass(frozen=True, kw_only=True, repr=False)
class Proof(Answer):
    """The answer to `prove`, or to `layer` for a network from a file. Each claim of its trace names
    its arithmetic and source.

    question:    a `Prove`, or a `LayerQuestion`.
    built: what the construction returned; None if it refused. network: set if the construction
    outputs the labels. setup: the sizes of a layer whose values are solved for. layer, groups,
    heads: None or empty if nothing was built because a hypothesis fails.

    >>> from attncert import Dataset, Prove, prove
    >>> data = Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, 1], [1, 1]], [5, "1/3", 7])
    >>> proof = prove(data, Prove(heads=2))
    >>> proof.standing.value, proof.trace["memorization"].numbers["examples"], proof.exit_status
    ('proved', 3, 0)
    """

    report_page: ClassVar[str] = "prove"

    question: Any
    data: Dataset
    construction: Any
    built: Any = None
    network: Network | None = None
    setup: Setup | None = None
    layer: Layer | None = None
    groups: tuple[tuple[int, ...], ...] = ()
    heads: tuple[HeadSummary, ...] = ()

    @property
    def saturation(self) -> int | None:
        """The bits to which every head saturates; None if saturation was not requested."""
        return None if self.layer is None else self.question.saturate
