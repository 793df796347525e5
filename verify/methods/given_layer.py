"""A given layer as a construction: nothing is searched for, and no theorem is instanced."""

from __future__ import annotations

from dataclasses import replace

from attncert.constructions.from_layer import from_layer
from attncert.constructions.layer import Layer
from attncert.verify.claims.proof import Voice
from attncert.verify.methods.construction import Construction
from attncert.verify.methods.layer_theorem import LayerTheorem
from attncert.verify.origins.sequences import by_class
from attncert.verify.steps import shared


def construction_of(layer: Layer) -> Construction:
    """The construction whose weights are those of `layer`."""
    return Construction(
        name="given-layer",
        title="given weights",
        source="constructions/from_layer.py",
        build=lambda data, request: from_layer(layer, data, "given-layer"),
        subject=lambda data, request: by_class(data.expanded()),
        steps={
            "integral": replace(shared.INTEGRAL, source=""),
            "logits": shared.LOGITS,
            "rank": replace(shared.RANK, source=""),
            "groups": replace(shared.GROUPS, source=""),
        },
        options=("heads", "head_width", "value_width"),
        layer=LayerTheorem(
            width=lambda n: layer.head_width,
            voice=Voice(
                numbers="Keys and queries were given, and the rank decides. A group is what a head "
                "adds: the examples that are independent with this head and were not before.",
                general="Nothing follows for other data, nor for other weights.",
            ),
        ),
    )
