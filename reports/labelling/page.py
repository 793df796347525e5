"""The report of `attncert every-labelling`: one zero of the outputs, and what follows."""

from __future__ import annotations

from typing import Any

from attncert.constructions.brief import command_line
from attncert.reports.report import LABELLING, Report
from attncert.reports.words.claims import lines
from attncert.reports.words.jsonable import readable_json
from attncert.reports.words.levels import WORDING
from attncert.reports.words.numbers import count
from attncert.reports.words.templating import page
from attncert.verify.certificate import TooLarge, canonical_bytes, produced_by
from attncert.verify.claims.evidence import Level
from attncert.verify.labelling.certificate import labelling_certificate
from attncert.verify.labelling.labelled import Labelled, labelled_dict

FORMAT = "attncert-every-labelling/1"


def one_line(labelled: Labelled) -> str:
    """For a terminal: the verdict on every labelling."""
    level, examples = labelled.level, count(labelled.data.T, "example")
    if labelled.zero is not None and level is Level.PROVED:
        return f"Every labelling of {examples}, {count(labelled.zero.heads, 'head')}: proved."
    if level is Level.REFUTED:
        reason = labelled.claims[-1].statement.partition(": no, ")[2]
        return f"Every labelling of {examples}: refuted: {reason}"
    return f"Every labelling of {examples}: undecided: {labelled.why}."


def command(labelled: Labelled) -> str:
    """What does it again; paths are left out."""
    settings = vars(labelled.settings)
    return command_line("attncert every-labelling DATA", examples=labelled.data.T, **settings)


def certificate_of(labelled: Labelled) -> tuple[dict[str, Any] | None, str]:
    """The file's content, or None and why there is none."""
    if labelled.zero is None or labelled.rank is None or labelled.level is not Level.PROVED:
        return None, "nothing was proved"
    made = produced_by(command(labelled), labelled.settings.seed)
    try:
        return labelling_certificate(
            labelled.data,
            labelled.zero,
            labelled.rank.prime,
            construction=labelled.construction,
            produced_by=made,
        ), ""
    except TooLarge as reason:
        return None, str(reason)


def report(labelled: Labelled) -> Report:
    """Status 0: proved; 1: some labelling is out of reach; 3: undecided."""
    lines = (one_line(labelled),)
    files = render(labelled)
    return Report(LABELLING, files, labelled_dict(labelled), lines, labelled.exit_status)


def render(labelled: Labelled) -> dict[str, bytes]:
    """report.md, labelling.json, timings.json, and certificate.json where there is one."""
    certificate, without = certificate_of(labelled)
    context = {
        "line": one_line(labelled),
        "labelled": labelled,
        "level": labelled.level.value.capitalize(),
        "meaning": WORDING[labelled.level].meaning,
        "lines": lines(labelled.claims),
        "command": command(labelled),
        "certificate": certificate is not None,
        "without": without,
    }
    files = {
        "report.md": page("labelling.md.j2", context),
        "labelling.json": readable_json({"format": FORMAT, **labelled_dict(labelled)}),
        "timings.json": readable_json({"seconds": labelled.seconds}),
    }
    if certificate is not None:
        files["certificate.json"] = canonical_bytes(certificate)
    return files
