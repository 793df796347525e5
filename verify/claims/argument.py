"""How the written proofs argue: edges beside those that claims rest on.

What is certified is decided from the data and the weights; a standing is derived from `rests_on`
alone. The proof that the construction follows goes another way: hypotheses give the steps of each
head, these the rank, the rank every labelling. A reader wants to see both. No standing is derived
from an edge made here.
"""

from __future__ import annotations

from collections.abc import Iterator

from attncert.verify.claims import ids
from attncert.verify.claims.ids import ClaimId, head_and_step, hypothesis_name, of_head
from attncert.verify.claims.trace import ProofTrace

ROUTES = (ids.RATIONAL, ids.SYMBOLIC, ids.MULTIPRECISION)
_WHOLE = (
    (ids.CAPACITY, ids.GROUPS),  # so many examples fill so many groups
    (ids.VALUE_WIDTH, ids.REDUCTION),  # V holds the labels where d_v >= m
    (ids.THEOREM, ids.UNIVERSAL),  # what Theorem 1 says
    (ids.PARTITION_MEMORIZES, ids.UNIVERSAL),  # what its proof shows, asked for less
    (ids.UNIVERSAL, ids.MEMORIZATION),  # every labelling: these labels too
    (ids.AGREEMENT, ids.MEMORIZATION),  # a cross-check
    (ids.SATURATION_SYMBOLIC, ids.SATURATION_ASKED),  # a cross-check
    (ids.SATURATION_MULTIPRECISION, ids.SATURATION_ASKED),  # a cross-check
)  # fmt: skip


def argued(trace: ProofTrace) -> list[tuple[ClaimId, ClaimId]]:
    """Edges (premise, conclusion) between claims of the trace, none of them in `rests_on`.

    A hypothesis leads to each step that names it in `uses`; where no theorem was applied, to the
    answer. Groups lead to the heads' first steps; a head's last steps to its rank, that to the rank
    of the layer; the rank to the routes that evaluate a readout, which exists by it.
    """
    edges = dict.fromkeys(
        (a, b)
        for a, b in _edges(trace)
        if a in trace and b in trace and a != b and a not in trace[b].rests_on
    )
    return list(edges)


def _edges(trace: ProofTrace) -> Iterator[tuple[ClaimId, ClaimId]]:
    yield from _WHOLE
    for claim in trace:
        yield from ((ids.hypothesis(name), claim.id) for name in claim.uses)
        if hypothesis_name(claim.id) and ids.THEOREM not in trace:
            yield claim.id, ids.MEMORIZATION
        head = head_and_step(claim.id)
        if head is None:
            continue
        so_far = of_head(head[0], ids.RANK_SO_FAR)
        if not any(head_and_step(premise) for premise in claim.rests_on) and claim.id != so_far:
            yield ids.GROUPS, claim.id
        if not any(head_and_step(after) for after in trace.graph.successors(claim.id)):
            yield claim.id, so_far if so_far in trace and claim.id != so_far else ids.RANK
    for route in ROUTES:
        yield from ((ids.RANK, route), (ids.REDUCTION, route))
