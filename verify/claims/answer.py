"""The answer to a question: claims, one of which is the conclusion."""

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
    """Anything with a name, such as data, that a question can be about."""

    @property
    def name(self) -> str: ...


@dataclass(frozen=True)
class Subject:
    """The subject of an answer without data."""

    name: str


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The answer to a question.

    data: the subject of the question. conclusion: the id of the claim that answers the question.
    certificate: a certificate of the conclusion, if a checker can read one. uncertified: if there
    is no certificate, the reason as a clause. seconds: the time of each stage. versions: the
    versions of Python and the libraries. Only timings.json shows the last two. Subclasses add the
    content of their reports.
    """

    report_page: ClassVar[str] = ""  # the page in reports/, if not named like the command

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
        """The text for a terminal: the verdict, then one sentence per line."""
        return displayed("sentences", self) or repr(self)

    @property
    def claim(self) -> Claim:
        """The conclusion."""
        return self.trace[self.conclusion]

    @property
    def standing(self) -> Level:
        """The level of the conclusion, given all claims on which it rests."""
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
        """Why the conclusion does not hold, as a clause; "" if the claim does not say."""
        return str((self.claim.witness or {}).get("reason", ""))

    @property
    def files(self) -> tuple[Mapping[str, Any], ...]:
        """All certificates."""
        return () if self.certificate is None else (self.certificate,)

    def contradicted(self, reason: str) -> Self:
        """The answer made undecided and stripped of certificates, because a checker rejects one."""
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
        """The standing of `proof_claim`; None if the question has no proof."""
        return self.trace.standing(PROOF) if PROOF in self.trace else None

    @property
    def further(self) -> tuple[Claim, ...]:
        """Claims of the construction about the outputs, other than the conclusion."""
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
        """The command line that reproduces the answer, without paths."""
        return self.question.line()

    def write(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Write the report to `folder`; returns the paths of its files. Raises InputError."""
        return displayed("report", self, folder)

    def _repr_markdown_(self) -> str | None:
        """The text for a notebook."""
        return displayed("answer", self)
