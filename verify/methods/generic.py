"""Generic weights: small random integers, certified by rank (ours; docs/width-one.md)."""

from __future__ import annotations

from attncert.constructions import generic
from attncert.constructions.construction import Bound, Construction
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.given.law import spans
from attncert.constructions.progress import Progress
from attncert.verify.claims import ids
from attncert.verify.claims.proof import Outline, Voice
from attncert.verify.claims.words import counted
from attncert.verify.methods.method import Method
from attncert.verify.methods.request import Request
from attncert.verify.steps.generic import almost_all, head_claims


def _build(data: Dataset, request: Request, progress: Progress) -> Construction:
    return generic.build(
        data,
        heads=request.heads,
        head_width=request.head_width,
        seed=request.seed,
        progress=progress,
    )


def _remarks(data: Dataset, built: Construction) -> dict[str, str]:
    heads = [head for head in built.heads if isinstance(head, generic.GenericHead)]
    count = len(built.layer.heads)
    bound = min(count * data.d, spans(data).features(count))
    return {
        "largest entry drawn": f"{max(head.bound for head in heads):,}, in draw "
        f"{max(head.draws for head in heads):,} at the latest",
        "no weights of these heads serve more than": f"{counted(bound, 'example')} of such "
        "contexts (docs/tightness.md, section 2)",
    }


METHOD = Method(
    name="generic",
    theorem="corollary 2 (almost all weights)",
    source="ours, docs/width-one.md, corollaries 1 and 2",
    build=_build,
    steps=head_claims,
    outline=Outline(
        first=(ids.SMALL, ids.INTEGRAL, ids.LOGITS),
        hypotheses=("A1", "A2", "context-size", "value-width", "capacity"),
    ),
    bound=Bound(),
    follows=almost_all,
    remarks=_remarks,
    voice=Voice(
        title="generic weights",
        theorem="corollary 2 of docs/width-one.md: almost all weights (ours)",
        source="docs/width-one.md, corollary 2; the rank itself needs no theorem",
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
    ),
)
