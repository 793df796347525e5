"""Conclusions about data, which say where these come from."""

from __future__ import annotations

from typing import Any

from attncert.constructions.data.dataset import Dataset
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.ids import ClaimId

__all__ = ["about_data"]


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
