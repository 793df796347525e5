"""Certificates of networks: the claims "network" and "outputs-within" of `attncert/3`."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.network.file import as_json
from attncert.constructions.network.network import Network
from attncert.constructions.numerals import numeral
from attncert.verify.certificate import Certificate, sealed


def certificate(
    data: Dataset,
    network: Network,
    *,
    construction: str,
    produced_by: Mapping[str, Any],
    within: Fraction | None = None,
) -> Certificate:
    """The outputs equal the labels; with `within`, no output differs from its label by more.

    data: as the network sees them; where blocks made them of others, the file holds these and all
    blocks. Raises TooLarge.
    """
    stored = data.origin.stored(data)
    return sealed(
        {
            "format": "attncert/3",
            "claim": "network" if within is None else "outputs-within",
            "construction": construction,
            "dims": {"examples": data.T, "context": data.n, "width": stored.d, "labels": data.m},
            "data": stored.canonical(),
            "network": data.origin.blocks + as_json(network),
            **({} if within is None else {"within": numeral(within)}),
            "tokens": list(data.counts) if data.counts else None,
            "origin": data.origin.keys,
            "saturation": None,
            "data_file": None,
            "produced_by": dict(produced_by),
            "input_sha256": stored.sha256,
        }
    )
