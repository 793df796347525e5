"""Writing certificates: the `attncert/1` object of a claim (docs/certificate.md).

Only the writing is here. The checker (verify/checker.py) reads the file with code of its own.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from flint import fmpq_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Layer
from attncert.constructions.numerals import numeral
from attncert.verify.kruskal.dependency import Dependency
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.rank.rational import Relation

_MOST_NUMBERS, _MOST_BYTES = 2**21, 2**24  # of vectors that a dependent set is shown among


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
        body["rank"] = {"prime": numeral(prime), "value": data.T}
    return sealed(body)


def impossible_certificate(
    data: Dataset, relation: Relation, *, construction: str, produced_by: Mapping[str, Any]
) -> dict[str, Any]:
    """The claim that no weights give these labels: they break a relation that all weights obey.

    relation: between rows of Z, of a kind that `verify/checker.py` finds inescapable.
    """
    coefficients = ["0"] * data.T
    for t, c in zip(relation.indices, relation.coefficients, strict=True):
        coefficients[t] = numeral(c)
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


def dependent_set(
    vectors: Vectors, dependency: Dependency, produced_by: Mapping[str, Any]
) -> tuple[dict[str, Any], tuple[int, ...] | None]:
    """The certificate that some of the vectors are dependent, and which vectors it holds.

    All of them (None), in their order, where that makes a file of moderate size; else only those of
    the dependent set, and their numbers in the input. The vectors are the stored numbers, exactly;
    rational ones times their common denominator, which changes no relation.
    """
    kept = None
    table = vectors.array
    if table.nbytes > _MOST_BYTES or vectors.N * (vectors.d + 1) > _MOST_NUMBERS:
        kept = dependency.indices
        table = table[list(kept)]
    data = {"vectors": [[numeral(x) for x in row] for row in table.tolist()]}
    indices = dependency.indices if kept is None else tuple(range(len(kept)))
    body: dict[str, Any] = {
        "format": "attncert/1",
        "claim": "dependent-set",
        "construction": "kruskal",
        "dims": {"vectors": len(table), "width": vectors.d},
        "data": data,
        "relation": {
            "indices": list(indices),
            "coefficients": [numeral(c) for c in dependency.coefficients],
        },
        "produced_by": dict(produced_by),
        "input_sha256": hashlib.sha256(canonical_bytes(data)).hexdigest(),
    }
    return sealed(body), kept


def canonical_bytes(body: Mapping[str, Any]) -> bytes:
    """Keys sorted, no insignificant white space, ASCII: equal contents give equal bytes."""
    return json.dumps(body, sort_keys=True, separators=(",", ":")).encode("ascii")


def strings(matrix: fmpq_mat | None) -> list[list[str]]:
    """Rows of "p" or "p/q" in lowest terms."""
    if matrix is None:
        raise ValueError("the layer has no readout")
    return [[numeral(x) for x in row] for row in matrix.tolist()]
