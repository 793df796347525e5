"""What a finished proof must keep, whoever made its claims.

A construction promises steps, hypotheses, claims and what these rest on (`Outline`); each promise
must be in the trace. No claim may be stronger than what computed it, and what is refuted has a
witness. (Counts, standings and witnesses are checked again by tests/support/trace_rules.py, in
every proof that a test makes.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.ids import ClaimId, Step, of_head
from attncert.verify.claims.proof import Outline, Proof
from attncert.verify.claims.trace import ProofTrace, TraceError
from attncert.verify.coq.theorems import names_a_theorem

# How strong a claim can be at most: by its id, or by words in what it says computed it.
_AT_MOST = {
    ids.ALMOST_ALL: Level.ARGUED,
    ids.MULTIPRECISION: Level.NUMERICAL,
    ids.SATURATION_MULTIPRECISION: Level.NUMERICAL,
    ids.ENCLOSURE_ERROR: Level.ENCLOSED,
}
_WORDS = {
    "random": Level.SAMPLED,
    "floating point": Level.NUMERICAL,
    "ball arithmetic": Level.ENCLOSED,
}


def require_rules(proof: Proof) -> None:
    """Raises TraceError where the finished proof breaks a rule."""
    trace, outline = proof.trace, proof.setup.outline
    rules = {
        "complete": missing(proof, outline),
        "edges": unnamed(trace, outline),
        "levels": too_strong(trace),
        "witnesses": without_witness(trace),
    }
    for name, violations in rules.items():
        for violation in violations:
            raise TraceError(f"trace.{name}: {violation}")


def missing(proof: Proof, outline: Outline) -> Iterator[str]:
    """What the outline promises and the trace lacks; nothing where no layer was built."""
    if proof.layer is None:
        return
    trace = proof.trace
    names = [*map(ids.hypothesis, outline.hypotheses), *outline.whole]
    names += [ids.PARTITION] if outline.partition else []
    for number in range(1, len(proof.groups) + 1):
        names += [of_head(number, step) for step in _steps(trace, outline, number)]
    yield from (f"{name} is missing" for name in names if name not in trace)
    yield from _unknown(trace, outline)


def _steps(trace: ProofTrace, outline: Outline, number: int) -> Sequence[Step]:
    """Of this head; a short one has either all of its later steps or none."""
    none = not any(of_head(number, step) in trace for step in outline.later)
    if number == 1 or (outline.short_heads and none):
        return outline.first
    return (*outline.first, *outline.later)


def _unknown(trace: ProofTrace, outline: Outline) -> Iterator[str]:
    """Ids in the outline's `rests_on` that no claim has."""
    steps = {of[1] for claim in trace if (of := ids.head_and_step(claim.id))}
    for name in outline.rests_on:
        if name not in {*steps, *outline.steps, *outline.whole}:
            yield f"{name} is no step and no claim about the whole layer"
    for claim in trace:
        unknown = [p for p in promised(claim, trace, outline) if p not in trace]
        yield from (f"{p} is missing, on which {claim.id} must rest" for p in unknown)


def promised(claim: Claim, trace: ProofTrace, outline: Outline) -> Sequence[ClaimId]:
    """What the outline's `rests_on` says of a claim: a name is a step of the same head, else an
    id."""
    if of := ids.head_and_step(claim.id):
        number, step = of
        names = outline.rests_on.get(step, ())
        own = [(of_head(number, Step(name)), ClaimId(name)) for name in names]
        return [first if first in trace else other for first, other in own]
    names = outline.rests_on.get(claim.id, ()) if claim.id in outline.whole else ()
    return [ClaimId(name) for name in names]


def unnamed(trace: ProofTrace, outline: Outline) -> Iterator[str]:
    """Premises that the outline promises and the claim does not name."""
    for claim in trace:
        premises = [p for p in promised(claim, trace, outline) if p in trace]
        lost = [p for p in premises if p not in claim.rests_on]
        if lost:
            yield f"{claim.id} does not name {', '.join(lost)}"


def too_strong(trace: ProofTrace) -> Iterator[str]:
    """Claims above the level of what computed them."""
    for claim in trace:
        words = (level for word, level in _WORDS.items() if word in claim.arithmetic)
        theorem = Level.KERNEL if names_a_theorem(claim.arithmetic) else Level.PROVED
        most = min(chain(words, [theorem, _AT_MOST.get(claim.id, Level.KERNEL)]))
        if claim.level.holds and most < claim.level:
            yield f"{claim.id} is {claim.level.value}, at most {most.value}"


def without_witness(trace: ProofTrace) -> Iterator[str]:
    for claim in trace:
        if claim.level is Level.REFUTED and not claim.witness:
            yield f"{claim.id} is refuted without a witness"
