"""The report of `attncert capacity`: three notions in one table, then the claims about each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from typing import Any

from attncert.constructions.construction import places
from attncert.reports.report import PageParts
from attncert.reports.words.claims import ClaimLine, lines
from attncert.verify.certificates.certificate import Certificate, canonical_bytes
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import About
from attncert.verify.claims.ids import ClaimId
from attncert.verify.claims.words import counted, sized
from attncert.verify.depth.notions import CapacityAnswer, End, Notion
from attncert.verify.limits.capacity.capacity import DataCapacity

NAMES = {
    About.UNIVERSAL: "all labels at once",
    About.EVERY_LABELLING: "each labelling",
    About.SOME_LABELLINGS: "some labellings",
    About.THESE_LABELS: "these labels",  # this notion has no row in the table
}


def page_parts(answer: DataCapacity) -> PageParts:
    law = answer.jacobian
    context = {
        "law": law,
        "promised": places(law.heads, min(answer.data.counts or (answer.data.n,))),
        "who": sized(law.heads, law.head_width, law.value_width),
        "rows": [row_of(answer, notion) for notion in answer.notions],
        "parts": _parts(answer),
        "tied": file_of(answer.certificates, About.THESE_LABELS),
    }
    return PageParts(
        "capacity.md.j2",
        context,
        exhibits(answer),
        files=partial(further_files, answer.certificates),
        more=tuple(_sentence(answer, notion) for notion in answer.notions),
    )


def exhibits(answer: DataCapacity) -> dict[str, Any]:
    law = answer.jacobian
    return {
        "heads": law.heads,
        "notions": exhibited(answer),
        "law": asdict(law.spans) | {"N": law.law},
        "bounds": [asdict(upper) for upper in law.uppers],
    }


def exhibited(answer: CapacityAnswer) -> list[dict[str, Any]]:
    """The table as data."""
    labels = answer.data.T * answer.data.m
    return [
        {
            "notion": NAMES[notion.about],
            "labels": {"at least": notion.least, "at most": notion.most, "of": labels},
            "heads": {"needed": notion.needed, "enough": notion.enough and notion.enough.number},
            "certificate": file_of(answer.certificates, notion.about),
        }
        for notion in answer.notions
    ]


def file_of(certificates: Mapping[About, Certificate], about: About) -> str | None:
    """The name of the certificate for this notion; None if there is none."""
    if about not in certificates:
        return None
    first = about is next(iter(certificates))
    return "certificate.json" if first else f"certificate-{about.value.replace(' ', '-')}.json"


def further_files(certificates: Mapping[About, Certificate]) -> dict[str, bytes]:
    others = list(certificates.items())[1:]
    return {str(file_of(certificates, about)): canonical_bytes(body) for about, body in others}


def row_of(answer: CapacityAnswer, notion: Notion) -> dict[str, Any]:
    def cell(end: End) -> str:
        level = "" if end.claim is None else f", {answer.trace.standing(end.claim).value}"
        return f"{end.number:,}{level}"

    possible, enough = notion.needed is not None, "not known"
    if notion.enough is not None:
        enough = f"{notion.enough.number:,}"
    return {
        "notion": NAMES[notion.about],
        "least": cell(notion.below),
        "most": cell(notion.above),
        "needed": f"{notion.needed:,}" if possible else "no number of heads",
        "enough": enough if possible else "–",
        "file": file_of(answer.certificates, notion.about),
    }


def ends_of(notion: Notion) -> str:
    """The bounds on how many label numbers are served, in words."""
    few, many = f"{notion.least:,}", f"{notion.most:,}"
    return few if few == many else f"{few} to {many}"


def _sentence(answer: DataCapacity, notion: Notion) -> str:
    law = answer.jacobian
    ends = ends_of(notion)
    who, labels = counted(law.heads, "head"), counted(law.rank.rows, "label number")
    line = f"{NAMES[notion.about].capitalize()}: {ends} of {labels} by {who}"
    if notion.needed is None:
        return f"{line}; no number of heads serves all."
    fewest = f"{notion.needed:,}"
    if notion.enough is None:
        fewest += " or more"
    elif notion.enough.number > notion.needed:
        fewest += f" to {notion.enough.number:,}"
    return f"{line}; the fewest heads that serve all: {fewest}."


def _parts(answer: DataCapacity) -> list[tuple[str, list[ClaimLine]]]:
    parts: dict[About, list[ClaimLine]] = {about: [] for about in NAMES}
    for claim, line in zip(answer.trace, lines(answer.trace), strict=True):
        parts[claim.about or _part(claim.id)].append(line)
    return [(NAMES[about].capitalize(), part) for about, part in parts.items() if part]


def _part(claim_id: ClaimId) -> About:
    if claim_id.startswith("labelling.") or claim_id in (ids.LAW_ZERO, ids.LAW_TWICE):
        return About.EVERY_LABELLING
    return About.SOME_LABELLINGS if claim_id.startswith("law.") else About.UNIVERSAL
