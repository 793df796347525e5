"""The partition certificate: a sufficient condition, decided in polynomial time.

Both constructions use A2 (every context has rank n) and, for their own groups only, the condition
that

    the queries of each group are independent, and no query of an earlier group lies in the span of
    a later group,                                                                              (P)

with at most r examples in the first group and at most r - 1 in every other group, one group per
head (docs/mathematics.md, section 2). A1 implies (P) and is coNP-hard to decide. (P) is decided by
one elimination per group, and may hold even if A1 is false. Subsets inherit (P), so examples that
cannot be placed may be left out; the question is then how many examples H heads can place.

verify/limits/partition/bound.py gives an upper bound on how many can be placed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.search.grouping import consecutive, violation
from attncert.verify.assumptions import hypotheses
from attncert.verify.assumptions.hypotheses import EXACT
from attncert.verify.certificates.coq.theorems import in_coq
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.words import counted, widened
from attncert.verify.limits.partition.bound import Part, Sizes, upper_bound
from attncert.verify.limits.partition.search import Groups, place

_SOURCE = "ours; docs/mathematics.md, section 2, and docs/tightness.md, section 1"


@dataclass(frozen=True)
class BestPartition:
    """groups: the placed examples, by their numbers in the data set. Claims: hypothesis.A2,
    hypothesis.partition and partition.memorizes for the placed examples; partition.maximum says
    that no more can be placed.
    """

    groups: tuple[tuple[int, ...], ...]
    claims: tuple[Claim, ...]


def best_partition(
    data: Dataset, first: int, further: int, heads: int, seed: int = 0, values: int | None = None
) -> BestPartition:
    """The largest set of examples found for which some grouping meets (P), with its claims.

    The given order is tried first, then other orders (`search.py`). Examples whose context has rank
    below n are left out. The claim that no more can be placed is proved by the upper bound, or is
    undecided. values: d_v of the layer; None if the values are not narrower than the labels. Exact;
    the same seed gives the same result.
    """
    sizes = Sizes(first, further, heads)
    usable = _independent_contexts(data)
    if not usable:
        return BestPartition((), (hypotheses.independent_contexts(data),))
    parts = upper_bound(data, usable, sizes)
    groups = consecutive(usable, first, further)
    if len(usable) > sizes.cap(first) or violation(data, groups) is not None:
        groups = place(data, usable, sizes, sum(part.most for part in parts), seed)
    maximum = _maximum(data, groups, usable, sizes, parts)
    if not groups:
        return BestPartition(groups, (maximum,))
    wide = widened(data.m, values)
    claims = (
        hypotheses.independent_contexts(data.take([t for group in groups for t in group])),
        hypotheses.partition(data, groups),
        memorizes(groups, first, of=data.T, width_one=first == data.n, wide=wide),
        maximum,
    )
    return BestPartition(groups, claims)


def _maximum(
    data: Dataset, groups: Groups, usable: Sequence[int], sizes: Sizes, parts: Sequence[Part]
) -> Claim:
    placed = {t for group in groups for t in group}
    most = sum(part.most for part in parts)
    if len(placed) == len(usable):
        how = "every example whose context has rank n is placed"
    elif len(placed) == most:
        how = "the upper bound from ranks is reached"
    else:
        how = f"no better one was found, but the upper bound from ranks is {most}"
    excluding = [
        {"examples": list(p.examples), "rank": p.rank, "at most": p.most}
        for p in parts
        if p.most < len(p.examples)
    ]
    return Claim(
        ids.PARTITION_MAXIMUM,
        f"No grouping into at most {counted(sizes.heads, 'group')} of these sizes places more "
        f"than {len(placed)} of {counted(data.T, 'example', 'the')}: {how}.",
        Level.PROVED if most == len(placed) else Level.UNDECIDED,
        numbers={
            "placed": len(placed),
            "examples": data.T,
            "contexts of rank n": len(usable),
            "at most": most,
            "heads": sizes.heads,
        },
        witness={
            "left out": [t for t in range(data.T) if t not in placed],
            "parts": excluding,
        },
        arithmetic=EXACT,
        source=_SOURCE,
    )


def memorizes(
    groups: Sequence[Sequence[int]], first: int, *, of: int, width_one: bool, wide: str = ""
) -> Claim:
    """The claim that the partition certificate implies; its proofs need A2 and (P), but not A1.

    first: r. of: T. width_one: whether r = n, so that the proof of docs/width-one.md applies as
    well. wide: the text of `widened`, if the layer's values are narrower than the labels.
    """
    placed = sum(map(len, groups))
    theorems = ["real.steering_real", *(["real.width_one_real"] if width_one else [])]
    width = f"{first}" + (", and of width 1 too (docs/width-one.md)" if width_one else "")
    return Claim(
        ids.PARTITION_MEMORIZES,
        f"Partition certificate: some keys and queries of {counted(len(groups), 'head')} of width "
        f"{width}{wide} serve every labelling of {counted(placed, 'example', 'these')}, because "
        "the proof needs only A2 and the partition condition of this grouping. "
        "Assumption 1 is not among its premises.",
        Level.KERNEL,
        arithmetic=in_coq(*theorems),
        numbers={"examples placed": placed, "examples": of, "heads": len(groups)},
        witness={"groups": [list(group) for group in groups]},
        rests_on=(ids.A2, ids.PARTITION),
        source=_SOURCE,
    )


def _independent_contexts(data: Dataset) -> list[int]:
    if data.n > data.d:
        return []
    every = (data.contexts[t].integer_matrix() for t in range(len(data.contexts)))
    good = [int(rows.rank()) == data.n for rows in every]
    return [t for t in range(data.T) if good[0 if data.shared else t]]
