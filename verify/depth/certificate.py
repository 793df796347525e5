"""The certificate "network-rank": a network, a chain of primes, and which rows are independent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.network.file import as_json
from attncert.constructions.network.network import Network
from attncert.constructions.numerals import numeral
from attncert.verify.certificates.certificate import Certificate, TooLarge, envelope, sealed
from attncert.verify.depth.ranks import DeepRank

CLAIM = "network-rank"


def rank_certificate(
    data: Dataset,
    network: Network,
    rank: DeepRank,
    of: str,
    *,
    construction: str,
    produced_by: Mapping[str, Any],
) -> Certificate:
    """A certificate of full rank. of: "jacobian", "jacobian at zero" or "features". Raises
    TooLarge."""
    body = network_body(CLAIM, data, network, construction, produced_by)
    chain = {
        "of": of,
        "primes": [numeral(p) for p in rank.primes],
        "slope": numeral(rank.slope),
        "value": rank.rank,
    }
    return sealed(body | {"rank": chain})


def network_body(
    claim: str, data: Dataset, network: Network, construction: str, provenance: Mapping[str, Any]
) -> dict[str, Any]:
    """The content of a certificate about derivatives of a network. If earlier blocks computed the
    data, the file contains their results and not these blocks, because the checkers differentiate
    with respect to all weights in the file. Raises TooLarge."""
    if data.origin.keys is not None:
        raise TooLarge("no checker accepts a claim about derivatives on data with such an origin")
    stored = data if data.origin.blocks else data.origin.stored(data)
    body = envelope(claim, stored, construction=construction, provenance=provenance)
    return body | {"network": as_json(network)}
