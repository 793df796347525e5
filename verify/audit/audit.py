"""`attncert audit` as a function: constructions on bundled cases, and on a user's data.

The conclusion holds if every construction keeps its promises and memorizes the data. It is refuted
by a broken promise, or by data that no weights memorize; otherwise it is undecided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.progress import StageProgress, silent
from attncert.verify.audit import edge_cases, user_data
from attncert.verify.audit.sharpen import Sharpened, sharpen
from attncert.verify.checking.answers import answers
from attncert.verify.claims import ids
from attncert.verify.claims.answer import Answer, Subject
from attncert.verify.claims.evidence import Claim
from attncert.verify.claims.trace import ProofTrace
from attncert.verify.claims.words import counted
from attncert.verify.questions.audit import Audit
from attncert.verify.statements import registry
from attncert.verify.statements.construction import Construction


@dataclass(frozen=True, kw_only=True, repr=False)
class AuditAnswer(Answer):
    """The answer to an audit. methods: the audited constructions. cases: their outcomes on the edge
    cases. sharpened: the purpose of each hypothesis of a named construction. examined: the
    examination of the user's data, if any."""

    question: Audit
    data: Dataset | Subject
    methods: tuple[Construction, ...]
    cases: tuple[edge_cases.CaseVerdict, ...]
    sharpened: tuple[Sharpened, ...] = ()
    examined: user_data.Examination | None = None

    @property
    def command(self) -> str:
        return self.question.line(bare=self.examined is None)


@answers(Audit, data=Dataset)
def audit(
    data: Dataset | None = None,
    question: Audit | None = None,
    progress: StageProgress = silent,
) -> AuditAnswer:
    """Run constructions on edge cases. Report which hypotheses hold for the data and which step
    uses each hypothesis.

    data: None means only the bundled cases. Arithmetic: exact. Source: docs/audit-of-theorem-1.md;
    every other construction names its own. Raises InputError.

    >>> from attncert import Audit, audit
    >>> answer = audit(question=Audit(quick=True))
    >>> answer.standing.value, answer.trace["audit.edge-cases"].level.value
    ('proved', 'proved')
    """
    question = question or Audit()
    if data is None and question.examples is not None:
        raise InputError("examples", "given with a data set", "without one")
    methods, quick, seed = methods_of(question), question.quick, question.seed
    examined, about = None, list[Claim]()
    if data is not None:
        data = question.of(data).expanded()
        examined = user_data.examine(data, methods, quick, seed, progress)
        about = user_data.claims(examined)
    cases = edge_cases.run(methods, quick, seed, progress)
    judged = edge_cases.claim(cases)
    # Sharpening all constructions would take minutes.
    named = methods if question.construction else ()
    found = [x for method in named for x in sharpen(method, quick, seed, progress)]
    return AuditAnswer(
        question=question,
        data=data or Subject("bundled cases"),
        trace=ProofTrace(
            [
                *about,
                *(x.claim() for x in found),
                judged,
                _conclusion(about[-1:], judged, cases),
            ]
        ),
        conclusion=ids.AUDIT,
        uncertified="an audit has no file",
        methods=methods,
        cases=cases,
        sharpened=tuple(found),
        examined=examined,
    )


def methods_of(question: Audit) -> tuple[Construction, ...]:
    """The construction that the question names, or else the constructions that use A1 and A2."""
    if question.construction is not None:
        return (registry.method(question.construction),)
    return tuple(method for method in registry.methods() if method.assumes_a1_a2)


def _conclusion(
    about: Sequence[Claim], judged: Claim, cases: Sequence[edge_cases.CaseVerdict]
) -> Claim:
    count = len({x.case for x in cases})
    comes = "comes out as it" if count == 1 else "come out as they"
    statement = f"The {counted(count, 'bundled edge case')} {comes} must."
    if about:
        data = about[0].statement.removesuffix(".")
        statement = f"{data}, and the {statement[4:]}"
    return Claim.together(ids.AUDIT, statement, [*about, judged])
