"""The report of `attncert audit`: what is known of the user's data, and what bundled cases show."""

from __future__ import annotations

from typing import Any

from attncert.reports.answers import PageParts
from attncert.reports.audit.tables import cases_table, data_tables
from attncert.reports.words.text import plain, sentence
from attncert.verify.audit.audit import AuditAnswer
from attncert.verify.audit.user_data import Examination
from attncert.verify.claims.evidence import Level

_WORDS = {Level.NOT_APPLICABLE: "does not apply"}


def page_parts(answer: AuditAnswer) -> PageParts:
    examined = answer.examined
    context = {
        "examined": examined,
        "quick": answer.question.quick,
        "titles": "; ".join(method.voice.title for method in answer.methods),
        "of_data": [] if examined is None else list(data_tables(examined)),
        "cases": cases_table(answer.cases, answer.methods),
    }
    more = () if examined is None else (_sentence(examined),)
    return PageParts("audit.md.j2", context, exhibits(answer), more=more)


def exhibits(answer: AuditAnswer) -> dict[str, Any]:
    """What each construction did with each case, and with the data."""
    examined = answer.examined
    cases: dict[str, dict[str, str]] = {}
    for x in answer.cases:
        cases.setdefault(x.case, {})[x.construction] = x.words
    content: dict[str, Any] = {"edge cases": cases}
    if examined is None:
        return content
    verdicts = {name: proof.standing.value for name, proof in examined.proofs.items()}
    looked_at = {"examples": examined.data.T, "of": examined.whole.T, "verdicts": verdicts}
    return content | {"data": looked_at}


def _sentence(examined: Examination) -> str:
    """For a terminal: the verdict of each construction on the user's data."""
    for proof in examined.proofs.values():
        if proof.standing is Level.REFUTED:  # then for all weights: no construction could help
            statement = plain(sentence(proof.statement))
            return f"Your data ({examined.part}): impossible for all weights. Refuted: {statement}"
    verdicts = "; ".join(
        f"{proof.setup.voice.title}: {_WORDS.get(proof.standing, proof.standing.value)}"
        for proof in examined.proofs.values()
    )
    return f"Your data ({examined.part}): {verdicts}."
