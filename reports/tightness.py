"""The tightness report: limits that hold for all weights, claim by claim, with certificates.

From the records of verify/tightness/studies.py to Markdown and JSON. No times: equal studies give
equal bytes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from attncert.reports.folder import MARK, write_folder
from attncert.reports.proof.records import canonical_json, jsonable, readable_json
from attncert.reports.words.levels import WORDING
from attncert.reports.words.numbers import count, value, words
from attncert.reports.words.templating import Filter, render
from attncert.reports.words.text import code, markdown, sentence
from attncert.reports.words.witness import readable
from attncert.verify.claims.evidence import Level
from attncert.verify.claims.trace import ProofTrace
from attncert.verify.tightness.studies import Study

FORMAT = "attncert-tightness/1"
MOST_WITNESS = 700  # characters of a witness that the page shows; tightness.json has all of it


@dataclass(frozen=True)
class Line:
    """One claim as the page shows it; standing: with what it rests on."""

    id: str
    standing: str
    statement: str
    numbers: str
    witness: list[str]


def one_line(study: Study) -> str:
    """For a terminal: universal memorization, then the given labels."""
    level = study.universal
    said = {
        Level.PROVED: "some keys and queries serve every labelling",
        Level.REFUTED: "no keys and queries serve every labelling",
    }.get(level, "not decided by these bounds")
    given = [c.id for c in study.claims if c.level is Level.REFUTED and c.id in _GIVEN]
    labels = f" Given labels: impossible ({', '.join(given)})." if given else ""
    return f"Universal memorization: {said}.{labels}"


def render_tightness(studies: Sequence[Study], title: str) -> dict[str, bytes]:
    """report.md, tightness.json, certificates/NAME.json (certificate.json of one study); pure."""
    alone = len(studies) == 1
    paths = {
        s.name: "certificate.json" if alone else f"certificates/{s.name}.json" for s in studies
    }
    levels = {claim.level for study in studies for claim in study.claims}
    context = {
        "mark": MARK,
        "title": title,
        "studies": [(study, paths[study.name], _lines(study)) for study in studies],
        "levels": [(x.value, WORDING[x].meaning) for x in Level if x in levels],
    }
    filters: dict[str, Filter] = {
        "md": markdown, "code": code, "count": count, "sentence": sentence,
    }  # fmt: skip
    text = re.sub("\n{3,}", "\n\n", render("tightness.md.j2", filters, context))
    files = {
        "report.md": text.encode(),
        "tightness.json": readable_json(
            {"format": FORMAT, "studies": [_record(study) for study in studies]}
        ),
    }
    for study in studies:
        if study.certificate is not None:
            files[paths[study.name]] = canonical_json(study.certificate)
    return files


def write_tightness(study: Study, folder: str | os.PathLike[str]) -> list[Path]:
    """Render one study and write it to `folder`. Raises InputError as `write_folder` does."""
    return write_folder(
        folder, render_tightness([study], "Tightness: limits that hold for all weights")
    )


_GIVEN = ("rows.labels", "labels.rank")


def _lines(study: Study) -> list[Line]:
    trace = ProofTrace(study.claims)
    return [
        Line(
            claim.id,
            trace.standing(claim.id).value,
            claim.statement,
            "; ".join(f"{words(k)} {value(x)}" for k, x in claim.numbers.items()),
            [x for x in readable(claim.witness or {}) if len(x) <= MOST_WITNESS],
        )
        for claim in trace
    ]


def _record(study: Study) -> dict[str, object]:
    data = study.data
    return {
        "name": study.name,
        "title": study.title,
        "universal": study.universal.value,
        "data": None if data is None else {"sha256": data.sha256, "examples": data.T},
        "claims": jsonable(ProofTrace(study.claims).as_dict()["claims"]),
    }
