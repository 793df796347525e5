"""report.md: from a `Proof` to Markdown that GitHub shows well.

What the report says is in `templates/`, what its tables hold in `reports.rows`; here the two meet.
Everything a data set or a claim brings along goes through a filter (`md`, `code`, `html`), so its
text stays text. The report holds no time and no version: equal runs give equal bytes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from reports import rows
from reports.figures import caption_saturation
from reports.folder import MARK
from reports.levels import WORDING
from reports.mermaid import flowchart
from reports.numbers import count, indices, value, words
from reports.records import certificate_sha256
from reports.templating import TEMPLATES, Filter, render
from reports.text import code, html, markdown, one_line, sentence
from reports.view import bundle, by_head, diagram, head_and_step, pivotal, weakest
from reports.witness import readable
from verify.evidence import Claim, Level
from verify.proof import Proof

MOST_HEADS = 24  # whose steps are written out
MOST_OPEN = 2  # heads whose steps are not folded away
MOST_LINKS = 8


@dataclass(frozen=True)
class Step:
    """One claim, written out. `rests_on`, `premises`: words with the steps' numbers to link."""

    number: int
    claim: Claim
    level: str
    standing: str
    numbers: list[tuple[str, str]]
    witness: list[str]
    rests_on: list[tuple[str, int | None]]
    held_down: str


@dataclass(frozen=True)
class Part:
    """Steps shown together: one claim, or one head with a summary, or heads told in one line."""

    summary: str
    open: bool
    steps: list[Step]


def report(proof: Proof) -> str:
    """The whole of report.md."""
    filters: dict[str, Filter] = {
        "md": markdown, "code": code, "html": html, "value": value, "words": words,
        "sentence": sentence, "count": count,
    }  # fmt: skip
    return _tidy(render("report.md.j2", filters, _context(proof)))


def references() -> str:
    """BibTeX of everything that the report refers to."""
    return (TEMPLATES / "references.bib").read_text("utf-8")


def _context(proof: Proof) -> dict[str, object]:
    trace, settings = proof.trace, proof.settings
    command = one_line(str(settings.get("command", "attncert prove DATA")))
    view = diagram(trace)
    standings = Counter(trace.standing(c.id) for c in trace)
    parts, told = _parts(proof)
    failing = [] if proof.standing.holds else pivotal(trace, proof.conclusion)
    return {
        "mark": MARK,
        "proof": proof,
        "data": proof.data,
        "settings": settings,
        "conclusion": trace[proof.conclusion],
        "standing": proof.standing.value,
        "holds": proof.standing.holds,
        "wording": WORDING[proof.standing],
        "heads_words": count(settings["heads"], "head") if settings.get("heads") else "",
        "failing": [(c, readable(c.witness or {})) for c in failing],
        "only_undecided": all(c.level is Level.UNDECIDED for c in failing),
        "fails_below": any(c.id in trace.ancestors(proof.conclusion) for c in failing),
        "hypotheses": rows.hypotheses(proof),
        "construction": rows.construction(proof),
        "head_columns": rows.HEAD_COLUMNS,
        "head_rows": rows.heads(proof),
        "saturation_caption": caption_saturation(proof.heads) if proof.heads else "",
        "standings": [(s.value, standings[s]) for s in Level if standings[s]],
        "levels": [
            (x.value, WORDING[x].meaning)
            for x in Level
            if standings[x] or any(c.level is x for c in trace)
        ],
        "mermaid": flowchart(view),
        "view": view,
        "parts": parts,
        "told": told,
        "gaps": rows.gaps(proof),
        "arithmetic": sorted({one_line(c.arithmetic) for c in trace if c.arithmetic}),
        "command": command,
        "fence": "`" * max(3, 1 + max(map(len, re.findall("`+", command)), default=0)),
        "certificate_sha256": certificate_sha256(proof),
        "references": references().strip(),
    }


def _parts(proof: Proof) -> tuple[list[Part], list[tuple[str, str, str]]]:
    """The steps in order, those of a head together; and the heads that are told in a table:
    (heads, their steps, standing)."""
    trace = proof.trace
    groups = by_head(trace)
    every = [h for h, _ in groups if h is not None]
    written = _written_heads(proof, every)
    number = {
        claim_id: k
        for k, claim_id in enumerate(trace.order, start=1)
        if (head_and_step(claim_id) or (None,))[0] in {None, *written}
    }
    parts, left = [], []
    for head, claims in groups:
        if head is not None and head not in written:
            left.append((head, claims))
            continue
        steps = [_step(proof, c, number) for c in claims]
        summary = "" if head is None else _head_summary(proof, head, claims)
        parts.append(Part(summary, head is not None and len(every) <= MOST_OPEN, steps))
    return parts, _told(proof, left)


def _written_heads(proof: Proof, every: Sequence[int]) -> set[int]:
    """All heads, or the ends and those that stand weaker than most."""
    if len(every) <= MOST_HEADS:
        return set(every)
    standing = {h: weakest(proof.trace, cs) for h, cs in by_head(proof.trace) if h is not None}
    usual = Counter(standing.values()).most_common(1)[0][0]
    odd = [h for h in every if standing[h] < usual]
    ends = [*every[:8], *every[-2:]]
    return {*ends, *odd[: MOST_HEADS - len(ends)]}


def _told(proof: Proof, left: list[tuple[int, list[Claim]]]) -> list[tuple[str, str, str]]:
    """Heads with the same steps and the same standings, in one line each."""
    same: dict[tuple[tuple[str, Level], ...], list[int]] = {}
    for head, claims in left:
        pattern = tuple(((head_and_step(c.id) or (0, ""))[1], proof.trace.standing(c.id))
                        for c in claims)  # fmt: skip
        same.setdefault(pattern, []).append(head)
    return [
        (indices(numbers, 1000), ", ".join(f"{words(s)} ({level.value})" for s, level in pattern),
         min(level for _, level in pattern).value)
        for pattern, numbers in same.items()
    ]  # fmt: skip


def _step(proof: Proof, claim: Claim, number: dict[str, int]) -> Step:
    """`number`: of the steps that are written out, to link to."""
    named = bundle(claim.rests_on)
    links: list[tuple[str, int | None]] = []
    for words_, ids in named:
        links.append((words_, number.get(ids[0]) if len(ids) == 1 else None))
    if len(links) > MOST_LINKS:
        links = [*links[:MOST_LINKS], (f"and {count(len(links) - MOST_LINKS, 'other')}", None)]
    return Step(
        number=number[claim.id],
        claim=claim,
        level=claim.level.value,
        standing=proof.trace.standing(claim.id).value,
        numbers=[(words(k), value(x)) for k, x in claim.numbers.items()],
        witness=readable(claim.witness or {}),
        rests_on=links,
        held_down=rows.held_down(proof, claim),
    )


def _head_summary(proof: Proof, head: int, claims: Sequence[Claim]) -> str:
    """The line that stays visible when a head's steps are folded away."""
    standing = weakest(proof.trace, claims).value
    line = f"Head {head}: {count(len(claims), 'step')}, weakest standing {standing}"
    if head <= len(proof.heads):
        numbers = proof.heads[head - 1]
        line += f"; examples {indices(numbers.group, 4)}"
        if numbers.c is not None:
            line += f"; c = {value(numbers.c)}"
        if numbers.bits is not None:
            line += f"; B = {count(numbers.bits, 'bit')}"
    return line


def _tidy(text: str) -> str:
    """One blank line at most between blocks, no blanks at line ends, one newline at the end."""
    out: list[str] = []
    for line in text.split("\n"):
        line = line.rstrip()
        if line or (out and out[-1]):
            out.append(line)
    return "\n".join(out).strip("\n") + "\n"
