"""The paper's construction: Theorem 1."""

from __future__ import annotations

from attncert.constructions import paper
from attncert.constructions.construction import BuiltLayer
from attncert.constructions.data.dataset import Dataset
from attncert.verify.claims.evidence import Claim
from attncert.verify.claims.proof import Voice
from attncert.verify.methods.construction import Construction
from attncert.verify.methods.known import OF_THEOREM_1, PARTITION
from attncert.verify.methods.layer_theorem import LayerTheorem
from attncert.verify.methods.request import Request
from attncert.verify.origins.sequences import by_class
from attncert.verify.partition.claims import memorizes
from attncert.verify.steps.paper import STEPS


def _build(data: Dataset, request: Request) -> BuiltLayer:
    return paper.build(
        data,
        head_width=request.head_width,
        heads=request.heads,
        saturation=request.saturation,
        seed=request.seed,
        progress=request.progress,
    )


def certified_partition(data: Dataset, built: BuiltLayer) -> list[Claim]:
    """What the partition condition alone promises for the groups that were used."""
    groups = built.partition or built.groups
    return [memorizes(groups, built.r, of=data.T, width_one=built.r == data.n)]


def _remarks(data: Dataset, built: BuiltLayer) -> dict[str, str]:
    """How much of the paper's head was needed: targets at the barycentre use no steering."""
    uniform = sum(len(set(g)) == 1 for head in built.heads for g in head.logits)
    every = sum(len(head.group) for head in built.heads)
    plain = sum(all(len(set(g)) == 1 for g in head.logits) for head in built.heads)
    return {
        "own-group targets": f"{uniform} of {every} at the barycentre (uniform attention, steering "
        f"vector 0), {every - uniform} elsewhere",
        "heads without steering": f"{plain} of {len(built.heads)} are c·uvᵀ alone, of rank one",
    }


WITHOUT_A1 = (
    "What the proof asks of the queries is the partition condition of its own "
    "groups (hypothesis.partition), and it is checked"
)
_VOICE = Voice(
    placed="examples that these heads place, $H(r-1)+1$",
    numbers="A head is $M_h=c\\,uv^\\top+\\sum_tw_t\\hat e_t^\\top$ over its group, the "
    "examples that it places: $\\hat e_t$ is dual to the query $e_t$ in the group (1 on it, 0 "
    "on the others), $w_t$ gives the group its logits, $v$ is orthogonal to the group and to "
    "no earlier query, and $u$ separates the rows of their contexts. $c$ is the multiplier "
    "that makes each earlier example attend to one row of its context; $B$ is the smallest "
    "logit gap over them, in bits, so that $1-p_{\\max}\\le(n-1)2^{-B}$. No claim rests on this "
    "bound: the rank at this $c$ is certified directly.",
    others="which the head steers to one row each, as far as the rank needs it",
    general="Theorem 1 in general: the trace is one instance of its proof, not a check of the "
    "proof for all data.",
    without_a1=WITHOUT_A1,
)
CONSTRUCTION = Construction(
    name="paper",
    title="the paper's construction",
    theorem="Theorem 1 of Mahdavi, Liao and Thrampoulidis (ICLR 2024)",
    source="docs/audit-of-theorem-1.md",
    build=_build,
    subject=lambda data, request: by_class(data.expanded()),
    hypotheses={**OF_THEOREM_1, "partition": PARTITION},
    steps=STEPS,
    options=(
        "heads", "head_width", "value_width", "saturate", "round", "before",
    ),
    layer=LayerTheorem(
        bound=paper.BOUND,
        width=lambda n: n,
        follows=certified_partition,
        remarks=_remarks,
        voice=_VOICE,
    ),
)  # fmt: skip
