"""A user's data set as a section of the audit: what holds, who uses it, and how strongly.

The constructions of the scope are run on it by `prove`. Of a large data set the first examples
only: its hypotheses are checked, and its groups built, on that part.
"""

from __future__ import annotations

from collections.abc import Iterator

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.progress import silent
from attncert.verify.audit.hypotheses.strength import claimed, used
from attncert.verify.audit.records import AuditSection, Finding, Scope, Standing, Table
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.proof import Proof
from attncert.verify.methods import registry
from attncert.verify.methods.method import Method
from attncert.verify.pipeline.run import Run
from attncert.verify.prove import prove
from attncert.verify.questions.prove import ClaimChoice, Prove

__all__ = ["section"]

MOST, QUICK_MOST = 100, 25  # examples looked at
_WORDS = {Level.PROVED: "proved", Level.NOT_APPLICABLE: "does not apply"}
_BY_RANK = "not counted: heads certified by rank alone"
READOUT = 40  # examples up to which an exact readout is written down, too (quick: none)
_SEVERITY = {Level.REFUTED: Standing.AGAINST}


def section(scope: Scope) -> AuditSection:
    """Of `scope.data`, which must be given. Exact where `prove` is."""
    assert scope.data is not None
    data = scope.data.take(min(scope.data.T, QUICK_MOST if scope.quick else MOST))
    used_by = scope.methods
    proofs = dict[str, Proof]()
    for done, method in enumerate(used_by):
        scope.progress("your data", done, len(used_by))
        claim: ClaimChoice = "auto" if data.T <= READOUT and not scope.quick else "full-rank"
        question = Prove(construction=method.name, claim=claim, seed=scope.seed)
        proofs[method.name] = prove(data, question)
    part = (
        f"the first {data.T} of {scope.data.T} examples" if data.T < scope.data.T else "all of it"
    )
    return AuditSection(
        "data",
        f"Your data: {scope.data.name}",
        text=(
            f"Examined: {part}. Constructions with their own defaults: "
            f"{'; '.join(m.voice.title for m in used_by)}.",
        ),
        tables=(
            _hypotheses(proofs),
            *(
                _strength(data, registry.method(name), proof)
                for name, proof in proofs.items()
                if proof.layer is not None and registry.method(name).strength is not None
            ),
        ),
        findings=tuple(_findings(proofs)),
        numbers={
            "examples": data.T,
            "of": scope.data.T,
            "verdicts": {name: proof.standing.value for name, proof in proofs.items()},
        },
        answer=_answer(part, proofs),
    )


def _answer(part: str, proofs: dict[str, Proof]) -> str:
    """The verdict of each construction, for the terminal."""
    for proof in proofs.values():
        if proof.standing is Level.REFUTED:  # then for all weights: no construction could help
            statement = proof.trace[proof.conclusion].statement
            return f"Your data ({part}): impossible for all weights. Refuted: {statement}"
    verdicts = "; ".join(
        f"{registry.method(name).voice.title}: {_WORDS.get(proof.standing, proof.standing.value)}"
        for name, proof in proofs.items()
    )
    return f"Your data ({part}): {verdicts}."


def _hypotheses(proofs: dict[str, Proof]) -> Table:
    """Every hypothesis and the conclusion, as each construction asks for them."""
    rows = []
    for name, proof in proofs.items():
        for claim in proof.trace:
            if ids.hypothesis_name(claim.id) or claim.id in (ids.THEOREM, proof.conclusion):
                asked, found = (str(claim.numbers.get(k, "")) for k in ("asked", "found"))
                level = proof.trace.standing(claim.id).value
                rows.append((name, claim.statement, asked, found, level))
    columns = ("construction", "claim", "asked", "found", "standing")
    return Table("Hypotheses", columns, tuple(rows))


def _strength(data: Dataset, method: Method, proof: Proof) -> Table:
    run = Run.of(data, proof.question, method)
    built = method.build(data, run.request, silent)
    short = any(getattr(head, "short", False) for head in built.heads)
    rows = tuple(
        (
            u.hypothesis,
            u.step,
            u.what,
            str(u.asked),
            str(u.used) if u.used or not short else _BY_RANK,
        )
        for u in used(data, built, run.value_width)
    )
    uses = "; ".join(
        f"{hypothesis}: " + ", ".join(f"{count} × {step}" for step, count in steps.items())
        for hypothesis, steps in sorted(claimed(proof.trace).items())
    )
    columns = ("hypothesis", "step", "what is counted", "the theorem allows", "used at most")
    note = (
        f"Claims of the proof that name a hypothesis: {uses or 'none'}. Short heads "
        "(shortest vectors, not the steps of the proof) are certified by rank alone, not counted."
    )
    return Table(f"Strength used: {method.name}", columns, rows, note)


def _findings(proofs: dict[str, Proof]) -> Iterator[Finding]:
    """Refuted for all weights: against. Proved by one construction: as expected. Else undecided."""
    proved = [name for name, proof in proofs.items() if proof.standing.holds]
    for name, proof in proofs.items():
        answer = proof.trace[proof.conclusion]
        if proof.standing.holds:
            apart = _does_not_apply(proof)
            said = f"{name}: {proof.standing.value}. {answer.statement}{apart}"
            yield Finding(said, Standing.OK, yours=True)
            continue
        standing = _SEVERITY.get(proof.standing, Standing.OK if proved else Standing.UNDECIDED)
        said = f"{name}: {proof.standing.value}. {answer.statement}"
        yield Finding(said, standing, _witness(proof, answer), yours=True)


def _does_not_apply(proof: Proof) -> str:
    theorem = proof.trace[ids.THEOREM]
    if theorem.level.holds or not theorem.witness:
        return ""
    false = ", ".join(theorem.witness["hypotheses that do not hold"])
    return f" The theorem itself does not apply ({false}): its grouping is certified instead."


def _witness(proof: Proof, answer: Claim) -> dict[str, object] | None:
    """The answer's, or that of the first hypothesis that is false."""
    failing = [answer, *proof.trace.failures(proof.conclusion)]
    return next((dict(c.witness) for c in failing if c.witness), None)
