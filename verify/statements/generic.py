"""Generic weights: small random integers, certified by rank (ours; docs/width-one.md).

There is no proof to check, and neither A1 nor A2 is used. For each head, the steps check that its
weights are the recorded small integers, that its logits are integral, and that the rank is full.

*Almost all weights* (docs/width-one.md, corollary 2, without its hypotheses). With these weights
some T×T minor of Z is not zero. This minor is a real analytic function of all real weights of the
same shape, so its zeros form a closed set of measure zero, and all other weights memorize these
examples too. The claim is *argued*, and rests on the rank.
"""

from __future__ import annotations

from dataclasses import replace

from flint import fmpq

from attncert.constructions import generic
from attncert.constructions.construction import BuiltLayer
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.generic import GenericHead
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.words import counted
from attncert.verify.provenance.sequences import by_class
from attncert.verify.statements.construction import Construction, LayerTheorem, calling
from attncert.verify.statements.known import OF_THEOREM_1
from attncert.verify.statements.states import View
from attncert.verify.statements.steps import shared
from attncert.verify.statements.steps.heads import Relations, placing, weights_of

_SOURCE = "ours, docs/width-one.md, corollary 2"


def _small(at: View, head: GenericHead, number: int) -> Relations:
    """Keys and queries are integers of size at most `bound`, times the denominators of the data."""
    weights = weights_of(at, number)
    units = fmpq(at.data.contexts.denominator), fmpq(at.data.queries.denominator)
    for matrix, recorded, unit in zip(
        (weights.key, weights.query), (head.key, head.query), units, strict=True
    ):
        yield matrix, "==", recorded
        drawn = (matrix / unit).entries()
        yield [x.q for x in drawn], "==", 1
        yield [abs(x) for x in drawn], "<=", head.bound
    yield {"bound": head.bound, "draws": head.draws, "head width": weights.width}


STEPS = {
    "small": placing(
        "The layer's $W_K$ and $W_Q$ (up to $\\ln 2$) are the integers that were drawn, no larger "
        "than the bound, times the common denominators of contexts and queries.",
        _small,
    ),
    "integral": replace(shared.INTEGRAL, source=""),
    "logits": shared.LOGITS,
    "rank": replace(shared.RANK, source=""),
    "groups": replace(shared.GROUPS, source=""),
}


def almost_all(data: Dataset, construction: BuiltLayer) -> list[Claim]:
    """What the rank at these weights implies for all weights of this shape."""
    heads, width = len(construction.layer.heads), construction.layer.head_width
    return [
        Claim(
            ids.ALMOST_ALL,
            f"Almost all real weights of {counted(heads, 'head')} of width {width} serve every "
            "labelling of these examples: those with $\\operatorname{rank}Z<T$ are a closed "
            "set of measure zero, because a minor of $Z$ is real-analytic in the weights and is "
            "not zero at these weights. The distance of given weights from that set is not known.",
            Level.ARGUED,
            numbers={"heads": heads, "head width": width, "T": data.T},
            rests_on=(ids.RANK,),
            source=_SOURCE,
        )
    ]


_HEADS = (
    "Keys and queries are small integers drawn at random, and the rank shows whether they suffice. "
    "The group of a head consists of the examples that are independent with this head and were not "
    "before. There is no selector, no $c$ and no saturation. With distinct contexts more examples "
    "than promised may be placed, or fewer heads may suffice. No theorem promises this; the "
    "certificate proves it."
)
CONSTRUCTION = Construction(
    name="generic",
    title="generic weights",
    theorem="corollary 2 of docs/width-one.md: almost all weights (ours)",
    source="docs/width-one.md, corollaries 1 and 2",
    build=calling(generic.build, "heads", "head_width", "seed", "progress"),
    subject=lambda data, request: by_class(data),  # weights are drawn even if tokens are repeated
    hypotheses=OF_THEOREM_1,
    steps=STEPS,
    options=("heads", "head_width", "value_width", "round", "before"),
    layer=LayerTheorem(
        r="n",
        follows=almost_all,
        heads=_HEADS,
    ),
)
