"""A user's data set in an audit: which hypotheses hold, and what no weights can output.

`prove` runs each audited construction on the data set (only on its first examples if it is large).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.progress import StageProgress
from attncert.verify.claims import ids
from attncert.verify.claims.answer import Answer
from attncert.verify.claims.evidence import About, Claim, Level
from attncert.verify.claims.words import counted
from attncert.verify.prove.prove import prove
from attncert.verify.questions.prove import ClaimChoice, Prove
from attncert.verify.statements import registry
from attncert.verify.statements.construction import Construction

MOST, QUICK_MOST = 100, 25  # the most examples that are examined
READOUT = 40  # no exact readout is computed for more examples, or if quick


@dataclass(frozen=True)
class Examination:
    """whole: the user's data. data: the examined examples. proofs: the proof of each
    construction."""

    whole: Dataset
    data: Dataset
    proofs: Mapping[str, Answer]

    @property
    def part(self) -> str:
        T, of = self.data.T, self.whole.T
        return f"the first {T} of {of} examples" if of > T else counted(T, "example", "all")


def examine(
    whole: Dataset, methods: Sequence[Construction], quick: bool, seed: int, progress: StageProgress
) -> Examination:
    """Run each construction on the data. Arithmetic: as in `prove`."""
    data = whole.take(min(whole.T, QUICK_MOST if quick else MOST))
    claim: ClaimChoice = "auto" if data.T <= READOUT and not quick else "full-rank"
    proofs = dict[str, Answer]()
    for number, method in enumerate(methods):
        progress("your data", number, len(methods))
        kind = claim if method.layer else "auto"
        asked = Prove(construction=method.name, claim=kind, seed=seed)
        proofs[method.name] = prove(data, asked)
    return Examination(whole, data, proofs)


def claims(examined: Examination) -> list[Claim]:
    """The conclusion of each construction, then the claim that one of them memorizes the data. If
    no weights memorize the data, this claim is refuted and says in which sense: for these labels,
    or for every labelling by one choice of keys and queries."""
    each = [_claim_of(name, proof) for name, proof in examined.proofs.items()]
    best = next((x for x in each if x.level.holds), None)
    refuted = next((x for x in each if x.level is Level.REFUTED), None)
    decisive = best or refuted or each[0]
    titles = " or ".join(registry.method(x).heading for x in examined.proofs)
    part = f"{examined.part} of {examined.whole.name}"
    statement = f"By {titles} {part} {'is' if examined.data.T == 1 else 'are'} memorized."
    if any(proof.conclusion != ids.MEMORIZATION for proof in examined.proofs.values()):
        statement = f"The claims of {titles} about outputs are true of {part}."
    if best is not None:
        return [*each, Claim(ids.AUDIT_DATA, statement, best.level, rests_on=(best.id,))]
    level = Level.UNDECIDED if refuted is None else Level.REFUTED
    if decisive.excludes(About.UNIVERSAL):
        statement = f"One choice of keys and queries serves every labelling of {part}."
    elif decisive.excludes(About.THESE_LABELS):
        statement = f"Some weights output exactly the given labels of {part}."
    witness = dict(decisive.witness or {}) | {"reason": f"{level.value}: {decisive.statement}"}
    return [*each, Claim(ids.AUDIT_DATA, statement, level, witness=witness, about=decisive.about)]


def _claim_of(name: str, proof: Answer) -> Claim:
    """The conclusion of one construction, with the witness of the first failing claim."""
    answer = proof.trace[proof.conclusion]
    failing = [answer, *proof.trace.failures(proof.conclusion)]
    witness = next((dict(c.witness) for c in failing if c.witness), None)
    return Claim(
        ids.audited(name),
        f"{answer.statement}{_caveat(proof)}",
        proof.standing,
        witness=None if proof.holds else witness,
        source=f"`{proof.command}`",
        about=answer.about,
    )


def _caveat(proof: Answer) -> str:
    theorem = proof.trace.get(ids.THEOREM)
    if theorem is None or not proof.holds:
        return ""
    if theorem.level.holds or not theorem.witness:
        return ""
    false = ", ".join(theorem.witness["hypotheses that do not hold"])
    return f" The theorem itself does not apply ({false}): its grouping is certified instead."
