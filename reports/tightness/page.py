"""The tightness report: limits that hold for all weights, claim by claim, with certificates.

From the records of verify/tightness/studies.py to Markdown and JSON. No times: equal studies give
equal bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

from attncert.reports.report import TIGHTNESS, Report
from attncert.reports.words.claims import lines
from attncert.reports.words.jsonable import jsonable, readable_json
from attncert.reports.words.levels import legend
from attncert.reports.words.templating import page
from attncert.verify.certificate import canonical_bytes
from attncert.verify.claims.evidence import About, Level
from attncert.verify.claims.trace import ProofTrace
from attncert.verify.tightness.studies import Study

FORMAT = "attncert-tightness/1"


def one_line(study: Study) -> str:
    """For a terminal: universal memorization, then the given labels."""
    level = study.universal
    said = {
        Level.PROVED: "some keys and queries serve every labelling",
        Level.REFUTED: "no keys and queries serve every labelling",
    }.get(level, "not decided by these bounds")
    given = [c.id for c in study.claims if c.excludes(About.THESE_LABELS)]
    labels = f" Given labels: impossible ({', '.join(given)})." if given else ""
    return f"Universal memorization: {said}.{labels}"


def report(study: Study) -> Report:
    """Status 0: these heads memorize universally; 1: no weights of theirs do; 3: undecided."""
    claims = [claim.as_dict() for claim in study.claims]
    return Report(
        TIGHTNESS,
        render([study], "Tightness: limits that hold for all weights"),
        jsonable({"universal": study.universal.value, "claims": claims}),
        (one_line(study),),
        {Level.PROVED: 0, Level.REFUTED: 1}.get(study.universal, 3),
    )


def render(studies: Sequence[Study], title: str) -> dict[str, bytes]:
    """report.md, tightness.json, certificates/NAME.json (certificate.json of one study); pure."""
    alone = len(studies) == 1
    paths = {
        s.name: "certificate.json" if alone else f"certificates/{s.name}.json" for s in studies
    }
    context = {
        "title": title,
        "studies": [(study, paths[study.name], lines(study.claims)) for study in studies],
        "levels": legend(claim.level for study in studies for claim in study.claims),
    }
    files = {
        "report.md": page("tightness.md.j2", context),
        "tightness.json": readable_json(
            {"format": FORMAT, "studies": [_record(study) for study in studies]}
        ),
    }
    for study in studies:
        if study.certificate is not None:
            files[paths[study.name]] = canonical_bytes(study.certificate)
    return files


def _record(study: Study) -> dict[str, object]:
    data = study.data
    return {
        "name": study.name,
        "title": study.title,
        "universal": study.universal.value,
        "data": None if data is None else {"sha256": data.sha256, "examples": data.T},
        "claims": jsonable(ProofTrace(study.claims).as_dict()["claims"]),
    }
