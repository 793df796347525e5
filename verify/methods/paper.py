"""The paper's construction: Theorem 1."""

from __future__ import annotations

from attncert.constructions import paper
from attncert.constructions.construction import Construction
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Layer
from attncert.constructions.progress import Progress
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim
from attncert.verify.claims.proof import Outline, Voice
from attncert.verify.methods.method import Method, Target
from attncert.verify.methods.request import Request
from attncert.verify.partition.claims import memorizes
from attncert.verify.steps.paper import head_claims


def _build(data: Dataset, request: Request, progress: Progress) -> Construction:
    return paper.build(
        data,
        head_width=request.head_width,
        heads=request.heads,
        interior=not request.vertices,
        saturation=request.saturation,
        seed=request.seed,
        progress=progress,
    )


def _attacked(data: Dataset, heads: int, head_width: int, interior: bool) -> Layer:
    return paper.build(data, head_width=head_width, heads=heads, interior=interior).layer


def certified_partition(data: Dataset, built: Construction) -> list[Claim]:
    """What the partition condition alone promises for the groups that were used."""
    groups = built.partition or built.groups
    return [memorizes(groups, built.r, of=data.T, width_one=built.r == data.n)]


def _remarks(data: Dataset, built: Construction) -> dict[str, str]:
    """How much of the paper's head was needed: targets at the barycentre use no steering."""
    uniform = sum(len(set(g)) == 1 for head in built.heads for g in head.logits)
    every = sum(len(head.group) for head in built.heads)
    plain = sum(all(len(set(g)) == 1 for g in head.logits) for head in built.heads)
    longer = "; --vertices steers every example, with far longer numbers" if plain else ""
    return {
        "own-group targets": f"{uniform} of {every} at the barycentre (uniform attention, steering "
        f"vector 0), {every - uniform} elsewhere",
        "heads without steering": f"{plain} of {len(built.heads)} are c·uvᵀ alone, of rank one"
        f"{longer}",
    }


METHOD = Method(
    name="paper",
    certificate="mahdavi2024",
    theorem="Theorem 1",
    source="paper, Theorem 1",
    build=_build,
    steps=head_claims,
    outline=Outline(
        first=(ids.DUALS, ids.STEERING, ids.WEIGHTS, ids.INTEGRAL),
        later=(ids.SELECTOR, ids.SEPARATOR, ids.SATURATION),
        hypotheses=("A1", "A2", "context-size", "value-width", "capacity"),
        partition=True,
    ),
    bound=paper.BOUND,
    width=lambda n: n,
    saturates="own",
    uses_a1_a2=True,
    follows=certified_partition,
    remarks=_remarks,
    strength=(ids.DUALS, ids.STEERING),
    attack=Target(_attacked, width_one=False),
    voice=Voice(
        title="the paper's construction",
        theorem="Theorem 1 of Mahdavi, Liao and Thrampoulidis (ICLR 2024)",
        source="its proof, as docs/audit-of-theorem-1.md reconstructs it step by step",
        placed="examples that these heads place, $H(r-1)+1$",
        numbers="A head is $M_h=c\\,uv^\\top+\\sum_tw_t\\hat e_t^\\top$ over its group, the "
        "examples that it places: $\\hat e_t$ is dual to the query $e_t$ in the group (1 on it, 0 "
        "on the others), $w_t$ gives the group its logits, $v$ is orthogonal to the group and to "
        "no earlier query, and $u$ separates the rows of their contexts. $c$ is the multiplier "
        "that makes each earlier example attend to one row of its context; $B$ is the smallest "
        "logit gap over them, in bits, and $(n-1)2^{-B}$ the bound on $1-p_{\\max}$ that follows. "
        '"none" is a bound of 1 or more, which says nothing. No claim rests on it: the rank at '
        "this $c$ is certified directly.",
        others="which the head steers to one row each, as far as the rank needs it",
        general="Theorem 1 in general: the trace is one instance of its proof, not a check of the "
        "proof for all data.",
        without_a1="What the proof asks of the queries is the partition condition of its own "
        "groups (hypothesis.partition), and it is checked",
    ),
)
