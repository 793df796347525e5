"""`attncert layer` as a function: the behaviour of third-party weights on a data set.

The conclusion is about the errors, which are compared with the labels' spread. Errors up to the
tolerance, by default `error.default_limit`, are small enough. If the names of the arrays do not
determine what the layer computes, the conclusion rests on an assumption. If the layer as read does
not reproduce recorded outputs, there is no conclusion about labels.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from attncert.constructions.arrays import BoolArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.network.network import Network
from attncert.constructions.progress import StageProgress, silent
from attncert.constructions.weights.load import load_weights
from attncert.constructions.weights.recording import Recording
from attncert.constructions.weights.stored import StoredLayer
from attncert.verify.certificates.certificate import produced_by
from attncert.verify.checking.answers import answers
from attncert.verify.claims import ids
from attncert.verify.claims.answer import Answer
from attncert.verify.claims.evidence import Claim
from attncert.verify.claims.proof import Proof
from attncert.verify.claims.trace import ProofTrace
from attncert.verify.features.attention import Attention
from attncert.verify.outputs.error import Limit, at_most, default_limit
from attncert.verify.outputs.rounded import computed_claims
from attncert.verify.outputs.within import certified, exact_outputs
from attncert.verify.prove.networks import given_network, resting, unread
from attncert.verify.questions.layer import LayerQuestion
from attncert.verify.statements.goals import Concluded, limited
from attncert.verify.third_party.layer.layer_audit import LayerAudit, audit_layer
from attncert.verify.third_party.layer.mask import Recorded, causal_mask, read_mask, visible_rows
from attncert.verify.third_party.layer.reading import read_claim, read_network

_NO_OUTPUTS = "a certificate is about outputs and labels"


@dataclass(frozen=True, kw_only=True, repr=False)
class LayerAnswer(Answer):
    """data: its contexts are the rows that each query sees. attention: the weights on the data,
    with their conventions. masked: whether the question or the caller gives a mask. limit: the
    requirement for the outputs. audit: rank, saturation and heads. `limit` and `audit` are None if
    the layer does not reproduce recorded outputs."""

    question: LayerQuestion
    data: Dataset
    weights: StoredLayer
    attention: Attention
    masked: bool
    limit: Limit | None = None
    audit: LayerAudit | None = None

    @property
    def reading(self) -> Claim | None:
        """The claim about how the layer was read; None for this project's format, which states what
        is computed."""
        return next((claim for claim in self.trace if claim.id == ids.LAYER_READ), None)


@answers(
    LayerQuestion,
    weights=(StoredLayer, Network, str, os.PathLike),
    data=(Dataset, Recording),
    mask=np.ndarray,
)
def layer(
    weights: StoredLayer | Network | str | os.PathLike[str],
    data: Dataset | Recording,
    question: LayerQuestion | None = None,
    progress: StageProgress = silent,
    *,
    mask: BoolArray | None = None,
) -> LayerAnswer | Proof:
    """The errors, rank, saturation and heads of a third-party attention layer on data, or the
    errors of a network with other blocks.

    weights: a file, or `attncert.Weights`. data: a recording also contains the outputs that the
    weights must reproduce. mask: (T, n), True for the rows seen; if None, that of `question`.
    Returns a LayerAnswer, or a Proof for a network. Arithmetic: exact if all logits are integer
    multiples of ln 2, otherwise balls. Source: ours, docs/models-and-layers.md. Raises InputError.

    >>> from attncert import LayerQuestion, Weights, layer, load
    >>> weights = Weights.load("examples/trained/after.npz", heads=3)
    >>> layer(weights, load("examples/trained/data.npz"), LayerQuestion(tolerance="0.1")).holds
    True
    """
    question = question or LayerQuestion()
    stored = _stored(weights, question)
    no_mask = "left out for a network, whose blocks have their own masks"
    if isinstance(stored, Network) and (mask is not None or question.mask == "causal"):
        raise InputError("mask", no_mask, "given")
    examples, recorded, masked = _examples(data, question, mask)
    if isinstance(stored, Network):
        if masked and recorded is None:
            raise InputError("mask", no_mask, "given")
        reading = read_network(stored, examples, recorded)
        return given_network(stored, examples, question, reading)
    attention = Attention.of(stored, examples, question.logit_unit, question.scale)
    reading = read_claim(stored, attention, recorded, masked)
    audit, limit, claims = None, None, unread(reading)
    file = dict[str, Any](uncertified=_NO_OUTPUTS)
    if not claims:
        bound = question.tolerance
        limit = default_limit(examples) if bound is None else at_most(Fraction(bound))
        network = Network(tuple(stored.with_biases(attention.block)))
        audit = audit_layer(attention, progress)
        progress("layer: errors", 0, 1)
        exact = exact_outputs(network, examples) if attention.short else None
        outcome = limited(network, examples, limit, exact)
        error, memorizes = outcome.claims
        claims = [error, audit.rank, memorizes]
        if question.computed_in:
            claims[-1:-1] = computed_claims(network, examples, limit, question.computed_in)
        if memorizes.level.holds:
            confirmed, file = _certified(attention, network, examples, outcome, question.line())
            on = tuple(claim.id for claim in confirmed)
            claims[-1:] = [*confirmed, replace(memorizes, rests_on=on)]
    return LayerAnswer(
        question=question,
        data=examples,
        trace=ProofTrace(resting(claims, reading)),
        conclusion=claims[-1].id,
        **file,
        weights=stored,
        attention=attention,
        masked=masked,
        limit=limit,
        audit=audit,
    )


def _stored(
    weights: StoredLayer | Network | str | os.PathLike[str], question: LayerQuestion
) -> StoredLayer | Network:
    if not isinstance(weights, StoredLayer | Network):
        return load_weights(weights, question.format, question.prefix, question.heads)
    for name in ("prefix", "heads"):
        if getattr(question, name) is not None:
            raise InputError(name, "given with a file of weights", "with weights in memory")
    return weights


def _examples(
    data: Dataset | Recording, question: LayerQuestion, mask: BoolArray | None
) -> tuple[Dataset, Recorded | None, bool]:
    """The question's examples, each with the rows that its query sees, their recorded outputs, and
    whether there is a mask. A mask covers all examples of the data."""
    recorded = None
    if isinstance(data, Recording):
        recorded, data = Recorded(data.outputs, data.unit), data.data
    examples = question.of(data).expanded()
    if mask is None and question.mask == "causal":
        mask = causal_mask(data.expanded())
    elif mask is None and question.mask != "none":
        mask, recorded = read_mask(question.mask, data.expanded())
    if recorded is not None:
        recorded = replace(recorded, outputs=recorded.outputs[: examples.T])
    if mask is None:
        return examples, recorded, False
    return visible_rows(examples, mask[: examples.T, : examples.n]), recorded, True


def _certified(
    attention: Attention, network: Network, data: Dataset, outcome: Concluded, command: str
) -> tuple[list[Claim], dict[str, Any]]:
    """Like `certified`, but uncertified if exact weights are too long for the checker."""
    if attention.exponents is not None and not attention.short:
        return [], {"uncertified": "the checker would take too long for it"}
    return certified(
        data,
        network,
        exact=outcome.exact,
        bounds=outcome.bounds,
        construction="given-layer",
        produced_by=produced_by(command, 0),
    )
