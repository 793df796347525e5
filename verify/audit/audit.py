"""`attncert audit` as a function: which step needs which hypothesis.

The conclusion names the hypotheses whose purpose is shown: for each of them, data were found on
which only this hypothesis is false and a statement of the proof fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attncert.constructions.progress import StageProgress, silent
from attncert.verify.audit.sharpen import Sharpened, sharpen
from attncert.verify.checking.answers import answers
from attncert.verify.claims import ids
from attncert.verify.claims.answer import Answer, Subject
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.trace import ProofTrace
from attncert.verify.questions.audit import Audit
from attncert.verify.statements import registry
from attncert.verify.statements.construction import Construction


@dataclass(frozen=True, kw_only=True, repr=False)
class AuditAnswer(Answer):
    """The answer to an audit. methods: the audited constructions. sharpened: the purpose of each of
    their hypotheses."""

    question: Audit
    data: Subject
    methods: tuple[Construction, ...]
    sharpened: tuple[Sharpened, ...]


@answers(Audit)
def audit(question: Audit | None = None, progress: StageProgress = silent) -> AuditAnswer:
    """Say what each hypothesis of a construction is for.

    Arithmetic: exact. Source: docs/audit-of-theorem-1.md; every other construction names its own
    source. Raises InputError.

    >>> from attncert import Audit, audit
    >>> answer = audit(Audit(construction="width-one", quick=True))
    >>> answer.standing.value, answer.trace["audit.width-one.A1"].level.value
    ('proved', 'proved')
    """
    question = question or Audit()
    methods = methods_of(question)
    found = [x for y in methods for x in sharpen(y, question.quick, question.seed, progress)]
    return AuditAnswer(
        question=question,
        data=Subject("the hypotheses"),
        trace=ProofTrace([*(x.claim() for x in found), _purposes(found)]),
        conclusion=ids.AUDIT,
        uncertified="an audit has no file",
        methods=methods,
        sharpened=tuple(found),
    )


def methods_of(question: Audit) -> tuple[Construction, ...]:
    """The construction that the question names, or else the constructions that use A1 and A2."""
    if question.construction is not None:
        return (registry.method(question.construction),)
    return tuple(method for method in registry.methods() if method.assumes_a1_a2)


def _purposes(found: Sequence[Sharpened]) -> Claim:
    """The claim that statements break without the hypotheses for which such data were found."""
    broken = [x for x in found if x.broken is not None]
    names = ", ".join(f"{x.hypothesis} of {x.construction.name}" for x in broken)
    shown = "data were found on which it alone is false and a statement of the proof fails"
    if not broken:
        reason = {"reason": "no such data were found for any hypothesis"}
        return Claim(ids.AUDIT, f"For some hypothesis, {shown}.", Level.UNDECIDED, witness=reason)
    return Claim(
        ids.AUDIT,
        f"For each of these hypotheses, {shown}: {names}.",
        min(x.level for x in broken),
        rests_on=tuple(x.claim().id for x in broken),
    )
