"""Heads of width one (ours; docs/width-one.md)."""

from __future__ import annotations

from attncert.constructions import width_one
from attncert.constructions.construction import Bound, Construction
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Layer
from attncert.constructions.progress import Progress
from attncert.verify.claims import ids
from attncert.verify.claims.proof import Outline, Voice
from attncert.verify.methods import paper
from attncert.verify.methods.method import Method, Target
from attncert.verify.methods.request import Request
from attncert.verify.steps.width_one import head_claims


def _build(data: Dataset, request: Request, progress: Progress) -> Construction:
    return width_one.build(
        data,
        heads=request.heads,
        short_heads=request.value_width >= data.m,  # a short head may place more than d_v examples
        saturation=request.saturation,
        seed=request.seed,
        progress=progress,
    )


def _attacked(data: Dataset, heads: int, head_width: int, saturated: bool) -> Layer:
    return width_one.build(data, heads=heads, short_heads=not saturated).layer


def _remarks(data: Dataset, built: Construction) -> dict[str, str]:
    short = sum(isinstance(head, width_one.WidthOneHead) and head.short for head in built.heads)
    return {
        "short heads": f"{short} of {len(built.heads)}: shortest vectors, certified by rank alone; "
        "no step of the width-one proof is claimed for them"
    }


METHOD = Method(
    name="width-one",
    certificate="rank-one",
    theorem="the theorem on width one",
    source="ours, docs/width-one.md",
    build=_build,
    steps=head_claims,
    outline=Outline(
        first=(ids.COEFFICIENTS, ids.WEIGHTS, ids.INTEGRAL),
        later=(ids.SELECTOR, ids.SEPARATOR, ids.SATURATION),
        hypotheses=("A1", "A2", "context-size", "value-width", "capacity"),
        partition=True,
        short_heads=True,
    ),
    bound=Bound(),
    only_width=1,
    saturates="earlier",
    uses_a1_a2=True,
    follows=paper.certified_partition,
    remarks=_remarks,
    strength=(ids.COEFFICIENTS, ids.CURVE),
    attack=Target(_attacked),
    voice=Voice(
        title="heads of width one",
        theorem="the theorem on heads of width one (ours)",
        source="docs/width-one.md, proved there in full",
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
        without_a1=paper.METHOD.voice.without_a1,
    ),
)
