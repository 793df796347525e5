"""The sections that the report of any proof has: hypotheses, promises, steps, gaps, references."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from attncert.constructions.foreign import printable
from attncert.reports.prove import rows
from attncert.reports.prove.head_steps import HeadSteps, anchors, head_steps
from attncert.reports.prove.records import certificate_sha256
from attncert.reports.prove.view import box_anchor, bundle, diagram, title
from attncert.reports.words.claims import evidence, readable
from attncert.reports.words.levels import WORDING
from attncert.reports.words.numbers import notation, words
from attncert.reports.words.templating import TEMPLATES
from attncert.reports.words.text import markdown, sentence
from attncert.verify.claims.answer import Answer
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.ids import ClaimId, head_and_step
from attncert.verify.claims.proof import Proof
from attncert.verify.claims.trace import ProofTrace
from attncert.verify.claims.words import counted
from attncert.verify.methods.layer_theorem import LayerTheorem

MOST_LINKS = 8
_PAPER = "{mahdavi2024memorization,"


@dataclass(frozen=True)
class WrittenStep:
    """One claim, written out. `rests_on`, `premises`: words with the anchors to link."""

    number: int
    claim: Claim
    standing: str
    evidence: str
    numbers: list[tuple[str, str]]
    witness: list[str]
    rests_on: list[tuple[str, str]]
    held_down: str


@dataclass(frozen=True)
class WrittenPart:
    """One claim, or the steps of all heads and those of them that are written out."""

    heads: HeadSteps | None
    steps: list[WrittenStep]


def sections(proof: Proof) -> dict[str, object]:
    """What the templates of these sections use."""
    built = proof.layer is not None or proof.network is not None
    trace, command = proof.trace, printable(proof.command)
    view, anchor = diagram(trace), anchors(trace)
    standings = Counter(trace.standing(c.id) for c in trace)
    failing = [] if proof.standing.holds else trace.pivotal(proof.conclusion)
    return {
        "thing": "network" if proof.setup is None else "layer",
        "method": proof.construction,
        "voice": (proof.construction.layer or LayerTheorem()).voice,
        "built": built,
        "linked": partial(_linked, trace),
        "standing": proof.standing.value,
        "wording": WORDING[proof.standing],
        "failing": [(c, readable(c.witness or {})) for c in failing],
        "only_undecided": all(c.level is Level.UNDECIDED for c in failing),
        "fails_below": any(c.id in trace.ancestors(proof.conclusion) for c in failing),
        "still_known": [],
        "hypotheses": rows.hypotheses(proof, built),
        "rested_on": rows.rested_on(proof),
        "to_decide": rows.to_decide(proof),
        "promises": rows.promises(proof),
        "heads_words": "",
        "saturation_line": "",
        "instead_of_a1": False,
        "standings": [(s.value, standings[s]) for s in Level if standings[s]],
        "boxes": [(box.label, box_anchor(box, anchor)) for box in view.boxes],
        "apart": [(title(i), anchor[i]) for i in view.apart],
        "view": view,
        "parts": _parts(proof),
        "gaps": rows.gaps(proof),
        "arithmetic": _arithmetic(c for c in trace if c.level is not Level.KERNEL),
        "in_coq": _arithmetic(c for c in trace if c.level is Level.KERNEL),
        "fence": "`" * max(3, 1 + max(map(len, re.findall("`+", command)), default=0)),
        "certificate_sha256": certificate_sha256(proof),
        "input": proof.data.origin.stored(proof.data),
        "data_file": (proof.certificate or {}).get("data_file"),
        "cited": _cites_paper(proof),
        "run": [],
        "inputs": "",
        "modulo": False,
    }


def files(proof: Answer) -> dict[str, bytes]:
    """What stands beside the page. Pure: equal proofs give equal bytes."""
    named = {"references.bib": references(proof).encode()}
    data = (proof.certificate or {}).get("data_file")
    return named | ({} if data is None else {data["name"]: data.content})


def references(proof: Answer) -> str:
    """BibTeX of the software, and of the paper where a claim names it."""
    text = (TEMPLATES / "references.bib").read_text("utf-8")
    if _cites_paper(proof):
        return text
    return "\n\n".join(entry for entry in text.split("\n\n") if _PAPER not in entry)


def _cites_paper(proof: Answer) -> bool:
    return any(re.search("^paper,|the paper's", claim.source) for claim in proof.trace)


def _arithmetic(claims: Iterable[Claim]) -> list[str]:
    """What computed these claims, shortest first."""
    kinds = {printable(c.arithmetic) for c in claims if c.arithmetic}
    return sorted(kinds, key=lambda a: (len(a), a))


def _linked(trace: ProofTrace, statement: str) -> str:
    """A statement, for Markdown; where it names a claim ("claim reduction"), with the number of
    that step."""
    number = {claim_id: k for k, claim_id in enumerate(trace.order, start=1)}

    def step(named: re.Match[str]) -> str:
        k = number.get(ClaimId(named[1]))
        return f"[step {k}, {named[1]}](#step-{k})" if k else named[0]

    return re.sub(r"\bclaim ([a-z]+(?:[.-][a-z]+)*)", step, markdown(sentence(statement)))


def _parts(proof: Answer) -> list[WrittenPart]:
    """The claims in order, those of all heads together where the first of them stands."""
    trace, heads = proof.trace, head_steps(proof)
    single = {c.id for c in trace if head_and_step(c.id) is None}
    written = single | ({c.id for c in heads.written} if heads else set())
    place = {claim_id: k for k, claim_id in enumerate(trace.order, start=1)}
    anchor = anchors(trace) | {claim_id: f"step-{place[claim_id]}" for claim_id in written}
    parts: list[WrittenPart] = []
    for claim in trace:
        if claim.id in single:
            parts.append(WrittenPart(None, [_step(proof, claim, place, anchor)]))
        elif heads and not any(part.heads for part in parts):
            steps = [_step(proof, c, place, anchor) for c in heads.written]
            parts.append(WrittenPart(heads, steps))
    return parts


def _step(
    proof: Answer, claim: Claim, place: dict[ClaimId, int], anchor: dict[ClaimId, str]
) -> WrittenStep:
    links = [
        (words_, anchor[named[0]] if len({anchor[i] for i in named}) == 1 else "")
        for words_, named in bundle(claim.rests_on)
    ]
    if len(links) > MOST_LINKS:
        links = [*links[:MOST_LINKS], (f"and {counted(len(links) - MOST_LINKS, 'other')}", "")]
    return WrittenStep(
        number=place[claim.id],
        claim=claim,
        standing=proof.trace.standing(claim.id).value,
        evidence=evidence(claim),
        numbers=[(words(k), notation(x)) for k, x in claim.numbers.items()],
        witness=readable(claim.witness or {}),
        rests_on=links,
        held_down=rows.held_down(proof, claim),
    )
