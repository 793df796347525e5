"""Which head of a layer carries which example, the worth of each, and a comparison with Theorem 1.

A layer does not say which examples a head is for: a head carries those to which it contributes
most. If a file names groups, these count instead.

The worth of a head is the error of the layer without it, enclosed: its contribution to the outputs,
Z_h V_h O_h with its value bias if there is one, is left out; nothing else changes. It contributes
most to an example, as in the report of a fit (`verify/near/heads.py`, float64), if its contribution
minus the average of that contribution over all examples is larger than any other head's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from flint import arb, arb_mat, fmpq_mat, nmod_mat

from attncert.constructions.construction import Bound
from attncert.constructions.exact.primes import PRIME_62
from attncert.constructions.layer import Head
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.interpolation.enclosure import decimal, row_bounds
from attncert.verify.layer.attention import Attention
from attncert.verify.near.heads import carried
from attncert.verify.steps import hypotheses

SATURATED = arb(1) / 2**10  # attention outside the largest weight of a saturated head
LEAD = 2 * (1 - arb(1) / 2**20)  # ratio to any other weight: a bit of logit, up to rounding


@dataclass(frozen=True)
class HeadView:
    """One head in numbers. rank: of M_h, exactly. group: the examples that it carries.

    peaks: for each example the row with the largest weight, and two decimals that enclose that
    weight. saturated: examples with all but 2^-10 of the attention on one row (proved). led: for
    each example whether one weight is at least twice any other, up to a relative 2^-20: enclosed,
    refuted or undecided. earlier: examples of earlier groups. without: two decimals that enclose
    the largest error of the layer without the head. gives: the examples to which it contributes
    most, each with its share.
    """

    rank: int
    group: tuple[int, ...]
    peaks: tuple[tuple[int, str, str], ...]
    saturated: tuple[int, ...]
    led: tuple[Level, ...]
    earlier: tuple[int, ...]
    without: tuple[str, str]
    gives: Mapping[int, float]


# Heads.


def peak(weights: Sequence[arb]) -> tuple[int, arb, Level]:
    """The row with the largest weight (by midpoint); the sum of all others, enclosed; whether some
    row leads every other by a bit."""
    best = max(range(len(weights)), key=lambda i: weights[i].mid())
    top, others = weights[best], [w for i, w in enumerate(weights) if i != best]
    leads = Level.UNDECIDED
    if all(top >= LEAD * w for w in others):
        leads = Level.ENCLOSED
    elif any(top < LEAD * w for w in others) and all(w < LEAD * top for w in others):
        leads = Level.REFUTED
    return best, sum(others, arb(0)), leads


def head_view(
    head: Head,
    h: int,
    groups: Sequence[tuple[int, ...]],
    peaks: Sequence[tuple[int, arb, Level]],
    without: tuple[str, str],
    gives: Mapping[int, float],
) -> HeadView:
    """Head h of a layer. groups: of all heads. peaks: the results of `peak` for each example."""
    bounds = []
    for row, off, _ in peaks:
        low, high = (1 - off).lower(), (1 - off).upper()
        bounds.append(
            (row, decimal(max(low, arb(0)), up=False), decimal(min(high, arb(1)), up=True))
        )
    return HeadView(
        rank=_rank(head),
        group=groups[h],
        peaks=tuple(bounds),
        saturated=tuple(t for t, (_, off, _) in enumerate(peaks) if off < SATURATED),
        led=tuple(leads for _, _, leads in peaks),
        earlier=tuple(t for group in groups[:h] for t in group),
        without=without,
        gives=gives,
    )


def _rank(head: Head) -> int:
    """The exact rank of K Qᵀ: d_h if K and Q have independent columns modulo a prime."""
    if all(_independent_columns(x) for x in (head.key, head.query)):
        return head.width
    return int((head.key * head.query.transpose()).rank())


def _independent_columns(matrix: fmpq_mat) -> bool:
    """Whether columns are independent modulo a prime, and so over ℚ."""
    numerators = matrix.numer_denom()[0]
    entries = [int(x) % PRIME_62 for x in numerators.entries()]
    return nmod_mat(matrix.nrows(), matrix.ncols(), entries, PRIME_62).rank() == matrix.ncols()


# Theorem 1.


def theorem_claims(
    attention: Attention,
    heads: Sequence[HeadView],
    groups: Sequence[tuple[int, ...]],
    *,
    stated: bool,
) -> list[Claim]:
    """How far the layer is as in Theorem 1; "refuted" only means that it is different.

    stated: whether the file names the groups; otherwise a head's group is the examples to which it
    contributes most.
    """
    data, H = attention.data, len(heads)
    r = min(*(data.counts or (data.n,)), attention.layer.head_width)
    most = Bound().places(H, r)
    placed = [t for group in groups for t in group]
    fits = Claim.checked(
        ids.THEOREM1_CAPACITY,
        f"There are no more examples than Theorem 1 promises: $T={data.T}\\le H(r-1)+1={most}$.",
        most >= data.T,
        {"T": data.T, "capacity": most},
        numbers={"T": data.T, "H": H, "r": r, "carried by some head": len(placed)},
        arithmetic="counting",
        source="paper, Theorem 1",
    )
    sizes = [len(group) for group in groups]
    grouped = Claim.checked(
        ids.THEOREM1_GROUPS,
        f"By {'the given groups' if stated else 'largest contributions'}, the first head carries "
        f"at most $r={r}$ examples, every further one at most $r-1={r - 1}$.",
        all(size <= (r if h == 0 else r - 1) for h, size in enumerate(sizes)),
        {"sizes": sizes},
        numbers={"sizes": sizes, "r": r},
        arithmetic="counting" if stated else "contributions in float64, and counting",
        source="paper, Theorem 1",
    )
    if grouped.level.holds and not stated:
        grouped = replace(grouped, level=Level.NUMERICAL)
    loose, level = dict[str, list[int]](), Level.ENCLOSED
    for known in (Level.UNDECIDED, Level.REFUTED):
        some = [[t for t in sorted(head.earlier) if head.led[t] is known] for head in heads]
        named = {f"head {h}": examples for h, examples in enumerate(some, start=1) if examples}
        loose, level = (named, known) if named else (loose, level)
    still = Claim(
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
        witness=loose or None,
        arithmetic="ball arithmetic (Arb)",
        source="docs/audit-of-theorem-1.md, step 6; a bit is enough: docs/mathematics.md",
    )
    claims = [fits, grouped, still]
    if len(placed) == data.T:
        condition = hypotheses.partition(data, [group for group in groups if group])
        claims.append(replace(condition, id=ids.THEOREM1_PARTITION))
    return claims


# The worth of each head.


def worth_of_each(
    attention: Attention, features: Sequence[arb_mat]
) -> list[tuple[tuple[str, str], dict[int, float]]]:
    """`without` and `gives` of `HeadView` for each head; `gives` is empty if a number is beyond
    float64. features: of each head, at the working precision."""
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
