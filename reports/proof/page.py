"""From a `Proof` to its report, and report.md itself: Markdown that GitHub shows well.

What the page says is in `templates/`, what its tables hold in `reports.proof.rows`; here the two
meet. It holds no time and no version: equal runs give equal bytes.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from attncert.constructions.foreign import printable
from attncert.reports.folder import write
from attncert.reports.proof import rows, saturation
from attncert.reports.proof.figures import caption_saturation, draw, own_figure
from attncert.reports.proof.head_steps import HeadSteps, anchors, head_steps
from attncert.reports.proof.matrices import MOST_NUMBERS, matrices
from attncert.reports.proof.records import (
    certificate_sha256,
    first_layer_bytes,
    one_line,
    summary_dict,
    timings_dict,
    trace_dict,
)
from attncert.reports.proof.tables import tables
from attncert.reports.proof.view import box_anchor, bundle, diagram, pivotal, title
from attncert.reports.report import MARK, PROOF, Report, figure_file
from attncert.reports.words.jsonable import readable_json
from attncert.reports.words.levels import WORDING, legend
from attncert.reports.words.numbers import count, indices, value, words
from attncert.reports.words.templating import TEMPLATES, page
from attncert.reports.words.text import markdown, sentence
from attncert.reports.words.witness import readable
from attncert.verify.certificate import canonical_bytes
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.ids import ClaimId, head_and_step
from attncert.verify.claims.proof import Proof
from attncert.verify.claims.trace import ProofTrace

MOST_LINKS = 8
_PAPER = "{mahdavi2024memorization,"
KNOWN = (
    ids.PLACED_MAXIMUM, ids.PLACED_MEMORIZES, ids.TIGHTNESS_BOUND, ids.TIGHTNESS_UNIVERSAL,
    ids.ROWS_RELATIONS, ids.ROWS_UNIVERSAL, ids.ROWS_LABELS, ids.LABELS_RANK, ids.SHARED_BOUND,
    ids.SHARED_UNIVERSAL, ids.GIVEN_LABELS,
)  # fmt: skip


@dataclass(frozen=True)
class Step:
    """One claim, written out. `rests_on`, `premises`: words with the anchors to link."""

    number: int
    claim: Claim
    level: str
    standing: str
    numbers: list[tuple[str, str]]
    witness: list[str]
    rests_on: list[tuple[str, str]]
    held_down: str


@dataclass(frozen=True)
class Part:
    """One claim, or the steps of all heads and those of them that are written out."""

    heads: HeadSteps | None
    steps: list[Step]


def write_report(proof: Proof, folder: str | os.PathLike[str]) -> list[Path]:
    """Render and write to `folder`; returns the paths. Raises InputError as `write` does.

    >>> from tempfile import TemporaryDirectory
    >>> from attncert import Dataset, Settings, prove
    >>> data = Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, 1], [1, 1]], [5, "1/3", 7])
    >>> with TemporaryDirectory() as folder:
    ...     written = write_report(prove(data, Settings(heads=2)), folder)
    >>> "certificate.json" in [path.name for path in written]
    True
    """
    return write(report(proof), folder)


def report(proof: Proof) -> Report:
    sentences: tuple[str, ...] = (one_line(proof),)
    if told := saturation.remedy(proof):
        command, change, seconds = told
        sentences += (
            f"Exact on rounded data (no number changed by more than {change}), in about {seconds} s"
            f" (an estimate, the hypotheses not counted): {command}",
        )
    return Report(PROOF, render(proof), summary_dict(proof), sentences, proof.exit_status)


def render(proof: Proof) -> dict[str, bytes]:
    """File contents by name. Pure: equal proofs give equal bytes, `timings.json` apart (it alone
    holds times and versions). `certificate.json` only where there is something to certify."""
    files = {
        "report.md": markdown_page(proof),
        "trace.json": readable_json(trace_dict(proof)),
        "timings.json": readable_json(timings_dict(proof)),
        "tables.tex": tables(proof).encode(),
        "references.bib": references(proof).encode(),
    }
    files |= {figure_file(name): svg for name, svg in draw(proof).items()}
    first = first_layer_bytes(proof)
    files |= {} if first is None else {"first-layer.json": first}
    if proof.certificate is None:
        return files
    data = proof.certificate.get("data_file")
    files |= {} if data is None else {data["name"]: data.content}
    return files | {"certificate.json": canonical_bytes(proof.certificate)}


def markdown_page(proof: Proof) -> bytes:
    """report.md, for which no figure is drawn: it names them alone."""
    return page("report.md.j2", _context(proof), told=partial(_told, proof.trace))


def in_notebook(proof: Proof) -> str:
    """Verdict and hypotheses in Markdown for Jupyter, where mathematics stands between dollars.

    >>> from attncert import Dataset, Settings, prove
    >>> data = Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, 1], [1, 1]], [5, "1/3", 7])
    >>> in_notebook(prove(data, Settings(heads=2)))[:54]
    '> **Proved.** The layer outputs exactly the label, $A('
    """
    told = partial(_told, ProofTrace(()))  # whose steps are not there to be linked
    text = page("notebook.md.j2", _context(proof), told=told).decode()
    return re.sub(r"\$`(.*?)`\$", r"$\1$", text.removeprefix(MARK)).strip()


def references(proof: Proof) -> str:
    """BibTeX of everything that the report refers to: the paper only where a claim names it."""
    text = (TEMPLATES / "references.bib").read_text("utf-8")
    if any("paper" in claim.source for claim in proof.trace):
        return text
    return "\n\n".join(entry for entry in text.split("\n\n") if _PAPER not in entry)


def _context(proof: Proof) -> dict[str, object]:
    trace, settings = proof.trace, proof.settings
    command = printable(settings.command)
    view, anchor = diagram(trace), anchors(trace)
    head_columns, head_rows = rows.without_empty(rows.HEAD_COLUMNS, rows.heads(proof))
    standings = Counter(trace.standing(c.id) for c in trace)
    failing = [] if proof.standing.holds else pivotal(trace, proof.conclusion)
    return {
        "proof": proof,
        "data": proof.data,
        "settings": settings,
        "conclusion": trace[proof.conclusion],
        "standing": proof.standing.value,
        "holds": proof.standing.holds,
        "wording": WORDING[proof.standing],
        "heads_words": count(settings.heads, "head") if settings.heads else "",
        "failing": [(c, readable(c.witness or {})) for c in failing],
        "only_undecided": all(c.level is Level.UNDECIDED for c in failing),
        "fails_below": any(c.id in trace.ancestors(proof.conclusion) for c in failing),
        "still_known": _still_known(proof),
        "left_out": _left_out(proof),
        "hypotheses": rows.hypotheses(proof),
        "to_decide": rows.to_decide(proof),
        "construction": rows.construction(proof),
        "voice": settings.voice,
        "instead_of_a1": _instead_of_a1(proof),
        "head_columns": head_columns,
        "head_rows": head_rows,
        **_saturation(proof),
        "own_figure": own_figure(proof.heads),
        "matrices": matrices(proof.layer),
        "most_numbers": MOST_NUMBERS,
        "saturation_caption": caption_saturation(proof.heads) if proof.heads else "",
        "standings": [(s.value, standings[s]) for s in Level if standings[s]],
        "levels": legend([*standings, *(c.level for c in trace)]),
        "boxes": [(box.label, box_anchor(box, anchor)) for box in view.boxes],
        "apart": [(title(i), anchor[i]) for i in view.apart],
        "view": view,
        "parts": _parts(proof),
        "gaps": rows.gaps(proof),
        "arithmetic": _arithmetic(c for c in trace if c.level is not Level.KERNEL),
        "in_coq": _arithmetic(c for c in trace if c.level is Level.KERNEL),
        "command": command,
        "fence": "`" * max(3, 1 + max(map(len, re.findall("`+", command)), default=0)),
        "certificate_sha256": certificate_sha256(proof),
        "first_layer": first_layer_bytes(proof) is not None,
        "data_file": (proof.certificate or {}).get("data_file"),
        "built": proof.layer is not None,
        "references": references(proof).strip(),
    }


def _saturation(proof: Proof) -> dict[str, object]:
    columns, table = saturation.table(proof)
    return {
        "saturation_line": saturation.verdict(proof),
        "remedy": saturation.remedy(proof),
        "saturation_columns": columns,
        "saturation_rows": table,
        "saturation_curves": saturation.figure(proof.heads) is not None,
        "saturation_curves_caption": saturation.caption(proof),
    }


def _arithmetic(claims: Iterable[Claim]) -> list[str]:
    """What computed these claims, shortest first."""
    told = {printable(c.arithmetic) for c in claims if c.arithmetic}
    return sorted(told, key=lambda a: (len(a), a))


def _told(trace: ProofTrace, statement: str) -> str:
    """A statement, for Markdown; where it names a claim ("claim reduction"), with the number of
    that step."""
    number = {claim_id: k for k, claim_id in enumerate(trace.order, start=1)}

    def step(named: re.Match[str]) -> str:
        k = number.get(ClaimId(named[1]))
        return f"[step {k}, {named[1]}](#step-{k})" if k else named[0]

    return re.sub(r"\bclaim ([a-z]+(?:[.-][a-z]+)*)", step, markdown(sentence(statement)))


def _parts(proof: Proof) -> list[Part]:
    """The claims in order, those of all heads together where the first of them stands."""
    trace, heads = proof.trace, head_steps(proof)
    single = {c.id for c in trace if head_and_step(c.id) is None}
    written = single | ({c.id for c in heads.written} if heads else set())
    place = {claim_id: k for k, claim_id in enumerate(trace.order, start=1)}
    anchor = anchors(trace) | {claim_id: f"step-{place[claim_id]}" for claim_id in written}
    parts: list[Part] = []
    for claim in trace:
        if claim.id in single:
            parts.append(Part(None, [_step(proof, claim, place, anchor)]))
        elif heads and not any(part.heads for part in parts):
            steps = [_step(proof, c, place, anchor) for c in heads.written]
            parts.append(Part(heads, steps))
    return parts


def _step(
    proof: Proof, claim: Claim, place: dict[ClaimId, int], anchor: dict[ClaimId, str]
) -> Step:
    links = [
        (words_, anchor[named[0]] if len({anchor[i] for i in named}) == 1 else "")
        for words_, named in bundle(claim.rests_on)
    ]
    if len(links) > MOST_LINKS:
        links = [*links[:MOST_LINKS], (f"and {count(len(links) - MOST_LINKS, 'other')}", "")]
    return Step(
        number=place[claim.id],
        claim=claim,
        level=claim.level.value,
        standing=proof.trace.standing(claim.id).value,
        numbers=[(words(k), value(x)) for k, x in claim.numbers.items()],
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
