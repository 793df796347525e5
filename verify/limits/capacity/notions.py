"""The three notions of memorizing: what H heads memorize, and how many heads all labels need."""

from __future__ import annotations

from attncert.constructions.data.dataset import Dataset
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import About
from attncert.verify.depth.notions import End, Notion
from attncert.verify.limits.capacity.jacobian import Jacobian
from attncert.verify.limits.capacity.universal import Universal
from attncert.verify.limits.labelling.labelled import Labelling, Trial


def notions(
    data: Dataset, law: Jacobian, at_once: Universal, labelled: Labelling, at_zero: Trial | None
) -> tuple[Notion, ...]:
    """The notions, the strongest first: each implies the next."""
    m, needed, full = data.m, law.fewest, law.rank.full
    rank, bound = End(law.least, ids.LAW_RANK), End(law.most, ids.LAW_BOUND)
    served, zero = End(at_once.least * m, at_once.below), End(0)
    if at_zero is not None:
        zero = End(at_zero.rank.rank, ids.LAW_ZERO)
    if labelled.heads is not None and labelled.heads <= law.heads:
        zero = End(data.T * m, ids.EVERY_LABELLING)
    universal = Notion(
        About.UNIVERSAL,
        ids.LAW_UNIVERSAL,
        served,
        min(
            End(at_once.most * m, at_once.above), End(law.most // m * m, ids.LAW_BOUND), key=_number
        ),
        None if at_once.needed is None or needed is None else max(at_once.needed, needed),
        End(at_once.enough, ids.UNIVERSAL_ENOUGH) if at_once.enough else None,
    )
    each = _least(
        End(labelled.heads, ids.EVERY_LABELLING) if labelled.heads else None,
        End(at_once.enough, ids.LAW_UNIVERSAL) if at_once.enough else None,
        End(2 * law.heads, ids.LAW_TWICE) if full else None,
    )
    some = _least(each, End(law.heads, ids.LAW_RANK) if full else None)
    return (
        universal,
        Notion(About.EVERY_LABELLING, ids.LAW_EVERY, max(served, zero, key=_number), bound,
               needed, each),
        Notion(About.SOME_LABELLINGS, ids.LAW_THESE, rank, bound, needed, some),
    )  # fmt: skip


def _number(end: End) -> int:
    return end.number


def _least(*ends: End | None) -> End | None:
    return min((end for end in ends if end is not None), key=_number, default=None)
