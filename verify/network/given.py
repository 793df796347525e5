"""A network from a file, on data: `attncert layer` for what is not one layer of attention."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.network.network import Network
from attncert.verify.certificate import produced_by
from attncert.verify.layer.error import (
    at_most,
    default_limit,
    judged_errors,
    measured,
    spread,
)
from attncert.verify.network import claims
from attncert.verify.network.method import Description, Part
from attncert.verify.network.prove import NetworkProof, concluded
from attncert.verify.network.within import balls, certified, exact_outputs, rounded_up
from attncert.verify.questions.layer import LayerQuestion

# Options that speak of one layer of attention.
_OF_LAYERS = ("prefix", "heads", "scale", "logit_unit", "property")
_CHANGES = {
    "query": "It changes the query.",
    "all": "It changes every token and the query.",
    "row": "It reads query and tokens in one row, and changes the query.",
}


@dataclass(frozen=True)
class Given:
    """A network that nothing here built."""

    network: Network


def _described(network: Network) -> Description:
    return Description(
        name="given-network",
        title="blocks from a file",
        theorem="",
        source="docs/networks.md",
        parts=tuple(Part(1, _CHANGES[block.of]) for block in network.blocks),
    )


def given_network(network: Network, data: Dataset, question: LayerQuestion) -> NetworkProof:
    """The errors of the network on the data, exactly where its outputs are rational, else in balls.
    The certificate is of equality, or of the largest error, rounded up. Raises InputError for
    options that speak of one layer, and where shapes do not fit."""
    _require_own_options(question)
    bound, method = question.tolerance, _described(network)
    limit = default_limit(data) if bound is None else at_most(Fraction(bound))
    exact, enclosed = exact_outputs(network, data), partial(balls, network, data)
    error, memorizes = judged_errors(data, limit, exact, enclosed)
    conclusion = measured(error, memorizes, spread(data))
    known, file = [error, claims.price(data, network)], dict[str, Any]()
    if conclusion.level.holds:
        high = error.numbers["error"][1]
        confirmed, file = certified(
            data,
            network,
            None if high == "0" else min(Fraction(rounded_up(high)), limit.bound),
            construction=method.name,
            produced_by=produced_by(question.line(), 0),
        )
        known += confirmed
    return concluded(question, data, method, [*known, conclusion], built=Given(network), **file)


def _require_own_options(question: LayerQuestion) -> None:
    for option in _OF_LAYERS:
        if (setting := getattr(question, option)) is not None:
            raise InputError(option, "left out for a network", setting)
    if question.mask != "none":
        raise InputError("mask", "left out for a network, whose blocks have their own", "given")
