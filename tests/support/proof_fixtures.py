"""Small proofs of every kind, for the tests of the reports.

If no small run gives a proof of the kind needed, claims of a real proof are changed: wrong weights,
weak evidence, text meant to break a page, hundreds of heads. These claims need not be true.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import cycle, islice

import numpy as np
from support import exact_data
from support.gaussian import gaussian

from attncert.constructions.data.dataset import Dataset
from attncert.reports.answers import report
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.proof import Proof
from attncert.verify.claims.trace import ProofTrace
from attncert.verify.prove.prove import prove
from attncert.verify.questions.prove import ClaimChoice, Prove

EYE = np.eye(4, dtype=int).tolist()
Change = Callable[[Claim], Claim]


@functools.cache
def paper_proof(
    heads: int = 2, head_width: int = 2, n: int = 3, d: int = 3, claim: ClaimChoice = "auto"
) -> Proof:
    """A proof by the paper's construction, with as many examples as it can place."""
    T = heads * (min(n, head_width) - 1) + 1
    data = exact_data.family(T, n, d, shared=True, queries="moment-curve", seed=1)
    question = Prove(heads=heads, head_width=head_width, claim=claim)
    return prove(replace(data, name="toy"), question)


def changed(proof: Proof, change: Change) -> Proof:
    """The proof with each claim changed."""
    return replace(proof, trace=ProofTrace(map(change, proof.trace)))


def refused(contexts: object, queries: object, **settings: int) -> Proof:
    """Nothing is built for these data."""
    data = Dataset.of(contexts, queries, list(range(len(queries))), "refused")
    return prove(data, Prove(**settings))


def full_rank() -> Proof:
    """A proof about float data, whose rank is proved modulo a prime."""
    data = gaussian(3, 3, 3, seed=1)
    return prove(replace(data, name="embeddings"), Prove(claim="full-rank", heads=2))


def undecided() -> Proof:
    """Queries in two planes: the search for groups gives up."""
    planes = [[1, t, 0, 0] for t in range(6)] + [[0, 0, 1, t] for t in range(6)]
    return refused(EYE, planes, heads=4)


def wrong_weights() -> Proof:
    """Weights were built, and two examples do not get their labels."""
    witness = {"example": 1, "label": 0, "output_minus_label": "1/7", "failing_examples": [1, 2]}

    def change(claim: Claim) -> Claim:
        if claim.id not in (ids.RATIONAL, ids.MEMORIZATION):
            return claim
        return replace(claim, level=Level.REFUTED, witness=witness)

    return replace(changed(paper_proof(), change), certificate=None)


def weak(level: Level) -> Proof:
    """A proof in which A1, and so the answer, is known only at `level`."""
    few = (ids.A1, ids.MEMORIZATION)
    return changed(
        paper_proof(), lambda claim: replace(claim, level=level) if claim.id in few else claim
    )


def large() -> Proof:
    """H = 600, T = 1801, made from a proof with 3 heads: the second stands for all later ones."""
    proof, H = paper_proof(3, 4, 4, 8), 600
    first, second, _ = proof.heads
    data = exact_data.family(3 * H + 1, 4, 8, shared=True, queries="moment-curve", seed=1)
    groups = (tuple(range(4)), *(tuple(range(3 * h + 1, 3 * h + 4)) for h in range(1, H)))
    own = [claim for claim in proof.trace if claim.id.startswith("head.2.")]
    rest = [claim for claim in proof.trace if not re.match(r"head\.[23]\.", claim.id)]
    later = [moved(claim, h) for h in range(2, H + 1) for claim in own]
    at = 1 + max(k for k, claim in enumerate(rest) if claim.id.startswith("head."))
    claims = [*rest[:at], *later, *(moved(claim, H, last=3) for claim in rest[at:])]
    heads = [
        replace(head, group=group, log2_off_peak=tuple(islice(cycle(head.log2_off_peak), data.T)))
        for head, group in zip((first, *[second] * (H - 1)), groups, strict=True)
    ]
    setup = replace(proof.setup, heads=H, capacity=data.T)
    parts = {"groups": groups, "heads": tuple(heads), "setup": setup, "data": data}
    return replace(proof, trace=ProofTrace(claims), **parts)


def moved(claim: Claim, head: int, last: int = 2) -> Claim:
    """The same claim about this head instead of the `last` one."""

    def to(name: str) -> str:
        name = name.replace(f"head.{last}.", f"head.{head}.")
        return name.replace("head.1.", f"head.{head - 1}.") if last == 2 < head else name

    premises = tuple(dict.fromkeys(map(to, claim.rests_on)))
    return replace(claim, id=to(claim.id), rests_on=premises)


HOSTILE = (
    'a|b `c` <script>alert("1")</script> $x$ [l](u) *i* _j_ \\ & "]:::x --> end\n'
    "# h\u202e\ud800 ```"
)


def hostile() -> Proof:
    """Text meant to break tables, code spans, HTML, mathematics, Mermaid and LaTeX."""

    def change(claim: Claim) -> Claim:
        if claim.id not in (ids.A1, ids.RANK):
            return claim
        return replace(
            claim,
            statement=f"{claim.statement} {HOSTILE}",
            numbers={"found": HOSTILE, HOSTILE: HOSTILE},
            arithmetic=HOSTILE,
            source=HOSTILE,
            level=Level.NUMERICAL,
            uses={"A1": HOSTILE},
            witness={HOSTILE: [HOSTILE]},
        )

    proof = changed(paper_proof(), change)
    data = replace(proof.data)
    object.__setattr__(data, "name", HOSTILE)  # `Dataset` itself would refuse it
    return replace(proof, data=data)


KINDS: dict[str, Callable[[], Proof]] = {
    "small": paper_proof,
    "nine-heads": lambda: paper_proof(9, 3, 3, 6, "full-rank"),
    "single": lambda: paper_proof(1, 1, 1, 1),
    "full-rank": full_rank,
    "enclosed": lambda: weak(Level.ENCLOSED),
    "refused-context": lambda: refused([EYE[:2], [[1, 0, 0, 0], [6, 0, 0, 0]]], EYE[:2]),
    "refused-grouping": lambda: refused(EYE, [[1, 2, 0, 0], [0, 0, 0, 1], [-2, -4, 0, 0]]),
    "refused-capacity": lambda: prove(exact_data.family(7, 3, 4, seed=5), Prove(heads=2)),
    "undecided": undecided,
    "wrong-weights": wrong_weights,
    "sampled": lambda: weak(Level.SAMPLED),
    "assumed": lambda: weak(Level.ASSUMED),
    "hostile": hostile,
}


@functools.cache
def rendered(kind: str) -> tuple[Proof, dict[str, bytes]]:
    """A proof by name, "large" included, and its report; made once for all tests."""
    proof = large() if kind == "large" else KINDS[kind]()
    return proof, report(proof).files
