"""Claims as the lines of a table: what every report of claims shows of each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from attncert.reports.words.numbers import notation, words
from attncert.reports.words.witness import readable
from attncert.verify.claims.evidence import Claim
from attncert.verify.claims.trace import ProofTrace

MOST_WITNESS = 700  # characters of a witness that the page shows; the JSON has all of it


@dataclass(frozen=True)
class ClaimLine:
    """One claim as a page shows it; standing: with what it rests on."""

    id: str
    standing: str
    statement: str
    numbers: str
    evidence: str
    witness: list[str]


def lines(claims: Iterable[Claim]) -> list[ClaimLine]:
    """In the order of their trace."""
    trace = ProofTrace(claims)
    return [
        ClaimLine(
            claim.id,
            trace.standing(claim.id).value,
            claim.statement,
            "; ".join(f"{words(k)} {notation(x)}" for k, x in claim.numbers.items()),
            evidence(claim),
            [x for x in readable(claim.witness or {}) if len(x) <= MOST_WITNESS],
        )
        for claim in trace
    ]


def evidence(claim: Claim) -> str:
    """The claim's own level, its arithmetic and its source.

    >>> from attncert.verify.claims.evidence import Level
    >>> evidence(Claim("rank", "rank $Z = T$", Level.PROVED, arithmetic="mod 97", source="ours"))
    'proved, mod 97; ours'
    """
    how = f"{claim.level.value}, {claim.arithmetic}" if claim.arithmetic else claim.level.value
    return f"{how}; {claim.source}" if claim.source else how
