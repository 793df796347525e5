"""Claims about networks that memorize: hypothesis, costs, and why no network was built."""

from __future__ import annotations

import math
from collections.abc import Sequence

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import HypothesisFails
from attncert.constructions.network.inputs import conflict
from attncert.constructions.network.network import Network
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import About, Claim, Level
from attncert.verify.claims.words import counted


def distinct_inputs(data: Dataset) -> Claim:
    """Equal examples have equal labels; otherwise the labels are not a function of the inputs."""
    examples = [
        repr((query, 0 if data.shared else data.rows(t).strings()))
        for t, query in enumerate(data.queries.strings())
    ]
    pair = conflict(examples, data.label_matrix)
    return Claim.checked(
        ids.LABELS_FUNCTION,
        "No two examples have equal queries and contexts and different labels.",
        pair is None,
        lambda: {"examples": list(pair or ())},
        numbers={"examples": data.T},
        arithmetic="comparison of fractions",
    )


def costs(network: Network) -> dict[str, int]:
    """The costs of a network, which may be a layer of attention."""
    return {
        "parameters": network.parameters,
        "hidden units": network.units,
        "blocks": network.depth,
        "bits of the longest": network.longest,
        "bits in all": network.bits,
    }


def information(data: Dataset) -> float:
    """T log2 V for V different labels: the number of bits that almost all V^T labellings need."""
    different = len({tuple(row) for row in data.labels.strings()})
    return round(data.T * math.log2(different), 1)


def price(data: Dataset, network: Network) -> Claim:
    """The claim about the costs of the network and the information in the labels."""
    return Claim(
        ids.PARAMETERS,
        f"The network has {counted(network.parameters, 'parameter')}: the nonzero entries of its "
        "weights and biases.",
        Level.PROVED,
        numbers={
            "numbers stored": network.stored,
            **costs(network),
            "bits that the labels hold": information(data),
        },
        arithmetic="counted",
        source="docs/networks.md, price",
    )


def refusal(
    data: Dataset, title: str, failure: HypothesisFails, known: Sequence[Claim]
) -> list[Claim]:
    """The claims if nothing was built. The last is refuted if equal inputs have unequal labels."""
    distinct = distinct_inputs(data)
    reason = {"reason": failure.reason, **failure.witness}
    if not distinct.level.holds:
        words = "The labels are not a function of query and context, so no network outputs them."
        level, premises, about = Level.REFUTED, [distinct.id], About.THESE_LABELS
    else:
        words = f"The construction ({title}) does not apply to these data."
        level = Level.NOT_APPLICABLE if failure.decided else Level.UNDECIDED
        premises, about = [], None
    on = tuple(premises)
    conclusion = Claim(ids.MEMORIZATION, words, level, witness=reason, rests_on=on, about=about)
    return [*known, distinct, conclusion]
