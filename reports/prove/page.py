"""The report of `attncert prove`: what its page says in its own words.

Those are in `templates/`, what its tables hold in `reports.prove.rows`; here the two meet.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from attncert.constructions.foreign import printable
from attncert.reports.answers import PageParts
from attncert.reports.prove import rows, saturation
from attncert.reports.prove.figures import caption_saturation, draw, own_figure
from attncert.reports.prove.head_steps import HeadSteps, anchors, head_steps
from attncert.reports.prove.matrices import MOST_NUMBERS, matrices
from attncert.reports.prove.records import certificate_sha256, exhibits
from attncert.reports.prove.view import box_anchor, bundle, diagram, title
from attncert.reports.words.claims import evidence, readable
from attncert.reports.words.levels import WORDING
from attncert.reports.words.numbers import indices, notation, words
from attncert.reports.words.templating import TEMPLATES
from attncert.reports.words.text import markdown, plain, sentence
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.ids import ClaimId, head_and_step
from attncert.verify.claims.proof import Proof
from attncert.verify.claims.trace import ProofTrace
from attncert.verify.claims.words import counted

MOST_LINKS = 8
_PAPER = "{mahdavi2024memorization,"
KNOWN = (
    ids.PLACED_MAXIMUM, ids.PLACED_MEMORIZES, ids.TIGHTNESS_BOUND, ids.TIGHTNESS_UNIVERSAL,
    ids.ROWS_RELATIONS, ids.ROWS_UNIVERSAL, ids.ROWS_LABELS, ids.LABELS_RANK,
    ids.UNIVERSAL_ENOUGH, ids.GIVEN_LABELS,
)  # fmt: skip


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


def page_parts(proof: Proof) -> PageParts:
    return PageParts(
        "prove.md.j2",
        _context(proof),
        exhibits(proof),
        partial(draw, proof),
        partial(files, proof),
        _instead(proof),
    )


def files(proof: Proof) -> dict[str, bytes]:
    """What stands beside the page. Pure: equal proofs give equal bytes."""
    named = {"references.bib": references(proof).encode()}
    data = (proof.certificate or {}).get("data_file")
    return named | ({} if data is None else {data["name"]: data.content})


def _instead(proof: Proof) -> tuple[str, ...]:
    """Where a rank is the answer and nobody asked for one: why, and what else could be had."""
    if proof.question.claim != "auto" or ids.READOUT not in proof.trace:
        return ()
    return (plain(proof.trace[ids.READOUT].statement),)


def references(proof: Proof) -> str:
    """BibTeX of the software, and of the paper where a claim names it."""
    text = (TEMPLATES / "references.bib").read_text("utf-8")
    if any("paper" in claim.source for claim in proof.trace):
        return text
    return "\n\n".join(entry for entry in text.split("\n\n") if _PAPER not in entry)


def _context(proof: Proof) -> dict[str, object]:
    trace, setup = proof.trace, proof.setup
    command = printable(proof.command)
    view, anchor = diagram(trace), anchors(trace)
    head_columns, head_rows = rows.without_empty(rows.HEAD_COLUMNS, rows.heads(proof))
    standings = Counter(trace.standing(c.id) for c in trace)
    failing = [] if proof.standing.holds else trace.pivotal(proof.conclusion)
    return {
        "setup": setup,
        "linked": partial(_linked, trace),
        "standing": proof.standing.value,
        "wording": WORDING[proof.standing],
        "heads_words": counted(setup.heads, "head") if setup.heads else "",
        "failing": [(c, readable(c.witness or {})) for c in failing],
        "only_undecided": all(c.level is Level.UNDECIDED for c in failing),
        "fails_below": any(c.id in trace.ancestors(proof.conclusion) for c in failing),
        "still_known": _still_known(proof),
        "left_out": _left_out(proof),
        "hypotheses": rows.hypotheses(proof),
        "rested_on": rows.rested_on(proof),
        "to_decide": rows.to_decide(proof),
        "construction": rows.construction(proof),
        "voice": setup.voice,
        "instead_of_a1": _instead_of_a1(proof),
        "head_columns": head_columns,
        "head_rows": head_rows,
        **_saturation(proof),
        "own_figure": own_figure(proof.heads),
        "matrices": matrices(proof.layer),
        "most_numbers": MOST_NUMBERS,
        "saturation_caption": caption_saturation(proof.heads) if proof.heads else "",
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
        "built": proof.layer is not None,
    }


def _saturation(proof: Proof) -> dict[str, object]:
    return {
        "saturation_line": saturation.verdict(proof),
        "saturation_curves": bool(saturation.steering(proof.heads)),
        "saturation_curves_caption": saturation.caption(proof),
    }


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


def _parts(proof: Proof) -> list[WrittenPart]:
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
    proof: Proof, claim: Claim, place: dict[ClaimId, int], anchor: dict[ClaimId, str]
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


def _still_known(proof: Proof) -> list[tuple[str, str, str]]:
    """Where nothing was built: what can be placed, and which limits hold for all weights."""
    if proof.layer is not None:
        return []
    trace = proof.trace
    return [(i, trace.standing(i).value, trace[i].statement) for i in KNOWN if i in trace]


def _left_out(proof: Proof) -> str:
    if ids.PLACED_MAXIMUM not in proof.trace:
        return ""
    left_out = (proof.trace[ids.PLACED_MAXIMUM].witness or {}).get("left out", [])
    return indices(left_out) if left_out else ""


def _instead_of_a1(proof: Proof) -> bool:
    """The answer holds where Assumption 1 is false: worth a sentence beside the verdict."""
    trace = proof.trace
    return proof.standing.holds and ids.A1 in trace and trace[ids.A1].level is Level.REFUTED
