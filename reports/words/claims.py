"""Claims as the rows of a table.

A witness is shown so that a reader can check it: as an equation if a relation, else as a list.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from attncert.constructions.numerals import fraction
from attncert.reports.words.numbers import notation, words
from attncert.reports.words.text import sentence
from attncert.verify.claims.evidence import Claim
from attncert.verify.claims.trace import ProofTrace
from attncert.verify.claims.words import counted

MOST_TERMS = 12
MOST_DIGITS = 30  # the longest coefficient inside an equation
MOST_WITNESS = 700  # the longest witness on the page; the JSON has it in full


@dataclass(frozen=True)
class ClaimLine:
    """One claim on a page; the standing includes what it rests on."""

    id: str
    standing: str
    statement: str
    numbers: str
    evidence: str
    witness: list[str]


def lines(claims: Iterable[Claim]) -> list[ClaimLine]:
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


def readable(witness: Mapping[str, Any]) -> list[str]:
    """The witness as sentences (LaTeX between dollar signs), the reason first, then the equation
    of queries, vectors or rows of a context with its coefficients. Other entries are listed.

    >>> readable({"context": 1, "coefficients": ["2", "0", "-1/3"]})
    ['In context 1: $2\\\\,E^{(1)}_{0} - \\\\tfrac{1}{3}\\\\,E^{(1)}_{2} = 0$.']
    """
    rest = dict(witness)
    out = [sentence(str(rest.pop("reason")))] if "reason" in rest else []
    coefficients = rest.get("coefficients")
    if isinstance(coefficients, Sequence) and not isinstance(coefficients, str):
        terms, place, used = _symbols(rest, len(coefficients))
        equation = _relation(coefficients, terms)
        if equation:
            for key in used:
                rest.pop(key, None)
            out.append(f"{place}${equation}$.")
    return out + [f"{words(key)}: {notation(x)}." for key, x in rest.items() if x is not None]


def _symbols(witness: Mapping[str, Any], length: int) -> tuple[list[str], str, tuple[str, ...]]:
    """The LaTeX name of each term, the words before the equation, and the keys that are used."""
    context = witness.get("context")
    if context is not None:
        rows = witness.get("rows", list(range(length)))
        names = [f"E^{{({context})}}_{{{i}}}" for i in rows]
        return names, f"In context {context}: ", ("context", "rows", "coefficients")
    if "vectors" in witness:
        names = [f"x_{{{i}}}" for i in witness["vectors"]]
        return names, "Between vectors: ", ("vectors", "coefficients")
    key = "examples" if "examples" in witness else "queries"
    names = [f"e^{{({t})}}" for t in witness.get(key, ())]
    return names, "Between queries: ", (key, "coefficients")


def _relation(coefficients: Sequence[Any], names: Sequence[str]) -> str | None:
    """The relation as an equation; None if it cannot be written as one."""
    if len(names) != len(coefficients):
        return None
    try:
        numbers = [fraction(str(c)) for c in coefficients]
    except ValueError:
        return None
    terms = [(x, name) for x, name in zip(numbers, names, strict=True) if x]
    largest = max((max(abs(x.numerator), x.denominator) for x, _ in terms), default=0)
    if not 0 < largest < 10**MOST_DIGITS:
        return None
    text = "".join(_term(x, name) for x, name in terms[:MOST_TERMS])
    more = len(terms) - MOST_TERMS
    tail = f" + \\dots\\text{{ ({counted(more, 'more term')})}}" if more > 0 else ""
    return (text.removeprefix(" + ") if text[1] == "+" else "-" + text[3:]) + tail + " = 0"


def _term(x: Fraction, name: str) -> str:
    size = abs(x)
    factor = (
        str(size) if size.denominator == 1 else f"\\tfrac{{{size.numerator}}}{{{size.denominator}}}"
    )
    return f" {'-' if x < 0 else '+'} " + ("" if size == 1 else f"{factor}\\,") + name
