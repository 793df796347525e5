"""The parts shared by answers about one layer and about several: a row for each notion of
memorizing, its certificate, and the conclusion about the dimension of the outputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self

from attncert.constructions.data.dataset import Dataset
from attncert.verify.certificates.certificate import Certificate
from attncert.verify.claims.answer import Answer
from attncert.verify.claims.evidence import About, Claim, Level
from attncert.verify.claims.ids import ClaimId
from attncert.verify.questions.fit import Capacity


class End(NamedTuple):
    """A number, and the claim that proves it; the claim is None if the number is trivial."""

    number: int
    claim: ClaimId | None = None


@dataclass(frozen=True)
class Notion:
    """The capacity of H heads (per layer): they memorize between `below` and `above` of the T·m
    numbers in the labels.

    claim: whether they memorize all labels. needed: fewer heads than this cannot; None if no number
    can. enough: a number of heads that suffices for all labels; None if none is known.
    """

    about: About
    claim: ClaimId
    below: End
    above: End
    needed: int | None
    enough: End | None

    @property
    def least(self) -> int:
        return self.below.number

    @property
    def most(self) -> int:
        return self.above.number


@dataclass(frozen=True, kw_only=True, repr=False)
class CapacityAnswer(Answer):
    """notions: the rows of the table, the strongest first. certificates: at most one for each
    notion; `certificate` is that of the strongest notion."""

    question: Capacity
    data: Dataset
    notions: tuple[Notion, ...]
    certificates: Mapping[About, Certificate] = field(default_factory=dict)

    @property
    def files(self) -> tuple[Certificate, ...]:
        return tuple(self.certificates.values())

    def contradicted(self, reason: str) -> Self:
        """The answer without its table, which repeats what the certificates state."""
        return replace(super().contradicted(reason), notions=(), certificates={})


def dimension(
    claim_id: ClaimId,
    rests_on: tuple[ClaimId, ClaimId],
    who: str,
    ends: tuple[int, int],
    labels: int,
    source: str,
) -> Claim:
    """The claim about the largest rank of the Jacobian, undecided if the two bounds differ.

    who: the heads, in words. ends: the certified rank, and the bound that no weights exceed."""
    least, most = ends
    outputs = f"The outputs on these examples, over all weights of {who},"
    reached = "almost no labelling is output by any weights"
    if least == labels:
        reached = "an open set of labellings is output exactly, each by its own weights"
    numbers = {"at least": least, "at most": most, "of": labels}
    if least == most:
        statement = f"{outputs} have dimension {least:,} of {labels:,}: {reached}."
        return Claim(claim_id, statement, Level.PROVED, numbers, rests_on=rests_on, source=source)
    reason = f"between {least:,} (certified) and {most:,} (no weights exceed it)"
    statement, witness = f"{outputs} have a known dimension.", {"reason": reason}
    return Claim(
        claim_id, statement, Level.UNDECIDED, numbers, witness, rests_on=rests_on, source=source
    )
