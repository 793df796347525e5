"""The table: three notions of memorizing, what H heads do, and what all labels need."""

from __future__ import annotations

from dataclasses import dataclass

from attncert.constructions.data.dataset import Dataset
from attncert.verify.capacity.jacobian import Jacobian
from attncert.verify.capacity.universal import Universal
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import About
from attncert.verify.claims.ids import ClaimId
from attncert.verify.labelling.labelled import Labelled, Tried


@dataclass(frozen=True)
class Notion:
    """What H heads do: they serve at least `least` and at most `most` of the T·m labels.

    below, above: the claims that show the two; None where nothing is served. needed: no fewer heads
    serve all labels; None: no number of heads does. enough: so many do; None: not known. claim:
    whether H heads serve all of them.
    """

    about: About
    least: int
    most: int
    below: ClaimId | None
    above: ClaimId
    needed: int | None
    enough: int | None
    claim: ClaimId


def notions(
    data: Dataset, law: Jacobian, every: Universal, labelled: Labelled, at_zero: Tried | None
) -> tuple[Notion, ...]:
    """The strongest notion first: what it serves, the next ones serve too."""
    m, labels = data.m, data.T * data.m
    by_law = law.most < every.most * m
    universal = Notion(
        About.UNIVERSAL,
        every.least * m,
        min(every.most, law.most // m) * m,
        _first((every.least == data.T and bool(every.full), ids.UNIVERSAL_ENOUGH),
               (every.least > 0, ids.UNIVERSAL_REACHED)),
        ids.LAW_BOUND if by_law else every.above,
        _largest(every.needed, law.fewest),
        every.enough,
        ids.LAW_UNIVERSAL,
    )  # fmt: skip
    zero = labelled.zero.heads if labelled.zero is not None and labelled.proved else None
    serving = _least(every.enough, zero, 2 * law.heads if law.rank.full else None)
    proved = zero is not None and zero <= law.heads
    rank = at_zero.rank.rank if at_zero is not None else 0
    served = labels if proved else max(rank, universal.least)
    labelling = Notion(
        About.EVERY_LABELLING,
        served,
        law.most,
        _first((proved, ids.EVERY_LABELLING), (served > universal.least, ids.LAW_ZERO),
               (True, universal.below)),
        ids.LAW_BOUND,
        law.fewest,
        serving,
        ids.LAW_EVERY,
    )  # fmt: skip
    these = Notion(
        About.THESE_LABELS,
        law.least,
        law.most,
        ids.LAW_RANK,
        ids.LAW_BOUND,
        law.fewest,
        _least(serving, law.heads if law.rank.full else None),
        ids.LAW_THESE,
    )
    return universal, labelling, these


def _first(*choices: tuple[bool, ClaimId | None]) -> ClaimId | None:
    return next((name for holds, name in choices if holds), None)


def _least(*counts: int | None) -> int | None:
    return min((count for count in counts if count is not None), default=None)


def _largest(one: int | None, other: int | None) -> int | None:
    """Of numbers of heads that are needed; None: no number is enough."""
    return None if one is None or other is None else max(one, other)
