"""`attncert audit` as a function: which step needs which hypothesis, and a user's data.

Without data the conclusion says which hypotheses have a purpose: data were found on which only that
hypothesis is false and a statement of the proof fails. With data the conclusion is that a
construction memorizes them; it is refuted if no weights do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.progress import StageProgress, silent
from attncert.verify.audit import user_data
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
    their hypotheses; with data, only if the question names the construction. examined: the
    examination of the user's data, if any."""

    question: Audit
    data: Dataset | Subject
    methods: tuple[Construction, ...]
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
    """Say what each hypothesis of a construction is for, and which hypotheses hold for the data.

    data: None means only the purposes of the hypotheses. Arithmetic: exact. Source:
    docs/audit-of-theorem-1.md; every other construction names its own. Raises InputError.

    >>> from attncert import Audit, audit
    >>> answer = audit(question=Audit(construction="width-one", quick=True))
    >>> answer.standing.value, answer.trace["audit.width-one.A1"].level.value
    ('proved', 'proved')
    """
    question = question or Audit()
    if data is None and question.examples is not None:
        raise InputError("examples", "given with a data set", "without one")
    methods, quick, seed = methods_of(question), question.quick, question.seed
    examined, trace, found = None, list[Claim](), list[Sharpened]()
    if data is not None:
        data = question.of(data).expanded()
        examined = user_data.examine(data, methods, quick, seed, progress)
        trace = user_data.claims(examined)
    if data is None or question.construction:
        found = [x for method in methods for x in sharpen(method, quick, seed, progress)]
        trace[-1:-1] = [x.claim() for x in found]
    if data is None:
        trace.append(_purposes(found))
    return AuditAnswer(
        question=question,
        data=data or Subject("the hypotheses"),
        trace=ProofTrace(trace),
        conclusion=trace[-1].id,
        uncertified="an audit has no file",
        methods=methods,
        sharpened=tuple(found),
        examined=examined,
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
    shown = "data were found on which only it is false, and a statement of the proof breaks"
    if not broken:
        reason = {"reason": "no such data were found for any hypothesis"}
        return Claim(ids.AUDIT, f"For a hypothesis {shown}.", Level.UNDECIDED, witness=reason)
    return Claim(
        ids.AUDIT,
        f"For each of these hypotheses {shown}: {names}.",
        min(x.level for x in broken),
        rests_on=tuple(x.claim().id for x in broken),
    )
