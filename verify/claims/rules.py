"""Rules for every finished proof: no claim is stronger than the arithmetic that computed it, and
every refuted claim has a witness. (tests/support/trace_rules.py checks counts, edges, standings and
witnesses in every proof that a test makes.)
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from attncert.verify.certificates.coq.theorems import names_a_theorem
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Level
from attncert.verify.claims.proof import Proof
from attncert.verify.claims.trace import ProofTrace, TraceError

# The strongest level of a claim, by its id or by words in its arithmetic.
_AT_MOST = {
    ids.ALMOST_ALL: Level.ARGUED,
    ids.MULTIPRECISION: Level.ENCLOSED,
}
_WORDS = {
    "random": Level.SAMPLED,
    "floating point": Level.NUMERICAL,
    "ball arithmetic": Level.ENCLOSED,
}


def require_rules(proof: Proof) -> None:
    """Raises TraceError if a finished proof breaks a rule."""
    rules = {"levels": too_strong(proof.trace), "witnesses": without_witness(proof.trace)}
    for name, violations in rules.items():
        for violation in violations:
            raise TraceError(f"trace.{name}: {violation}")


def too_strong(trace: ProofTrace) -> Iterator[str]:
    """Claims with a higher level than their arithmetic allows."""
    for claim in trace:
        words = (level for word, level in _WORDS.items() if word in claim.arithmetic)
        theorem = Level.KERNEL if names_a_theorem(claim.arithmetic) else Level.PROVED
        most = min(chain(words, [theorem, _AT_MOST.get(claim.id, Level.KERNEL)]))
        if claim.level.holds and most < claim.level:
            yield f"{claim.id} is {claim.level.value}, at most {most.value}"


def without_witness(trace: ProofTrace) -> Iterator[str]:
    """Refuted claims without a witness."""
    for claim in trace:
        if claim.level is Level.REFUTED and not claim.witness:
            yield f"{claim.id} is refuted without a witness"
