"""`prove` for network constructions: data -> network -> claims -> trace -> certificate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.network.network import Network
from attncert.verify.certificates.certificate import produced_by
from attncert.verify.certificates.installed import versions
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.proof import Proof
from attncert.verify.claims.trace import ProofTrace
from attncert.verify.outputs import memorized as claims
from attncert.verify.outputs.error import at_most, default_limit
from attncert.verify.outputs.rounded import computed_claims
from attncert.verify.outputs.within import Bounds, certified, exact_outputs
from attncert.verify.provenance.conclusion import in_words_of
from attncert.verify.questions.layer import LayerQuestion
from attncert.verify.questions.prove import Prove
from attncert.verify.statements.construction import Construction
from attncert.verify.statements.goals import all_concluded, limited
from attncert.verify.statements.idle import idle
from attncert.verify.statements.judged import Judged
from attncert.verify.statements.states import Views

_OF_ONE_LAYER = ("heads", "scale", "logit_unit")
_CHANGES = {
    "query": "It changes the query.",
    "all": "It changes every token and the query.",
    "row": "It reads the query and the tokens as one row, and changes the query.",
}


def concluded(question: Prove, construction: Construction, known: Judged) -> Proof:
    """The proof about the outputs of the finished network, or the refusal if a hypothesis is false.
    Raises InputError for options that only layers have, and for data without labels.
    """
    data = known.data
    if known.views is None:
        assert known.failure is not None
        refused = claims.refusal(data, construction.heading, known.failure, known.claims)
        return _concluded(question, data, construction, refused)
    _require_no_option_of_layers(question, construction)
    _ = data.labels  # raises InputError if there are no labels
    outcome, exact, bounds = all_concluded(construction.claims, known.views)
    network, built = known.views.network, known.built
    said = [*known.claims, *idle(known.views), *outcome]
    return _concluded(question, data, construction, said, built, network, exact, bounds)


def given_network(
    network: Network, data: Dataset, question: LayerQuestion, reading: Claim | None = None
) -> Proof:
    """Judge a given network on data: `attncert layer` for networks other than a single layer.
    reading: the claim that the network was read correctly from another library's model.

    The errors on the data are exact if the outputs are rational, otherwise enclosed in balls. The
    certificate shows equality, the least margin, or the largest error. Raises InputError for
    options that only single layers have, and if shapes do not agree.
    """
    _require_network_options(question)
    bound = question.tolerance
    limit = default_limit(data) if bound is None else at_most(Fraction(bound))
    construction = Construction(
        name="given-network",
        title="blocks from a file",
        source="docs/networks.md",
        purposes=[(1, _CHANGES[block.of]) for block in network.blocks],
        build=lambda data, request: network,
    )
    if refused := unread(reading):
        return _concluded(question, data, construction, resting(refused, reading))
    known, exact, bounds = limited(network, data, limit, exact_outputs(network, data))
    from attncert.verify.newton.ranks import ranks  # imports SciPy

    known = [*idle(Views(data, network, network)), *ranks(data, network), *known]
    if question.computed_in:
        known[-1:-1] = computed_claims(network, data, limit, question.computed_in)
    known = [*resting(known, reading)]
    return _concluded(question, data, construction, known, network, network, exact, bounds)


def unread(reading: Claim | None) -> list[Claim]:
    """The claim that the labels were not judged, if the layer as read does not reproduce the
    recorded outputs; else no claim."""
    if reading is None or reading.level.holds:
        return []
    reason = {"reason": f"{reading.statement} So the labels were not judged."}
    statement = "The outputs are as the labels require."
    return [Claim(ids.LAYER_MEMORIZES, statement, Level.UNDECIDED, witness=reason)]


def resting(claims: Sequence[Claim], reading: Claim | None) -> tuple[Claim, ...]:
    """The claim `reading`, if any, followed by these claims, which rest on it if it holds."""
    if reading is None:
        return tuple(claims)
    on = (reading.id,) if reading.level.holds else ()
    return (reading, *(replace(claim, rests_on=(*claim.rests_on, *on)) for claim in claims))


def _concluded(
    question: Prove | LayerQuestion,
    data: Dataset,
    construction: Construction,
    known: Sequence[Claim],
    built: Any = None,
    network: Network | None = None,
    exact: bool = True,
    bounds: Bounds = MappingProxyType({}),
) -> Proof:
    """The proof with these claims, the last of which is the conclusion. If it holds, it is
    certified and then also rests on the checker's verdict. exact, bounds: passed to `certified`."""
    *known, conclusion = known
    file = dict[str, Any]()
    if network is not None:
        known.append(claims.price(data, network))
    if network is not None and conclusion.level.holds:
        provenance = produced_by(question.line(), getattr(question, "seed", 0))
        confirmed, file = certified(
            data, network, exact=exact, bounds=bounds,
            construction=construction.name, produced_by=provenance,
        )  # fmt: skip
        known += confirmed
        on = (*conclusion.rests_on, *(claim.id for claim in confirmed))
        conclusion = replace(conclusion, rests_on=on)
    return Proof(
        question=question,
        data=data,
        construction=construction,
        built=built,
        network=network,
        trace=ProofTrace(in_words_of(data, [*known, conclusion])),
        conclusion=conclusion.id,
        versions=versions(),
        **file,
    )


def _require_no_option_of_layers(question: Prove, construction: Construction) -> None:
    """Raises InputError for options that concern the rank of a layer."""
    for option in ("value_width", "data_file"):
        if setting := getattr(question, option):
            raise InputError(option, f"left out for the construction {construction.name}", setting)
    if question.claim == "full-rank":
        must = f"interpolation with construction {construction.name}"
        raise InputError("claim", must, question.claim)


def _require_network_options(question: LayerQuestion) -> None:
    for option in _OF_ONE_LAYER:
        if (setting := getattr(question, option)) is not None:
            raise InputError(option, "left out for a network", setting)
