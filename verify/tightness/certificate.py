"""The certificate of the claim "impossible": labels that no weights give.

The labels break a relation between rows of Z that all weights obey:
Σ c_t z_t = 0 for every choice of weights, and Σ c_t y_t ≠ 0 (rows.py). verify/checker decides both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.exact.contexts import as_if_once
from attncert.constructions.exact.hashing import direction
from attncert.constructions.numerals import numeral
from attncert.verify.certificate import Certificate, TooLarge, envelope, sealed
from attncert.verify.rank.rational import Relation
from attncert.verify.tightness.relations.rows import BrokenRelation, broken_relation


def certificate_of(
    data: Dataset, broken: BrokenRelation, produced_by: Mapping[str, Any]
) -> Certificate:
    """The claim that no weights give these labels: they break a relation that all weights obey, and
    that is checkable: verify/checker decides it alone. Raises TooLarge."""
    coefficients, relation = ["0"] * data.T, broken.relation
    for t, c in zip(relation.indices, relation.coefficients, strict=True):
        coefficients[t] = numeral(c)
    about: dict[str, Any] = {"construction": kind(data, relation), "provenance": produced_by}
    return sealed(envelope("impossible", data, **about) | {"relation": coefficients})


def tied_certificate(data: Dataset, produced_by: Mapping[str, Any]) -> Certificate | None:
    """The certificate that tied examples have labels that no weights give; None without such
    examples, and where the checker could not decide it (then the witness of rows.labels shows it).
    """
    broken = broken_relation(data)
    if broken is None or not broken.checkable:
        return None
    try:
        return certificate_of(data, broken, produced_by)
    except TooLarge:
        return None


def kind(data: Dataset, relation: Relation) -> str:
    """The structure of a relation that the checker can decide, in the words of the field. For
    readers: no step rests on it."""
    used = list(relation.indices)
    contexts = [as_if_once(data, t) for t in used]
    queries = [data.queries.numerators[t].tolist() for t in used]
    pair = relation.coefficients == (1, -1)
    if pair and queries[0] == queries[1] and _same(map(sorted, contexts)):
        return "equal inputs"
    if all(_same(E) or not any(e) for E, e in zip(contexts, queries, strict=True)):
        return "no attention"
    if data.longest == 2 and _same(map(sorted, contexts)):
        pairs = {direction(e) for e in queries}
        if all((line, -scale) in pairs for line, scale in pairs):
            return "opposite queries"
    return "equal up to shift and scale"


def _same(parts: Iterable[Any]) -> bool:
    first, *others = parts
    return all(part == first for part in others)
