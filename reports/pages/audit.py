"""The report of `attncert audit`: the user's data, and the purpose of each hypothesis."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attncert.reports.report import PageParts, Table
from attncert.reports.words.text import plain, sentence
from attncert.verify.audit.audit import AuditAnswer
from attncert.verify.audit.user_data import Examination
from attncert.verify.claims import ids
from attncert.verify.claims.answer import Answer
from attncert.verify.claims.evidence import About, Level
from attncert.verify.claims.trace import ProofTrace
from attncert.verify.statements.registry import method

_WORDS = {Level.NOT_APPLICABLE: "does not apply"}
_THESE = "impossible, no weights output exactly these labels."
_UNIVERSAL = (
    "no one choice of keys and queries serves every labelling. Weights chosen for these labels may "
    "still output them."
)


def page_parts(answer: AuditAnswer) -> PageParts:
    examined = answer.examined
    context = {
        "examined": examined,
        "quick": answer.question.quick,
        "titles": "; ".join(x.heading for x in answer.methods),
        "of_data": [] if examined is None else list(data_tables(examined)),
        "sharpened": [
            (x.construction.name, x.hypothesis, x.used, x.words, x.level.value)
            for x in answer.sharpened
        ],
    }
    more: tuple[str, ...] = () if examined is None else (_sentence(examined),)
    more += tuple(
        f"{x.construction.name} without {x.hypothesis}: {x.words} ({x.level.value})."
        for x in answer.sharpened
    )
    return PageParts("audit.md.j2", context, exhibits(answer), more=more)


def exhibits(answer: AuditAnswer) -> dict[str, Any]:
    """The outcome of each construction on the data."""
    if (examined := answer.examined) is None:
        return {}
    verdicts = {name: proof.standing.value for name, proof in examined.proofs.items()}
    looked_at = {"examples": examined.data.T, "of": examined.whole.T, "verdicts": verdicts}
    return {"data": looked_at}


def _sentence(examined: Examination) -> str:
    """The line for a terminal: the verdict of each construction on the user's data."""
    for proof in examined.proofs.values():
        if proof.standing is Level.REFUTED and proof.claim.about is not None:  # for all weights
            these = proof.claim.excludes(About.THESE_LABELS)
            what = _THESE if these else _UNIVERSAL
            statement = plain(sentence(proof.statement))
            return f"Your data ({examined.part}): {what} Refuted: {statement}"
    verdicts = "; ".join(
        f"{method(name).heading}: {_outcome(proof)}" for name, proof in examined.proofs.items()
    )
    return f"Your data ({examined.part}): {verdicts}."


def _outcome(proof: Answer) -> str:
    """The standing in one word, with the claim and its margin or error unless it is equality."""
    word = _WORDS.get(proof.standing, proof.standing.value)
    if proof.conclusion == ids.MEMORIZATION:
        return word
    said = plain(sentence(proof.statement)).removesuffix(".")
    return f"{word} ({said}{'; ' if proof.reason else ''}{proof.reason})"


def data_tables(examined: Examination) -> Iterator[Table]:
    """Every hypothesis and conclusion of each construction, and the uses of the hypotheses."""
    rows = []
    for name, proof in examined.proofs.items():
        for claim in proof.trace:
            if ids.hypothesis_name(claim.id) or claim.id in (ids.THEOREM, proof.conclusion):
                numbers = (str(claim.numbers.get(k, "")) for k in ("asked", "found"))
                level = proof.trace.standing(claim.id).value
                rows.append((name, claim.statement, *numbers, level))
    columns = ("construction", "claim", "required", "found", "standing")
    yield Table("Hypotheses", columns, tuple(rows))
    used = [row for name, proof in examined.proofs.items() for row in _used(name, proof.trace)]
    uses = ("construction", "hypothesis", "used by", "for")
    yield Table("Where the hypotheses are used", uses, tuple(used))


def _used(name: str, trace: ProofTrace) -> list[tuple[str, ...]]:
    """Each step that rests on a hypothesis or names its use; heads share a row."""
    found: dict[tuple[str, str], dict[str, None]] = {}
    for claim in trace:
        of = ids.head_and_step(claim.id)
        if not of and not claim.id.startswith("step."):
            continue
        step = of[1] if of else claim.id.removeprefix("step.")
        premises = {own: "" for premise in claim.rests_on if (own := ids.hypothesis_name(premise))}
        for hypothesis, use in (premises | dict(claim.uses)).items():
            found.setdefault((hypothesis, step), {})[use] = None
    return [(name, *key, "; ".join(filter(None, uses))) for key, uses in found.items()]
