"""Impossibility as a section of the audit: what no weights can do on the user's data."""

from __future__ import annotations

from attncert.constructions.construction import fewest_heads
from attncert.verify.audit.records import AuditSection, Finding, Scope
from attncert.verify.claims.evidence import Claim
from attncert.verify.tightness.impossibility import impossibility

__all__ = ["section"]

_LARGEST = 600  # examples up to which both verdicts are looked for


def section(scope: Scope) -> AuditSection:
    """Both verdicts for `scope.data`, which must be given; none for more examples. Exact."""
    assert scope.data is not None
    data, claims = scope.data, tuple[Claim, ...]()
    if data.T <= _LARGEST:
        heads = fewest_heads(data.T, data.n, data.n) or 1
        claims = impossibility(data, heads, seed=scope.seed)
    return AuditSection(
        "impossibility",
        "What no weights can do",
        text=(
            "Two questions, never mixed: whether some weights, chosen for these labels, output "
            "exactly these (*given*), and whether one choice of keys and queries serves "
            "every labelling (*universal*). Three verdicts: possible, impossible for every choice "
            "of weights, undecided. No verdict rests on a failed search.",
        ),
        findings=tuple(map(Finding.of, claims[-2:])),
        claims=claims,
    )
