"""Conclusions about data, with the origin of the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from attncert.constructions.data.dataset import Dataset
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.ids import ClaimId


def about_data(
    data: Dataset,
    claim_id: ClaimId,
    statement: str,
    level: Level,
    *,
    rests_on: tuple[ClaimId, ...] = (),
    **rest: Any,
) -> Claim:
    """The claim, with the words of the data's origin; if it holds, it also rests on the claims of
    the origin."""
    origin = data.origin
    premises = origin.premises if level.holds else ()
    words = statement + origin.words(data)
    return Claim(claim_id, words, level, rests_on=(*rests_on, *premises), **rest)


def in_words_of(data: Dataset, claims: Sequence[Claim]) -> list[Claim]:
    """The claims of the data's origin, then these claims, the conclusion last."""
    *others, last = claims
    premises = data.origin.premises if last.level.holds else ()
    words = data.origin.words(data)
    statement = f"{last.statement.removesuffix('.')}.{words}" if words else last.statement
    conclusion = replace(last, statement=statement, rests_on=(*last.rests_on, *premises))
    return [*data.origin.claims(data), *others, conclusion]
