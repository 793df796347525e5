"""Writing the certificate: the `attncert/1` object of a layer on a data set (docs/certificate.md).

Only the writing is here. The checker (verify/checker.py) reads the file with code of its own.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from flint import fmpq_mat, fmpz

from constructions.dataset import Dataset
from constructions.layer import Layer
from verify.rank.rational import Relation


def certificate(
    data: Dataset,
    layer: Layer,
    groups: Sequence[Sequence[int]],
    *,
    construction: str,
    produced_by: Mapping[str, Any],
    value_width: int,
    prime: int | None = None,
) -> dict[str, Any]:
    """The certificate of an interpolation, or with `prime` of full rank modulo that prime."""
    interpolation = prime is None
    heads = []
    for head in layer.heads:
        entry = {"key": strings(head.key), "query": strings(head.query)}
        if interpolation:
            entry["value"] = strings(head.value)
        heads.append(entry)
    body: dict[str, Any] = {
        "format": "attncert/1",
        "claim": "interpolation" if interpolation else "full-rank",
        "construction": construction,
        "dims": {
            "examples": data.T,
            "context": data.n,
            "width": data.d,
            "labels": data.m,
            "heads": len(layer.heads),
            "head_width": layer.head_width,
            "value_width": value_width,
        },
        "data": data.canonical(),
        "layer": {"logit_unit": "ln 2", "heads": heads},
        "groups": [list(group) for group in groups],
        "produced_by": dict(produced_by),
        "input_sha256": data.sha256,
    }
    if interpolation:
        body["layer"]["output"] = strings(layer.output)
    else:
        body["rank"] = {"prime": str(prime), "value": data.T}
    return sealed(body)


def impossible_certificate(
    data: Dataset, relation: Relation, *, construction: str, produced_by: Mapping[str, Any]
) -> dict[str, Any]:
    """The claim that no weights give these labels: they break a relation that all weights obey.

    relation: between rows of Z, of a kind that `verify/checker.py` finds inescapable.
    """
    coefficients = ["0"] * data.T
    for t, c in zip(relation.indices, relation.coefficients, strict=True):
        coefficients[t] = fmpz(c).str()
    body = {
        "format": "attncert/1",
        "claim": "impossible",
        "construction": construction,
        "dims": {"examples": data.T, "context": data.n, "width": data.d, "labels": data.m},
        "data": data.canonical(),
        "relation": coefficients,
        "produced_by": dict(produced_by),
        "input_sha256": data.sha256,
    }
    return sealed(body)


def sealed(body: Mapping[str, Any]) -> dict[str, Any]:
    """With the digest of everything else."""
    return {**body, "digest": hashlib.sha256(canonical_bytes(body)).hexdigest()}


def canonical_bytes(body: Mapping[str, Any]) -> bytes:
    """Keys sorted, no insignificant white space, ASCII: equal contents give equal bytes."""
    return json.dumps(body, sort_keys=True, separators=(",", ":")).encode("ascii")


def strings(matrix: fmpq_mat | None) -> list[list[str]]:
    """Rows of "p" or "p/q" in lowest terms."""
    if matrix is None:
        raise ValueError("the layer has no readout")
    return [[str(x) for x in row] for row in matrix.tolist()]
