"""Whether a proof holds on the given data: the second verdict, after the one on the outputs."""

from __future__ import annotations

from collections.abc import Sequence

from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.trace import ProofTrace
from attncert.verify.claims.words import counted


def stands(
    known: Sequence[Claim], steps: Sequence[Claim], promises: Sequence[Claim]
) -> list[Claim]:
    """The claim that a proof holds: its steps, its promises, and the hypotheses that a step uses.
    known: the claims on which these may rest.

    A refuted step refutes the proof, unless it rests on a false hypothesis. If a step uses a false
    hypothesis, the proof is not applicable. Vacuous steps support nothing; if all steps are
    vacuous, the proof is undecided. Promises without a step are counted, but they are not called a
    proof. If there are neither steps nor promises, there is no claim.
    """
    own = [*steps, *promises]
    if not own:
        return []
    trace = ProofTrace([*known, *own])
    below = set[ids.ClaimId]().union(*(trace.ancestors(claim.id) for claim in own))
    used = [claim for claim in trace if claim.id in below and ids.hypothesis_name(claim.id)]
    said = [claim for claim in steps if claim.level is not Level.VACUOUS]
    needed = [*said, *promises, *used]
    if (said or not steps) and all(trace.standing(claim.id).holds for claim in needed):
        unused = [x for x in known if ids.hypothesis_name(x.id) and x.id not in below]
        verdict = (
            "The proof is valid for these data"
            if steps
            else "The proof has no step about these data"
        )
        statement = f"{verdict}: {_counts(steps, promises, used, unused)}."
        on = tuple(claim.id for claim in needed)
        level = min(trace.standing(name) for name in on)
        return [Claim(ids.PROOF, statement, level, rests_on=on)]
    outside = [claim for claim in used if claim.level in (Level.REFUTED, Level.NOT_APPLICABLE)]
    excused = {claim.id for claim in outside}
    refuted = [claim for claim in own if claim.level is Level.REFUTED]
    if false := [x for x in refuted if not excused & trace.ancestors(x.id)]:
        return [_fails(Level.REFUTED, false)]
    if outside:
        return [_fails(Level.NOT_APPLICABLE, outside)]
    open_ = {claim.id for claim in (needed if said else own)} | below
    return [_fails(Level.UNDECIDED, [x for x in trace if x.id in open_ and not x.level.holds])]


def _fails(level: Level, because: Sequence[Claim]) -> Claim:
    """The claim that the proof holds, refuted or open. because: claims that fail on their own."""
    statement = (
        "Every step of the proof holds on these data, and every hypothesis that a step uses."
    )
    reason = f"{because[0].id} is {because[0].level.value}"
    witness = {"reason": reason, "statements": [claim.id for claim in because]}
    return Claim(ids.PROOF, statement, level, witness=witness)


def _counts(
    steps: Sequence[Claim],
    promises: Sequence[Claim],
    used: Sequence[Claim],
    unused: Sequence[Claim],
) -> str:
    """How many statements hold, which steps are vacuous, and which unused hypotheses are false."""
    parts = [
        counted(len(used), "hypothesis"),
        counted(sum(claim.level is not Level.VACUOUS for claim in steps), "step"),
        counted(len(promises), "promise"),
    ]
    *most, last = (part for part in parts if not part.startswith("0 "))
    holding = f"{', '.join(most)} and {last}" if most else last
    vacuous = [claim.id for claim in steps if claim.level is Level.VACUOUS]
    verb = "hold" if most or not last.startswith("1 ") else "holds"
    false = [claim.id for claim in unused if claim.level is Level.REFUTED]
    more = f"; vacuous: {', '.join(vacuous)}" if vacuous else ""
    more += f"; false, but used by no step: {', '.join(false)}" if false else ""
    return f"{holding} {verb}{more}"
