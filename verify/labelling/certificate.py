"""Writing the certificate of the claim "every-labelling" (verify/checker_labelling.py reads it)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.given.zeros import Zero
from attncert.constructions.numerals import numeral
from attncert.verify.certificate import sealed, strings

CLAIM = "every-labelling"

__all__ = ["CLAIM", "labelling_certificate"]


def labelling_certificate(
    data: Dataset, zero: Zero, prime: int, *, construction: str, produced_by: Mapping[str, Any]
) -> dict[str, Any]:
    """The file. prime: modulo which the Jacobian has rank T·m. Raises TooLarge."""
    layer = zero.layer
    return sealed(
        {
            "format": "attncert/1",
            "claim": CLAIM,
            "construction": construction,
            "dims": {
                "examples": data.T,
                "context": data.n,
                "width": data.d,
                "labels": data.m,
                "heads": zero.heads,
                "head_width": layer.head_width,
                "value_width": layer.value_width,
            },
            "data": data.canonical(),
            "layer": {
                "logit_unit": "ln 2",
                "heads": [
                    {part: strings(getattr(head, part)) for part in ("key", "query", "value")}
                    for head in layer.heads
                ],
                "output": strings(layer.output),
            },
            "groups": [list(group) for group in zero.groups],
            "rank": {"prime": numeral(prime), "value": data.T * data.m},
            "produced_by": dict(produced_by),
            "input_sha256": data.sha256,
        }
    )
