"""Which head of a layer carries which example, the worth of each head, and how Theorem 1 compares.

A layer does not say which examples a head is for: a head carries those to which it contributes
most.

The worth of a head is the error of the layer without it, enclosed: its contribution to the outputs,
Z_h V_h O_h with its value bias if there is one, is left out; nothing else changes. It contributes
most to an example, as in the report of a fit (`newton/heads.py`, float64), if its contribution
minus the average of that contribution over all examples is larger than any other head's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from flint import arb, arb_mat

from attncert.constructions.construction import places
from attncert.constructions.layer import Head, Layer
from attncert.verify.assumptions import hypotheses
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.features.attention import Attention
from attncert.verify.newton.heads import carried
from attncert.verify.outputs.enclosure import decimal, row_bounds

SATURATED = arb(1) / 2**10  # attention outside the largest weight of a saturated head
LEAD = 2 * (1 - arb(1) / 2**20)  # ratio to any other weight: a bit of logit, up to rounding


@dataclass(frozen=True)
class HeadView:
    """The numbers of one head. rank: the exact rank of M_h.

    peaks: the row with the largest weight for each example, and two decimals that enclose that
    weight. saturated: examples with all but 2^-10 of the attention on one row (proved). led: for
    each example whether one weight is at least twice any other, up to a relative 2^-20: enclosed,
    refuted or undecided. earlier: examples of earlier groups. without: two decimals that enclose
    the largest error of the layer without the head. gives: the examples to which it contributes
    most, each with its share.
    """

    rank: int
    peaks: tuple[tuple[int, str, str], ...]
    saturated: tuple[int, ...]
    led: tuple[Level, ...]
    earlier: tuple[int, ...]
    without: tuple[str, str]
    gives: Mapping[int, float]


# Heads.


def peak(weights: Sequence[arb]) -> tuple[int, arb, Level]:
    """The row with the largest weight (by midpoint); the sum of all others, enclosed; and whether
    some row leads every other by a bit."""
    best = max(range(len(weights)), key=lambda i: weights[i].mid())
    top, others = weights[best], [w for i, w in enumerate(weights) if i != best]
    leads = Level.UNDECIDED
    if all(top >= LEAD * w for w in others):
        leads = Level.ENCLOSED
    elif any(top < LEAD * w for w in others) and all(w < LEAD * top for w in others):
        leads = Level.REFUTED
    return best, sum(others, arb(0)), leads


def head_views(
    layer: Layer,
    peaks: Sequence[Sequence[tuple[int, arb, Level]]],
    worth: Sequence[tuple[tuple[str, str], Mapping[int, float]]],
) -> tuple[HeadView, ...]:
    """The report on all heads. peaks: the results of `peak` for each head and example. worth: the
    result of `worth_of_each`."""
    views, earlier = list[HeadView](), list[int]()
    for head, own, (without, gives) in zip(layer.heads, peaks, worth, strict=True):
        view = HeadView(
            rank=_rank(head),
            peaks=tuple((row, *_enclosed(1 - off)) for row, off, _ in own),
            saturated=tuple(t for t, (_, off, _) in enumerate(own) if off < SATURATED),
            led=tuple(leads for _, _, leads in own),
            earlier=tuple(earlier),
            without=without,
            gives=gives,
        )
        views.append(view)
        earlier += gives
    return tuple(views)


def _enclosed(weight: arb) -> tuple[str, str]:
    low, high = max(weight.lower(), arb(0)), min(weight.upper(), arb(1))
    return decimal(low, up=False), decimal(high, up=True)


def _rank(head: Head) -> int:
    """The exact rank of K Qᵀ: d_h if K and Q have independent columns."""
    if head.key.rank() == head.query.rank() == head.width:
        return head.width
    return int((head.key * head.query.transpose()).rank())


# Theorem 1.


def theorem_claims(attention: Attention, heads: Sequence[HeadView]) -> list[Claim]:
    """How closely the layer resembles that of Theorem 1, if the group of a head is the examples to
    which it contributes most; "refuted" only means that it differs."""
    data, H = attention.data, len(heads)
    r = min(*(data.counts or (data.n,)), attention.layer.head_width)
    most, sizes = places(H, r), [len(head.gives) for head in heads]
    fits = Claim.checked(
        ids.THEOREM1_CAPACITY,
        f"There are no more examples than Theorem 1 promises: $T={data.T}\\le H(r-1)+1={most}$.",
        most >= data.T,
        {"T": data.T, "capacity": most},
        numbers={"T": data.T, "H": H, "r": r, "carried by some head": sum(sizes)},
        arithmetic="counting",
        source="paper, Theorem 1",
    )
    grouped = Claim.checked(
        ids.THEOREM1_GROUPS,
        f"By largest contributions, the first head carries at most $r={r}$ examples, each later "
        f"one at most $r-1={r - 1}$.",
        all(size <= (r if h == 0 else r - 1) for h, size in enumerate(sizes)),
        {"sizes": sizes},
        numbers={"sizes": sizes, "r": r},
        arithmetic="contributions in float64, and counting",
        source="paper, Theorem 1",
    )
    if grouped.level.holds:
        grouped = replace(grouped, level=Level.NUMERICAL)
    claims = [fits, grouped, _saturation_claim(heads)]
    if sum(sizes) == data.T:
        condition = hypotheses.partition(data, [[*head.gives] for head in heads if head.gives])
        claims.append(replace(condition, id=ids.THEOREM1_PARTITION))
    return claims


def _saturation_claim(heads: Sequence[HeadView]) -> Claim:
    """The claim that earlier examples lean towards one row; a bit of lead is enough for the proof
    (docs/mathematics.md)."""
    levels = {head.led[t] for head in heads for t in head.earlier}
    level = next((x for x in (Level.REFUTED, Level.UNDECIDED) if x in levels), Level.ENCLOSED)
    loose = {
        f"head {h}": examples
        for h, head in enumerate(heads, start=1)
        if (examples := [t for t in sorted(head.earlier) if head.led[t] is level])
    }
    return Claim(
        ids.THEOREM1_SATURATION,
        "In every head each example of the earlier groups leans towards one row: its weight is at "
        "least twice any other (within $2^{-20}$).",
        level,
        numbers={
            "pairs": sum(len(head.earlier) for head in heads),
            "with all but 2^-10 on one row": sum(
                len(set(head.earlier) & set(head.saturated)) for head in heads
            ),
        },
        witness=None if level.holds else loose,
        arithmetic="ball arithmetic (Arb)",
        source="docs/audit-of-theorem-1.md, step 6",
    )


# The worth of each head.


def worth_of_each(
    attention: Attention, features: Sequence[arb_mat]
) -> list[tuple[tuple[str, str], dict[int, float]]]:
    """`without` and `gives` of `HeadView` for each head; `gives` is empty if a number is beyond
    float64. features: those of each head, at the working precision."""
    parts = attention.block.contributions(features, attention.states)
    first, *others = parts
    gaps = sum(others, first) - arb_mat(attention.data.label_matrix)
    without, gives = [], [dict[int, float]() for _ in parts]
    for part in parts:
        bounds = row_bounds(gaps - part)
        low, high = max(low for low, _ in bounds), max(high for _, high in bounds)
        without.append((decimal(low, up=False), decimal(high, up=True)))
    floats = np.array([[[float(x.mid()) for x in row] for row in part.tolist()] for part in parts])
    if np.isfinite(floats).all():
        for t, (h, share) in enumerate(zip(*carried(floats.transpose(1, 0, 2)), strict=True)):
            gives[h][t] = float(share)
    return list(zip(without, gives, strict=True))
