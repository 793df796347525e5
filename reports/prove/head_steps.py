"""The steps of all heads together: each step is stated once, with the heads for which it differs.

A step makes the same claim for every head that has it: the numbers differ, but the standing seldom
does. So its sentence, evidence and premises are written once. A claim that is not proved on its
own, or has a witness, is also written out in full.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from attncert.reports.prove.view import by_head, heads_name, title
from attncert.reports.words.claims import evidence
from attncert.reports.words.numbers import indices, words
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.ids import ClaimId, head_and_step
from attncert.verify.claims.trace import ProofTrace

MOST_WRITTEN = 24  # limit on the steps of heads that are written out


@dataclass(frozen=True)
class HeadSteps:
    """The numbers of these claims in the trace, each step of all heads in words, and the claims
    that are written out in full."""

    numbers: str
    steps: list[dict[str, Any]]
    written: list[Claim]


def head_steps(trace: ProofTrace) -> HeadSteps | None:
    """The steps of all heads; None if no claim is about a head."""
    of_step = _by_step(trace)
    if not of_step:
        return None
    weak = [
        claim
        for claim in trace
        if head_and_step(claim.id) and (claim.level is not Level.PROVED or claim.witness)
    ]
    places = anchors(trace)
    return HeadSteps(
        indices(k for k, i in enumerate(trace.order, start=1) if head_and_step(i)),
        [_step(trace, name, of_head, places) for name, of_head in of_step.items()],
        weak[:MOST_WRITTEN],
    )


def anchors(trace: ProofTrace) -> dict[ClaimId, str]:
    """Where the page describes each claim: "step-3", or "heads-2" for a step of the heads."""
    places = {claim_id: f"step-{k}" for k, claim_id in enumerate(trace.order, start=1)}
    for k, of_head in enumerate(_by_step(trace).values(), start=1):
        places |= dict.fromkeys((claim.id for claim in of_head.values()), f"heads-{k}")
    return places


def _by_step(trace: ProofTrace) -> dict[str, dict[int, Claim]]:
    """The claims of each step by head, ordered as in the head with the most steps."""
    of_step: dict[str, dict[int, Claim]] = {}
    heads = by_head(trace)
    for claim in max(heads.values(), key=len, default=[]):
        of_step[_name(claim.id)] = {}
    for head, claims in heads.items():
        for claim in claims:
            of_step.setdefault(_name(claim.id), {})[head] = claim
    return of_step


def _name(claim_id: ClaimId) -> str:
    head = head_and_step(claim_id)
    assert head is not None
    return head[1]


def _step(
    trace: ProofTrace, name: str, of_head: Mapping[int, Claim], places: Mapping[ClaimId, str]
) -> dict[str, Any]:
    first = next(iter(of_head.values()))
    differs = len({claim.statement for claim in of_head.values()}) > 1
    hypotheses = dict.fromkeys(x for claim in of_head.values() for x in claim.uses)
    return {
        "anchor": places[first.id],
        "name": name,
        "heads": heads_name(list(of_head)),
        "standing": _each((h, trace.standing(claim.id).value) for h, claim in of_head.items()),
        "statement": f"for the first of them: {first.statement}" if differs else first.statement,
        "evidence": _each((h, evidence(claim)) for h, claim in of_head.items()),
        "uses": [
            (x, _each((h, claim.uses.get(x, "")) for h, claim in of_head.items()))
            for x in hypotheses
        ],
        "premises": list(
            dict.fromkeys(
                (_premise(i, h), places[i]) for h, claim in of_head.items() for i in claim.rests_on
            )
        ),
    }


def _each(values: Iterable[tuple[int, str]]) -> str:
    """The value if all heads share it; else each value other than "" with its heads.

    >>> _each([(1, "proved"), (2, "proved")]), _each([(1, ""), (2, "proved")])
    ('proved', 'proved (head 2)')
    """
    heads: dict[str, list[int]] = {}
    for head, value in values:
        heads.setdefault(value, []).append(head)
    if len(heads) == 1:
        return next(iter(heads))
    return "; ".join(f"{value} ({heads_name(hs)})" for value, hs in heads.items() if value)


def _premise(claim_id: ClaimId, head: int) -> str:
    other = head_and_step(claim_id)
    if other is None:
        return title(claim_id)
    return f"{words(other[1])} of {'the same' if other[0] == head else 'another'} head"
