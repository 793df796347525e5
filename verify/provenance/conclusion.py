"""Conclusions about data, with the origin of the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from attncert.constructions.data.dataset import Dataset
from attncert.verify.claims.evidence import Claim


def in_words_of(data: Dataset, claims: Sequence[Claim]) -> list[Claim]:
    """The claims about the origin of the data, then these claims, with the conclusion last."""
    *others, last = claims
    premises = data.origin.premises if last.level.holds else ()
    words = data.origin.words(data)
    statement = f"{last.statement.removesuffix('.')}.{words}" if words else last.statement
    conclusion = replace(last, statement=statement, rests_on=(*last.rests_on, *premises))
    return [*data.origin.claims(data), *others, conclusion]
