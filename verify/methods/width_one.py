"""Heads of width one (ours; docs/width-one.md)."""

from __future__ import annotations

from attncert.constructions import width_one
from attncert.constructions.construction import Bound, BuiltLayer
from attncert.constructions.data.dataset import Dataset
from attncert.verify.claims.proof import Voice
from attncert.verify.methods import paper
from attncert.verify.methods.construction import Construction
from attncert.verify.methods.known import OF_THEOREM_1, PARTITION
from attncert.verify.methods.layer_theorem import LayerTheorem
from attncert.verify.methods.request import Request
from attncert.verify.origins.sequences import by_class
from attncert.verify.steps.width_one import STEPS


def _build(data: Dataset, request: Request) -> BuiltLayer:
    return width_one.build(
        data,
        heads=request.heads,
        short_heads=request.value_width >= data.m,  # a short head may place more than d_v examples
        saturation=request.saturation,
        seed=request.seed,
        progress=request.progress,
    )


def _remarks(data: Dataset, built: BuiltLayer) -> dict[str, str]:
    short = sum(isinstance(head, width_one.WidthOneHead) and head.short for head in built.heads)
    return {
        "short heads": f"{short} of {len(built.heads)}: shortest vectors, certified by rank alone; "
        "no step of the width-one proof is claimed for them"
    }


_VOICE = Voice(
    placed="examples that these heads place, $H(n-1)+1$",
    numbers="A head of the proof is $M_h=u(c\\,v_0+v_1)^\\top$ over its group, the examples "
    "that it places; their own logits $\\alpha_tE^{(t)}u$ are free of $c$. $c$ is the least "
    "whole number at which the rank of all heads so far is certified, and that can be before "
    "anything saturates: $B$ is the least lead, at this $c$, of the row that an earlier "
    "example attends to in the limit, in bits, and it is negative where that row does not "
    "lead yet. A short head is no head of the proof: its key and query are the shortest there "
    "are, it has neither selector nor $c$, and the rank is all that is claimed of it.",
    others="which a head of the proof moves towards one row each as far as the rank needs it, "
    "and a short head leaves alone",
    general="The theorem on width one in general: the trace is one instance of its proof "
    "(docs/width-one.md), not a check of it for all data; of short heads it shows the rank "
    "alone.",
    without_a1=paper.WITHOUT_A1,
)
CONSTRUCTION = Construction(
    name="width-one",
    title="heads of width one",
    theorem="the theorem on heads of width one (ours)",
    source="docs/width-one.md",
    build=_build,
    subject=lambda data, request: by_class(data.expanded()),
    hypotheses={**OF_THEOREM_1, "partition": PARTITION},
    steps=STEPS,
    options=("heads", "value_width", "saturate", "round", "before"),
    layer=LayerTheorem(
        bound=Bound(),
        follows=paper.certified_partition,
        remarks=_remarks,
        voice=_VOICE,
    ),
)
