"""Claims from ranks on a data set: on all labels at once, each labelling, or some labellings.

The three notions are one choice of key and query weights for all labels, weights for each
labelling, and an open set of labellings that some weights output (docs/given-labels.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attncert.constructions.data.dataset import Dataset
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.words import counted, sized
from attncert.verify.depth.notions import Notion, dimension
from attncert.verify.limits.capacity.jacobian import Jacobian
from attncert.verify.limits.capacity.universal import Universal
from attncert.verify.limits.labelling.labelled import Labelling, Trial
from attncert.verify.rank.whole_layer.spread import rank_records

_SOURCE = "ours; docs/given-labels.md"


def claims_of(
    data: Dataset,
    law: Jacobian,
    at_once: Universal,
    labelled: Labelling,
    at_zero: Trial | None,
    table: tuple[Notion, ...],
) -> tuple[Claim, ...]:
    """The claims for each notion, with its verdict on all labels, and then the conclusion."""
    universal, labelling, some = table
    return (
        *at_once.claims,
        _universal(data, law, universal),
        *(labelled.claims if labelled.proved else ()),
        *_zero(law, at_zero),
        *_bounds(law),
        _every(law, labelled, labelling),
        _some(law, some),
        dimension(
            ids.LAW_CAPACITY,
            (ids.LAW_RANK, ids.LAW_BOUND),
            _sized(law),
            (law.least, law.most),
            law.rank.rows,
            f"{_SOURCE}, Theorem 11",
        ),
    )


def _sized(law: Jacobian, times: int = 1) -> str:
    return sized(times * law.heads, law.head_width, law.value_width)


def _bounds(law: Jacobian) -> Iterator[Claim]:
    """The bounds on the rank of the Jacobian, and what twice as many heads memorize."""
    least, labels = law.uppers[0], law.rank.rows
    if law.spread:
        yield rank_records()
    trivial = least.bound == labels
    yield Claim(
        ids.LAW_BOUND,
        f"The Jacobian of the outputs with respect to all weights of {_sized(law)} has rank at "
        f"most {least.bound}, whatever the weights.",
        Level.PROVED if trivial else Level.ARGUED,
        numbers={"bound": least.bound, "from": least.name, "Tm": labels, "N": law.law},
        arithmetic="counting" if trivial else "ranks over ℚ of tokens and queries",
        source=f"{_SOURCE}, Theorems 7 and 9",
    )
    yield Claim(
        ids.LAW_RANK,
        f"At some integer weights it has rank {law.least} or more.",
        Level.PROVED,
        numbers={"rank": law.least, "prime": law.rank.prime},
        arithmetic=f"derivatives and rank mod {law.rank.prime}, without the factor ln 2",
        rests_on=(ids.RANK_RECORDS,) if law.spread else (),
        source=f"{_SOURCE}, section 3",
    )
    if law.rank.full:
        yield Claim(
            ids.LAW_TWICE,
            f"Every labelling is memorized by {_sized(law, 2)}.",
            Level.PROVED,
            rests_on=(ids.LAW_RANK,),
            source=f"{_SOURCE}, Theorem 13",
        )


def _zero(law: Jacobian, at_zero: Trial | None) -> Iterator[Claim]:
    """The rank at the best weights with outputs 0, if it is less than the number of labels."""
    if at_zero is None or at_zero.rank.full:
        return
    rank = at_zero.rank
    yield Claim(
        ids.LAW_ZERO,
        f"At some weights of {_sized(law)} all outputs are 0 and the Jacobian has "
        f"{counted(rank.rank, 'independent row')}: any values of the labels in these rows are "
        "output by some weights.",
        Level.PROVED,
        numbers={
            "rank": rank.rank,
            "prime": rank.prime,
            "sets of heads": [len(members) for members in at_zero.zero.sets],
        },
        arithmetic=f"derivatives and rank mod {rank.prime}",
        source=f"{_SOURCE}, Theorem 12",
    )


def _universal(data: Dataset, law: Jacobian, notion: Notion) -> Claim:
    narrow = law.value_width < data.m
    heads = _sized(law) if narrow else f"{counted(law.heads, 'head')}, of any width,"
    statement = (
        f"One choice of keys and queries of {heads} serves all labels of "
        f"{counted(data.T, 'example', 'the')}."
    )
    return _verdict(notion, law, statement, "rank Z = T was not reached, and is not excluded")


def _every(law: Jacobian, labelled: Labelling, notion: Notion) -> Claim:
    reason = f"with {counted(law.heads, 'head')} no zero with an onto Jacobian was found"
    statement = f"Every labelling is memorized by {_sized(law)}."
    return _verdict(notion, law, statement, labelled.why or reason)


def _some(law: Jacobian, notion: Notion) -> Claim:
    statement = (
        f"The labellings that some weights of {_sized(law)} output contain an open set. Whether "
        "they contain the given one is another question (attncert fit)."
    )
    return _verdict(notion, law, statement, "the two bounds do not meet")


def _verdict(notion: Notion, law: Jacobian, statement: str, reason: str) -> Claim:
    """The claim that H heads memorize all labels; refuted if a bound excludes it."""
    level, end, witness = Level.UNDECIDED, None, dict[str, Any](reason=reason)
    if notion.most < law.rank.rows:
        level, end = Level.REFUTED, notion.above
        witness = {"labels": law.rank.rows, "at most": notion.most}
    elif notion.enough is not None and notion.enough.number <= law.heads:
        level, end, witness = Level.PROVED, notion.enough, {}
    return Claim(
        notion.claim,
        statement,
        level,
        witness=witness or None,
        rests_on=(end.claim,) if end and end.claim else (),
        source=_SOURCE,
        about=notion.about,
    )
