"""Writing the certificate of the claim "every-labelling", which verify/checker reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.given.zeros import Zero
from attncert.constructions.numerals import numeral
from attncert.verify.certificate import in_format, layer_body, sealed

CLAIM = "every-labelling"
CONSTRUCTION = "groups"  # sets of heads that share key and query


def labelling_certificate(
    data: Dataset, zero: Zero, prime: int, produced_by: Mapping[str, Any]
) -> dict[str, Any]:
    """The file. prime: modulo which the Jacobian has rank T·m. Raises TooLarge."""
    body = layer_body(
        CLAIM, data, zero.layer, unit="ln 2", construction=CONSTRUCTION, provenance=produced_by
    )
    groups = [list(group) for group in zero.groups]
    rank = {"prime": numeral(prime), "value": data.T * data.m}
    return sealed(in_format(body | {"groups": groups, "rank": rank}, data))
