"""The sections that the report of any proof has: hypotheses, promises, steps, gaps, references."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import partial
from itertools import takewhile

from attncert.constructions.foreign import printable
from attncert.reports.prove import rows
from attncert.reports.prove.head_steps import anchors, head_steps
from attncert.reports.prove.records import certificate_sha256
from attncert.reports.prove.view import box_anchor, bundle, diagram, title
from attncert.reports.words.claims import evidence, readable
from attncert.reports.words.levels import WORDING
from attncert.reports.words.templating import TEMPLATES
from attncert.reports.words.text import markdown, sentence
from attncert.verify.claims.answer import Answer
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.ids import ClaimId, head_and_step
from attncert.verify.claims.proof import Proof
from attncert.verify.claims.trace import ProofTrace
from attncert.verify.claims.words import counted

MOST_LINKS = 8
_PAPER = "{mahdavi2024memorization,"


def sections(proof: Proof) -> dict[str, object]:
    built = proof.layer is not None or proof.network is not None
    trace, command = proof.trace, printable(proof.command)
    failing = [] if proof.standing.holds else trace.pivotal(proof.conclusion)
    return {
        "thing": "network" if proof.setup is None else "layer",
        "method": proof.construction,
        "theorem": proof.construction.layer,
        "built": built,
        "linked": partial(_linked, trace),
        "standing": proof.standing.value,
        "wording": WORDING[proof.standing],
        "failing": failing,
        "only_undecided": all(c.level is Level.UNDECIDED for c in failing),
        "fails_below": any(c.id in trace.ancestors(proof.conclusion) for c in failing),
        "still_known": [],
        "hypotheses": rows.hypotheses(proof, built),
        "rested_on": rows.rested_on(proof),
        "promises": rows.promises(proof),
        "heads_words": "",
        "saturation_line": "",
        "instead_of_a1": False,
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
        **_steps(proof),
    }


def _steps(proof: Answer) -> dict[str, object]:
    """The claims in order, with those about heads together where the first of them stands."""
    trace, heads = proof.trace, head_steps(proof.trace)
    number = {claim_id: k for k, claim_id in enumerate(trace.order, start=1)}
    view, anchor = diagram(trace), anchors(trace)
    written = {claim.id: f"step-{number[claim.id]}" for claim in heads.written} if heads else {}
    first = list(takewhile(lambda claim: not head_and_step(claim.id), trace))
    standings = Counter(trace.standing(claim.id) for claim in trace)
    return {
        "standings": [(s.value, standings[s]) for s in Level if standings[s]],
        "boxes": [(box.label, box_anchor(box, anchor)) for box in view.boxes],
        "apart": [(title(i), anchor[i]) for i in view.apart],
        "number": number,
        "first_steps": first,
        "heads": heads,
        "last_steps": [c for c in list(trace)[len(first) :] if not head_and_step(c.id)],
        "evidence": evidence,
        "readable": readable,
        "held_down": partial(rows.held_down, proof),
        "premises": partial(_premises, anchor | written),
    }


def _premises(anchor: dict[ClaimId, str], claim: Claim) -> list[tuple[str, str]]:
    """What the claim rests on, in words, each with its anchor ("" if it has several)."""
    links = [
        (words, anchor[named[0]] if len({anchor[i] for i in named}) == 1 else "")
        for words, named in bundle(claim.rests_on)
    ]
    more = len(links) - MOST_LINKS
    return links if more <= 0 else [*links[:MOST_LINKS], (f"and {counted(more, 'other')}", "")]


def files(proof: Answer) -> dict[str, bytes]:
    """The files beside the page. Pure: the same proof gives the same bytes."""
    named = {"references.bib": references(proof).encode()}
    data = (proof.certificate or {}).get("data_file")
    return named | ({} if data is None else {data["name"]: data.content})


def references(proof: Answer) -> str:
    """BibTeX of the software, and of the paper if a claim names it."""
    text = (TEMPLATES / "references.bib").read_text("utf-8")
    if _cites_paper(proof):
        return text
    return "\n\n".join(entry for entry in text.split("\n\n") if _PAPER not in entry)


def _cites_paper(proof: Answer) -> bool:
    return any(re.search("^paper,|the paper's", claim.source) for claim in proof.trace)


def _arithmetic(claims: Iterable[Claim]) -> list[str]:
    """The software that computed these claims, shortest description first."""
    kinds = {printable(c.arithmetic) for c in claims if c.arithmetic}
    return sorted(kinds, key=lambda a: (len(a), a))


def _linked(trace: ProofTrace, statement: str) -> str:
    """A statement in Markdown; a claim that it names ("claim reduction") is a link to its step."""
    number = {claim_id: k for k, claim_id in enumerate(trace.order, start=1)}

    def step(named: re.Match[str]) -> str:
        k = number.get(ClaimId(named[1]))
        return f"[step {k}, {named[1]}](#step-{k})" if k else named[0]

    return re.sub(r"\bclaim ([a-z]+(?:[.-][a-z]+)*)", step, markdown(sentence(statement)))
