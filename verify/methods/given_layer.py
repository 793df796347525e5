"""A given layer as a construction: nothing is searched for, and no theorem is instanced."""

from __future__ import annotations

from attncert.constructions.construction import Construction as Placed
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.from_layer import from_layer
from attncert.constructions.layer import Layer
from attncert.constructions.progress import Progress
from attncert.verify.claims import ids
from attncert.verify.claims.proof import Outline, Voice
from attncert.verify.methods.construction import Construction
from attncert.verify.methods.judged import Judged
from attncert.verify.methods.method import Method
from attncert.verify.methods.request import Request
from attncert.verify.steps import in_order

_SOURCE = "ours, constructions/from_layer.py"


def method_of(layer: Layer, data: Dataset) -> Method:
    """The method whose weights are those of `layer`."""
    return Method(
        name="given-layer",
        theorem="",
        source=_SOURCE,
        build=lambda data, request, progress: from_layer(layer, data, "given-layer"),
        steps=in_order.each_head(source=_SOURCE),
        outline=Outline(first=(ids.INTEGRAL, ids.LOGITS)),
        width=lambda n: layer.head_width,
        voice=Voice(
            title="given weights",
            numbers="Keys and queries were given, and the rank decides. A group is what a head "
            "adds: the examples that are independent with this head and were not before.",
            general="Nothing follows for other data, nor for other weights.",
        ),
    )


def of_construction(construction: Construction, known: Judged) -> Method:
    """The method whose weights a construction's builder made: steps and hypotheses are judged."""

    def build(data: Dataset, request: Request, progress: Progress) -> Placed:
        if known.placed is None:
            assert known.failure is not None
            raise known.failure
        return known.placed

    assert known.layer is not None
    width = known.layer.head_width
    return Method(
        name=construction.name,
        theorem=construction.theorem,
        source=construction.source,
        build=build,
        steps=lambda data, built, *, with_ranks: iter(()),
        outline=Outline(hypotheses=tuple(construction.hypotheses)),
        width=lambda n: width,
        voice=Voice(title=construction.title),
    )
