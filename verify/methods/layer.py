"""A given layer as a construction: nothing is searched for, and no theorem is instanced."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from attncert.constructions.construction import Construction
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.from_layer import LayerHead, from_layer
from attncert.constructions.layer import Head, Layer
from attncert.verify.claims.evidence import Claim
from attncert.verify.claims.proof import Outline, Voice
from attncert.verify.features import Progressive
from attncert.verify.methods.method import Method
from attncert.verify.steps import shared

_SOURCE = "ours, constructions/from_layer.py"


def head_claims(
    data: Dataset, construction: Construction, *, with_ranks: bool = True
) -> Iterator[Claim]:
    """Integral logits, the logits on record, and the rank after each head."""

    def before(record: LayerHead, weights: Head, number: int) -> Iterator[shared.Check]:
        yield from ()

    def after(
        record: LayerHead, table: np.ndarray, seen: Progressive | None, number: int
    ) -> Iterator[shared.Check]:
        yield partial(shared.group_logits, record, table, number, _SOURCE)
        if seen is not None:
            yield partial(shared.finite_rank, data, record, table, seen, number, source=_SOURCE)

    return shared.head_by_head(data, construction, before, after, with_ranks=with_ranks)


def method_of(layer: Layer, data: Dataset) -> Method:
    """The method whose weights are those of `layer`."""
    return Method(
        name="given-layer",
        theorem="no theorem: the weights were given",
        source=_SOURCE,
        build=lambda data, settings, progress: from_layer(layer, data, "given-layer"),
        head_claims=head_claims,
        outline=Outline(first=("integral", "logits")),
        width=lambda n: layer.head_width,
        voice=Voice(
            title="given weights",
            theorem="no theorem: the keys and queries were given",
            source="",
            placed="examples that as many heads of Theorem 1 place, $H(n-1)+1$",
            numbers="Keys and queries were given, and the rank decides. A group is what a head "
            "adds: the examples that are independent with this head and were not before.",
            general="Nothing follows for other data, nor for other weights.",
            without_a1="Neither A1 nor A2 is used: the rank of these weights is computed",
        ),
    )
