"""The certificate of the claim "impossible": no weights output the labels.

The labels violate a relation between rows of Z that holds for all weights: Σ c_t z_t = 0 for every
choice of weights, but Σ c_t y_t ≠ 0 (rows.py). verify/checker tests both.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.numerals import numeral
from attncert.verify.certificates.certificate import Certificate, TooLarge, envelope, sealed
from attncert.verify.limits.tightness.relations.rows import broken_relation


def tied_certificate(data: Dataset, produced_by: Mapping[str, Any]) -> Certificate | None:
    """The certificate that no weights output the labels of tied examples; None if there are no such
    examples or the file would be too large."""
    broken = broken_relation(data)
    if broken is None:
        return None
    coefficients, relation = ["0"] * data.T, broken.relation
    for t, c in zip(relation.indices, relation.coefficients, strict=True):
        coefficients[t] = numeral(c)
    body = envelope("impossible", data, construction="tied examples", provenance=produced_by)
    try:
        return sealed(body | {"relation": coefficients})
    except TooLarge:
        return None
