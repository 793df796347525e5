"""What is checked of every network that memorizes: hypothesis, outputs, price."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from flint import fmpq_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import HypothesisFails
from attncert.constructions.network.arithmetic import Inexact
from attncert.constructions.network.inputs import conflict
from attncert.constructions.network.network import Network
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import OVER_Q, About, Claim, Level
from attncert.verify.claims.words import counted
from attncert.verify.interpolation.enclosure import enclosed_error
from attncert.verify.network.within import balls

_MOST_BITS = 1024  # of balls that are to equal labels


def distinct_inputs(data: Dataset) -> Claim:
    """Equal examples have equal labels, else no function has them. By comparison of all."""
    examples = [
        repr((query, 0 if data.shared else data.rows(t).strings()))
        for t, query in enumerate(data.queries.strings())
    ]
    pair = conflict(examples, data.label_matrix)
    return Claim.checked(
        ids.LABELS_FUNCTION,
        "No two examples have equal queries and contexts, and different labels.",
        pair is None,
        lambda: {"examples": list(pair or ())},
        numbers={"examples": data.T},
        arithmetic="comparison of fractions",
    )


def memorizes(data: Dataset, outputs: fmpq_mat) -> Claim:
    """The conclusion: they equal the labels."""
    pairs = zip(outputs.tolist(), data.label_matrix.tolist(), strict=True)
    wrong = [t for t, (x, y) in enumerate(pairs) if x != y]
    return Claim.checked(
        ids.MEMORIZATION,
        _outputs_are_labels(data),
        not wrong,
        {"examples": wrong[:12]},
        arithmetic=OVER_Q,
        source="ours: the equality is computed, whatever the construction promises",
    )


def memorizes_in_balls(data: Dataset, network: Network, irrational: Inexact) -> Claim:
    """The same where a softmax is not rational. Behind a threshold, or a ReLU that is 0, balls are
    exact points, which can equal the labels; a ball that excludes a label refutes."""
    error = enclosed_error(
        data, lambda: balls(network, data), tolerance=Fraction(0), max_bits=_MOST_BITS
    )
    undecided = error.level is Level.UNDECIDED
    return Claim(
        ids.MEMORIZATION,
        _outputs_are_labels(data),
        error.level,
        witness={"reason": str(irrational)} if undecided else error.witness,
        arithmetic=error.arithmetic,
        source=error.source,
    )


def unknown(data: Dataset, reason: str) -> Claim:
    """The same of a network that cannot be evaluated on these data."""
    witness = {"reason": reason}
    return Claim(ids.MEMORIZATION, _outputs_are_labels(data), Level.UNDECIDED, witness=witness)


def _outputs_are_labels(data: Dataset) -> str:
    every = counted(data.T, "example", "these")
    return f"The network outputs exactly the label, for each of {every}."


def costs(network: Network) -> dict[str, int]:
    """Of any network, a layer of attention too."""
    return {
        "parameters": network.parameters,
        "hidden units": network.units,
        "blocks": network.depth,
        "bits of the longest": network.longest,
        "bits in all": network.bits,
    }


def information(data: Dataset) -> float:
    """T log2 V bits for V different labels: what almost all of the V^T labellings need."""
    different = len({tuple(row) for row in data.labels.strings()})
    return round(data.T * math.log2(different), 1)


def price(data: Dataset, network: Network) -> Claim:
    """What the network costs, and what the labels hold."""
    return Claim(
        ids.PARAMETERS,
        f"The network has {counted(network.parameters, 'parameter')}: the nonzero entries of its "
        "weights and biases.",
        Level.PROVED,
        numbers={**costs(network), "bits that the labels hold": information(data)},
        arithmetic="counted",
        source="docs/networks.md, price",
    )


def refusal(
    data: Dataset, title: str, failure: HypothesisFails, known: Sequence[Claim]
) -> list[Claim]:
    """What is known if nothing was built: refuted if no function has these labels. known: the
    claims of the hypotheses."""
    distinct = distinct_inputs(data)
    reason = {"reason": failure.reason, **failure.witness}
    if not distinct.level.holds:
        words = "No function of query and context has these labels, so no network has them."
        level, premises, about = Level.REFUTED, [distinct.id], About.THESE_LABELS
    else:
        words = f"The construction ({title}) does not apply to these data."
        level = Level.NOT_APPLICABLE if failure.decided else Level.UNDECIDED
        premises, about = [], None
    on = tuple(premises)
    conclusion = Claim(ids.MEMORIZATION, words, level, witness=reason, rests_on=on, about=about)
    return [*known, distinct, conclusion]
