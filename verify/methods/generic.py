"""Generic weights: small random integers, certified by rank (ours; docs/width-one.md)."""

from __future__ import annotations

from attncert.constructions import generic
from attncert.constructions.construction import Bound, BuiltLayer
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.given.law import spans
from attncert.verify.claims.proof import Voice
from attncert.verify.claims.words import counted
from attncert.verify.methods.construction import Construction
from attncert.verify.methods.known import OF_THEOREM_1
from attncert.verify.methods.layer_theorem import LayerTheorem
from attncert.verify.methods.request import Request
from attncert.verify.origins.sequences import by_class
from attncert.verify.steps.generic import STEPS, almost_all


def _build(data: Dataset, request: Request) -> BuiltLayer:
    return generic.build(
        data,
        heads=request.heads,
        head_width=request.head_width,
        seed=request.seed,
        progress=request.progress,
    )


def _remarks(data: Dataset, built: BuiltLayer) -> dict[str, str]:
    heads = [head for head in built.heads if isinstance(head, generic.GenericHead)]
    count = len(built.layer.heads)
    bound = min(count * data.d, spans(data).features(count))
    return {
        "largest entry drawn": f"{max(head.bound for head in heads):,}, in draw "
        f"{max(head.draws for head in heads):,} at the latest",
        "no weights of these heads serve more than": f"{counted(bound, 'example')} of such "
        "contexts (docs/tightness.md, section 2)",
    }


_VOICE = Voice(
    placed="examples promised for almost all weights under A1 and A2, $H(n-1)+1$",
    numbers="Keys and queries are small integers drawn at random, and the rank decides. A "
    "group is what a head adds: the examples that are independent with this head and were not "
    "before. No head steers anything: there is no selector, no $c$ and no saturation. With "
    "distinct contexts more examples than promised may be placed, or fewer heads suffice; "
    "nothing promises that, and the certificate is the evidence.",
    others="whose features the head may change",
    general="That almost all weights serve as well is argued, from one minor that is not zero "
    "(almost-all); nothing is said about how well conditioned they are.",
    without_a1="Neither A1 nor A2 is used: the rank of these weights is computed",
)
CONSTRUCTION = Construction(
    name="generic",
    title="generic weights",
    theorem="corollary 2 of docs/width-one.md: almost all weights (ours)",
    source="docs/width-one.md, corollaries 1 and 2",
    build=_build,
    subject=lambda data, request: by_class(data),  # weights are drawn for repeated tokens as well
    hypotheses=OF_THEOREM_1,
    steps=STEPS,
    options=("heads", "head_width", "value_width", "round", "before"),
    layer=LayerTheorem(
        bound=Bound(),
        follows=almost_all,
        remarks=_remarks,
        voice=_VOICE,
    ),
)
