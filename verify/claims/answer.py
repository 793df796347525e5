"""The answer of every question: claims, one of which is the conclusion."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

from attncert.constructions.brief import in_brief
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.faces import displayed
from attncert.verify.claims.ids import PROOF, ClaimId, is_claimed
from attncert.verify.claims.trace import ProofTrace
from attncert.verify.questions.question import Question


class Named(Protocol):
    """The subject of a question: data with a name."""

    @property
    def name(self) -> str: ...


@dataclass(frozen=True)
class Subject:
    """The subject of an answer without data."""

    name: str


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The answer to a question.

    question: the question with its options. data: its subject. trace: the claims. conclusion: the
    id of the claim that answers. certificate: its certificate, if a checker can read one;
    uncertified: why there is none, in half a sentence. seconds: the time of each stage; versions:
    those of Python and the libraries used; both are for timings.json alone. Subclasses add what
    only their own report shows.
    """

    report_page: ClassVar[str] = ""  # in reports/, if not named like the command

    question: Question
    data: Named
    trace: ProofTrace
    conclusion: ClaimId
    certificate: Mapping[str, Any] | None = None
    uncertified: str = ""
    seconds: Mapping[str, float] = field(default_factory=dict, compare=False)
    versions: Mapping[str, str] = field(default_factory=dict, compare=False)

    def __repr__(self) -> str:
        return in_brief(self, self.standing, self.claim.statement, data=self.data.name)

    def __str__(self) -> str:
        """The text for a terminal: the verdict, then a sentence on each line."""
        return displayed("sentences", self) or repr(self)

    @property
    def claim(self) -> Claim:
        """The conclusion."""
        return self.trace[self.conclusion]

    @property
    def standing(self) -> Level:
        """How strongly the conclusion is known, with all that it rests on."""
        return self.trace.standing(self.conclusion)

    @property
    def holds(self) -> bool:
        return self.standing.holds

    @property
    def statement(self) -> str:
        """The conclusion in one sentence, with LaTeX between dollar signs."""
        return self.claim.statement

    @property
    def reason(self) -> str:
        """Why it does not hold, in half a sentence; "" if the claim does not say."""
        return str((self.claim.witness or {}).get("reason", ""))

    @property
    def files(self) -> tuple[Mapping[str, Any], ...]:
        """All certificates."""
        return () if self.certificate is None else (self.certificate,)

    def contradicted(self, reason: str) -> Self:
        """The same answer, undecided and without certificates, since a checker rejects one."""
        witness = {"reason": reason}
        open_ = replace(self.claim, level=Level.UNDECIDED, rests_on=(), witness=witness)
        claims = [open_ if claim.id == open_.id else claim for claim in self.trace]
        return replace(self, trace=ProofTrace(claims), certificate=None, uncertified=reason)

    @property
    def proof_claim(self) -> Claim | None:
        """The claim that the proof holds on these data; None if the question has no proof."""
        return self.trace.get(PROOF)

    @property
    def proof_standing(self) -> Level | None:
        """The standing of that claim; None if there is none."""
        return self.trace.standing(PROOF) if PROOF in self.trace else None

    @property
    def further(self) -> tuple[Claim, ...]:
        """Further claims of a construction about the outputs."""
        return tuple(claim for claim in self.trace if is_claimed(claim.id))

    @property
    def exit_status(self) -> int:
        """0 if the conclusion, the proof and further claims hold; 1 if one is refuted; else 3."""
        standings = [self.standing] + ([self.proof_standing] if self.proof_standing else [])
        standings += [self.trace.standing(claim.id) for claim in self.further]
        if all(standing.holds for standing in standings):
            return 0
        return 1 if Level.REFUTED in standings else 3

    @property
    def command(self) -> str:
        """The command line that gives the same answer again, without paths."""
        return self.question.line()

    @property
    def plot(self) -> Any:
        """The figures of the report, by methods that return them; every question has `graph`."""
        return displayed("plot", self)

    def write(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Write the report to `folder`; returns the paths of its files. Raises InputError."""
        return displayed("report", self, folder)

    def _repr_markdown_(self) -> str | None:
        """The text for a notebook."""
        return displayed("answer", self)
