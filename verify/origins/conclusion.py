"""Conclusions about data, which say where these come from."""

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
    """The claim, in the words of the data's origin; where it holds, it rests on the origin's own
    claims, too."""
    origin = data.origin
    premises = origin.premises if level.holds else ()
    words = statement + origin.words(data)
    return Claim(claim_id, words, level, rests_on=(*rests_on, *premises), **rest)


def in_words_of(data: Dataset, claims: Sequence[Claim]) -> list[Claim]:
    """These claims, the conclusion last, after those of the data's origin."""
    *others, last = claims
    premises = data.origin.premises if last.level.holds else ()
    words = data.origin.words(data)
    statement = f"{last.statement.removesuffix('.')}.{words}" if words else last.statement
    conclusion = replace(last, statement=statement, rests_on=(*last.rests_on, *premises))
    return [*data.origin.claims(data), *others, conclusion]
